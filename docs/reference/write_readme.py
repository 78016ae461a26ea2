"""Plays the README's commands and writes what they print into it, with its picture; the figures stand in readme.json.

\b
Examples:
    python docs/reference/write_readme.py       some minutes on two cores; a test compares README.md with readme.json
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README, FIGURES = ROOT / "README.md", Path(__file__).with_name("readme.json")
# What is shown of a command's output: its lines from the first pattern to the second one.
EXCERPTS = {
    "turnier tournament": (r"^place +agent", r"^3 "),
    "turnier tune": (r"^\S+ \(study:", r"^candidate 1 "),
}
OMITTED = r"^To play on: |^Held-out games$"
STUDY = ("studies/cmaes_rows.py", "docs/images/study.png")  # `make study`, and its picture
BLOCK = r"(?m)^(?P<command>    {name} .*)\n\n(?:    .+\n)+"


def command_of(name: str, text: str) -> str:
    """Returns the README's line that begins with these words."""
    return next(line.strip() for line in text.splitlines() if line.startswith(f"    {name} "))


def excerpt(printed: str, name: str) -> list[str]:
    """Returns what is shown of what a command printed, without its indentation's surplus."""
    lines, (first, last) = printed.splitlines(), EXCERPTS[name]
    begin = next(i for i, line in enumerate(lines) if re.search(first, line))
    end = next(i for i in range(begin, len(lines)) if re.search(last, lines[i]))
    return [line.rstrip() for line in lines[begin : end + 1] if line.strip() and not re.search(OMITTED, line)]


def with_excerpts(text: str, shown: dict[str, list[str]]) -> str:
    """Returns the README with these lines below its commands."""
    for name, lines in shown.items():
        block = "".join(f"    {line}\n" for line in lines)
        text, found = re.subn(
            BLOCK.format(name=re.escape(name)),
            lambda match, block=block: f"{match['command']}\n\n{block}",
            text,
            count=1,
        )
        assert found == 1, f"README.md must have a line of {name} with its output below"
    return text


def main() -> None:
    text, shown = README.read_text(), {}
    with tempfile.TemporaryDirectory() as folder:
        for name in EXCERPTS:
            words = [
                *shlex.split(command_of(name, text))[1:],
                "--store",
                f"sqlite:///{folder}/readme.db",
                "--executor",
                "threads",
            ]
            program = "import sys; from turnier.commands.app import main; sys.argv[0] = 'turnier'; main()"
            printed = run([sys.executable, "-c", program, *words], folder)
            shown[name] = excerpt(printed, name)
        script, picture = STUDY
        printed = run([sys.executable, str(ROOT / script), "--picture", folder, "--executor", "threads"], folder)
        (made,) = Path(folder).glob("*.png")
        made.replace(ROOT / picture)
    verdict = re.search(r"(?s)^(Recommended|Not better|Undecided).*?\.\n", printed, re.MULTILINE)
    assert verdict, printed
    FIGURES.write_text(json.dumps({"excerpts": shown, "study": " ".join(verdict[0].split())}, indent=2) + "\n")
    README.write_text(with_excerpts(text, shown))


def run(words: list[str], folder: str) -> str:
    ended = subprocess.run(
        words, cwd=folder, env=os.environ | {"COLUMNS": "80"}, stdout=subprocess.PIPE, text=True, check=True
    )
    return ended.stdout


if __name__ == "__main__":
    main()
