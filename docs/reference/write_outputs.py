"""Plays the commands of README.md and of docs/, and writes what they print below them.

tests/docs/test_outputs.py plays the same commands and compares; only the picture of `make study`, which takes minutes,
is drawn here alone.

\b
Examples:
    python docs/reference/write_outputs.py              half a minute on two cores
    python docs/reference/write_outputs.py --picture    also `make study`, for docs/images/study.png
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
Play = Callable[[list[str], Path], str]  # the words of a command, the folder to type it in -> what it prints


class Page(NamedTuple):
    """Which commands of a page are played, by how they begin, in the order of the page."""

    shown: dict[str, tuple[str, str]]  # -> the first line that is shown, and the first that no longer is; "" = all
    also: str = "$"  # those without output on the page, which others need, or which are quick and must work


TABLE, TO_THE_END = (r"^(place|agent) ", r"^Elo: "), ""
# What one group names is played in one folder, so that nothing is played twice.
GROUPS: tuple[dict[str, Page], ...] = (
    {
        "README.md": Page({"tournament": TABLE, "tune": (r"^\S+ \(study:", r"^Mean score")}),
        "docs/tutorial.md": Page(
            {
                "play tictactoe": (r"^\. X \.$", TO_THE_END),
                "tournament yavalath": (r"^yavalath \(", r"^Elo: "),
                "tournament tictactoe": TABLE,
                "compare": (r"^random is ", r"^Agents$"),
                "tune": (r"^Recommended: ", r"^$"),
            },
            also="list|runs|show|train",
        ),
    },
    {
        "docs/your_own.md": Page(
            {
                "play tictactoe first_bot.py": (r"^seat 1: a3$", r"^ +tictactoe, "),
                "tournament tictactoe first_bot.py": TABLE,
                "compare": (r"^first_bot.py:\S+ is ", r"^Agents$"),
                "show first_bot.py": TABLE,
            },
            also="new agent first_bot",
        )
    },
    {"docs/certainty.md": Page({"certainty": (r" is more certain than ", TO_THE_END)})},
    {"docs/profiles.md": Page({"profile": (r"^At every strength$", r"^Each agent")})},
    {"docs/judges.md": Page({"judge": (r"^Optimal moves$", TO_THE_END)})},
    {"docs/learning.md": Page({"train tictactoe": (r"^After 20,000 training", r"^To play ")})},
    {"docs/spe_ed.md": Page({"check": (r"^ law ", r"^ +all laws")})},
)
STEP = re.compile(
    r"of `(?P<file>\w+\.py)`, replace\n\n```python\n(?P<old>.*?)```\n\nby\n\n```python\n(?P<new>.*?)```"
    r"|^```.*?^```$|(?P<block>(?:^ {4,}\S[^\n]*\n)+)",
    re.MULTILINE | re.DOTALL,
)
PLAYING = ("tournament", "compare", "certainty", "judge", "tune", "profile")
STUDY = ("studies/cmaes_rows.py", "docs/images/study.png")  # `make study`, and its picture


def with_outputs(text: str, page: Page, play: Play, folder: Path) -> str:
    """Returns a page with what its commands print today, played in this folder one after the other."""
    waiting: list[str] = []  # what is to stand below the last command
    indent = ""

    def step(found: re.Match[str]) -> str:
        nonlocal indent
        if found["file"]:
            code = (folder / found["file"]).read_text()
            assert code.count(found["old"]) == 1, f"{found['file']} must have these lines once:\n{found['old']}"
            (folder / found["file"]).write_text(code.replace(found["old"], found["new"]))
        commands = re.findall(r"(?m)^ +turnier (.*)$", found["block"] or "")
        for command in commands:
            shown = next((lines for name, lines in page.shown.items() if command.startswith(name)), None)
            if shown or re.match(page.also, command):
                printed = play(shlex.split(command, comments=True), folder)
                assert not (shown and waiting), f"there must be an output above turnier {command}"
                waiting.extend(excerpt(printed, *shown) if shown else ())
            indent = found["block"][: -len(found["block"].lstrip())]
        if commands or not found["block"] or not waiting:
            return found[0]
        block = "".join(f"{indent}{line}\n" for line in waiting)
        waiting.clear()
        return block

    written = STEP.sub(step, text)
    assert not waiting, f"there must be a block for these lines:\n{waiting}"
    return written


def excerpt(printed: str, first: str, beyond: str) -> list[str]:
    """Returns what is shown of what a command printed; blank lines are left out."""
    lines = [line.rstrip() for line in printed.splitlines()]
    begin = next(i for i, line in enumerate(lines) if re.search(first, line))
    ends = (i for i in range(begin + 1, len(lines)) if beyond and re.search(beyond, lines[i]))
    return [line for line in lines[begin : next(ends, None)] if line and line != "Held-out games"]


def play(words: list[str], folder: Path) -> str:
    """Returns what a command prints in a process of its own."""
    program = "import sys; from turnier.commands.app import main; sys.argv[0] = 'turnier'; main()"
    workers = ["--executor", "threads"] if words[0] in PLAYING else []
    return run([sys.executable, "-c", program, *words, *workers], folder)


def run(words: list[str], folder: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "TURNIER_STORE"} | {"COLUMNS": "80"}
    return subprocess.run(words, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout


def write_picture(folder: Path) -> None:
    """Plays `make study` and keeps its picture; its caption takes for granted that something is recommended."""
    script, picture = STUDY
    printed = run([sys.executable, str(ROOT / script), "--picture", str(folder), "--executor", "threads"], folder)
    assert re.search("^Recommended: ", printed, re.MULTILINE), printed
    (made,) = folder.glob("*.png")
    made.replace(ROOT / picture)


def main() -> None:
    for group in GROUPS:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "tests").symlink_to(ROOT / "tests")
            for path, page in group.items():
                text = (ROOT / path).read_text()
                (ROOT / path).write_text(with_outputs(text, page, play, folder))
    if "--picture" in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as name:
            write_picture(Path(name))


if __name__ == "__main__":
    main()
