"""The answers for a shell that completes a value, without the application.

A shell asks at every press of Tab, so values come from a note in the user's cache: which values every argument and
option of a command takes, and the names of games, agents and the like. The application writes the note, when it
completes something and a module of it is not of the time that the note says.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ASKED = "_TURNIER_COMPLETE"  # how the shell asks, typer's variable
_PLAIN = re.compile(r"[\w.-]+")  # words that no shell reads in another way


def answered() -> bool:
    """Prints the values for what is typed, if the shell completes it and the note has them."""
    with contextlib.suppress(OSError, ValueError, KeyError):
        shell = os.environ[ASKED].removeprefix("complete_")
        typed, begun = _typed(shell)
        note = json.loads(note_path().read_text())
        if note["sources"] == _times(note["sources"]):
            values = [value for value in values_for(note, typed) if value.startswith(begun)]
            if values and all(map(_PLAIN.fullmatch, values)):
                _print(shell, values)
                return True
    return False


def _typed(shell: str) -> tuple[list[str], str]:
    """Returns the words before the one that is completed, and the beginning of that one."""
    if shell == "bash":
        words, place = shlex.split(os.environ["COMP_WORDS"]), int(os.environ["COMP_CWORD"])
        return words[1:place], words[place] if place < len(words) else ""
    if shell not in ("zsh", "fish"):
        raise KeyError(shell)
    line = os.environ["_TYPER_COMPLETE_ARGS"]
    words = shlex.split(line)[1:]
    return (words, "") if line.endswith(" ") else (words[:-1], words[-1])


def values_for(note: dict[str, Any], typed: Sequence[str]) -> list[str]:
    """Returns all values for the word after these; KeyError if only the application knows them."""
    command, *words = typed
    options, places = note["commands"][command]["options"], note["commands"][command]["places"]
    count, awaited = 0, None
    for word in words:
        if awaited is not None:
            awaited = None
        elif word.startswith("-"):
            if "=" not in word and options[word] is not None:
                awaited = word
        else:
            count += 1
    wanted = options[awaited] if awaited is not None else places[min(count, len(places) - 1)]
    if awaited is None and count >= len(places) and not note["commands"][command]["more"]:
        raise KeyError(command)
    values: list[str] = note["names"][wanted]
    return values


def _print(shell: str, values: Sequence[str]) -> None:
    """Prints values as typer does it for a shell."""
    if shell == "zsh":
        quoted = "\n".join(f'"{value}"' for value in values)
        print(f"_arguments '*: :(({quoted}))'")
    elif shell == "bash" or os.environ["_TYPER_COMPLETE_FISH_ACTION"] == "get-args":
        print("\n".join(values))


def note_path() -> Path:
    """Returns the path of the note of this installation."""
    from ..core.outputs import user_cache

    return user_cache() / "lists" / f"completion-{zlib.crc32(__file__.encode()):08x}.json"


def _times(paths: Sequence[str]) -> dict[str, int]:
    return {path: os.stat(path).st_mtime_ns for path in paths}


def keep_note() -> None:
    """Writes the note, from the commands of the application."""
    from .app import COMMANDS, GROUPS, app, function_of
    from .completion import NAMED, described, names_of

    commands = {name: described(app, name, function_of(name)) for name in COMMANDS if name not in GROUPS}
    names = {what: list(names_of(what)) for what in NAMED}
    ours = (
        getattr(module, "__file__", None) for name, module in list(sys.modules.items()) if name.startswith("turnier")
    )
    content = {"sources": _times([path for path in ours if path]), "commands": commands, "names": names}
    note = note_path()
    note.parent.mkdir(parents=True, exist_ok=True)
    part = note.with_suffix(f".{os.getpid()}")
    part.write_text(json.dumps(content))
    part.replace(note)
