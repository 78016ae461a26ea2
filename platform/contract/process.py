"""Laws in a process of their own, so that a crash or an endless loop in somebody's code becomes a sentence, too.

`turnier.contract.process FD TEXT GAME...` is that process: over the pipe FD, it sends first the laws and then the
finding for each of them.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe
from typing import Any

from ..core.errors import UserError
from ..core.number_text import signal_name
from .opened_files import sentence_of

KEPT, BROKEN, UNCHECKED = "kept", "broken", "unchecked"


@dataclass(frozen=True)
class Finding:
    """The finding for one law."""

    text: str  # of the subject
    kind: str
    game: str  # of an agent or evaluator
    law: str
    must: str  # description of the law
    state: str  # kept | broken | unchecked
    sentence: str = ""  # how the law is broken, or why it was not checked


class Checking:
    """The laws of one text, in a process that runs until the end of this block."""

    def __init__(self, text: str, games: Sequence[str], limit: float) -> None:
        """Starts the process.

        Args:
            text: of a game, agent, evaluator or sampler.
            games: for agents and evaluators; if empty, small games that fit.
            limit: seconds that a law may take.
        """
        self.text, self._limit = text, limit
        self._ended = False
        self._pipe, theirs = Pipe(duplex=False)
        command = [sys.executable, "-m", __name__, str(theirs.fileno()), text, *games]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, pass_fds=(theirs.fileno(),), start_new_session=True
        )
        theirs.close()

    def __enter__(self) -> Checking:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)  # and the processes that it started
        self._process.wait()
        self._pipe.close()

    def begin(self) -> list[Finding]:
        """Returns the laws, not yet checked; raises UserError if the text names nothing."""
        told = self._told()
        if isinstance(told, str):
            raise UserError(f"{self.text} must be loaded to be checked, but {told}")
        if "mistake" in told:
            raise UserError(told["mistake"])
        return [Finding(self.text, kind, game, law, must, UNCHECKED) for kind, game, law, must in told["laws"]]

    def findings(self, laws: Sequence[Finding]) -> Iterator[Finding]:
        """Yields the finding for each law, in order."""
        why = ""
        for law in laws:
            told = {} if why else self._told()
            if isinstance(told, str):
                yield _finding(law, BROKEN, told)
                why = f"not checked, since {law.law} ended the process"
            elif "sentence" in told:
                yield _finding(law, BROKEN if told["sentence"] else KEPT, told["sentence"])
            else:
                why = why or str(told["stopped"])
                yield _finding(law, UNCHECKED, why)

    def note(self) -> str:
        """Returns a sentence about files that the code has read but that are not part of its version; "" if none.

        Call it after `findings`. If the process has ended meanwhile, the files are unknown.
        """
        told = "" if self._ended else self._told()
        return "" if isinstance(told, str) else sentence_of(told["read"])

    def _told(self) -> dict[str, Any] | str:
        """Returns the next message of the process, or a sentence if there will be none."""
        try:
            if self._pipe.poll(self._limit):
                told: dict[str, Any] = json.loads(self._pipe.recv_bytes())
                return told
        except EOFError:
            self._ended = True
            return _ended(self._process.wait())
        self._ended = True
        return (
            f"it must end within {self._limit:g} s, got no answer: its code has an endless loop, or is too slow;"
            " --limit allows more seconds"
        )


def _finding(law: Finding, state: str, sentence: str) -> Finding:
    return Finding(law.text, law.kind, law.game, law.law, law.must, state, sentence)


def _ended(code: int) -> str:
    if code >= 0:
        return f"its code must not end the process, got an end with code {code}"
    return (
        f"its code must not crash the process, got {signal_name(-code)}: compiled code does not notice an index"
        " outside an array; with NUMBA_DISABLE_JIT=1 before the command Python finds the line"
    )


def _main(descriptor: int, text: str, games: Sequence[str]) -> None:
    pipe = Connection(descriptor, readable=False)
    threading.Thread(target=_end_with_the_other, daemon=True).start()
    from ..core.outside.trust import trust

    trust()  # this is a process of its own already
    from .law import sentence_of as broken_by
    from .opened_files import OpenedFiles
    from .suites import cases_of

    def tell(**message: object) -> None:
        pipe.send_bytes(json.dumps(message).encode())

    opened = OpenedFiles()
    try:
        cases = cases_of(text, games)
    except Exception as error:
        tell(mistake=str(error) if isinstance(error, UserError) else broken_by(error))
        return
    tell(laws=[(case.kind, case.game, case.name, case.must) for case in cases])
    for case in cases:
        sentence = case.check()
        tell(sentence=sentence)
        if sentence and case.is_basic:
            tell(stopped=f"not checked, since the law {case.name} is broken")
            break
    tell(read=opened.undeclared({case.subject[0] for case in cases}))


def _end_with_the_other() -> None:
    """Ends this process and its children when the other process has ended, which may not get to end them."""
    os.read(0, 1)  # sys.stdin.read() would hold a lock at the end of this process, and Python would abort it
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    _main(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
