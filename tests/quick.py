"""`make quick`: tests of what has changed since `main`, the nearest first, for a minute.

A test is near if it imports a changed file, or what imports one. Those of the same area run first, and cases that name
a changed file before others. Laws of two games and of the architecture always run.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IMPORT = re.compile(r"^\s*(?:from (\.*)([\w.]*) )?import (\([^)]*\)|.+)", re.MULTILINE)
FILES = 24  # of tests: collecting more would take what there is for running them
SECONDS = 50  # for collecting and running them; what has begun is finished
ALWAYS = [f"tests/contract/test_game_contract.py::test_game_keeps_the_laws[{game}]" for game in ("tictactoe", "nim")]


def changed() -> list[str]:
    """Returns the files that differ from where this branch left `main`; on `main` those of the last commit, too."""
    bases = _git("merge-base", "HEAD", "main")
    base = bases[0] if bases and bases != _git("rev-parse", "HEAD") else "HEAD~1"
    return _git("diff", "--name-only", base) + _git("ls-files", "--others", "--exclude-standard")


def _git(*words: str) -> list[str]:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout.split()


def module_of(file: str) -> str:
    """Returns the name under which a file is imported: `platform/games/nim.py` is turnier.games.nim."""
    parts = Path(file).with_suffix("").parts
    named = parts[1:] if parts[0] == "platform" else parts
    top = () if parts[0] in ("tests", "benchmarks", "examples") else ("turnier",)
    return ".".join((*top, *named)).removesuffix(".__init__")


def imported(file: str) -> set[str]:
    """Returns the modules that a file may import: `from a import b` names a and a.b."""
    found = set()
    package = module_of(file).split(".") + [""] * file.endswith("__init__.py")
    for dots, base, names in IMPORT.findall((ROOT / file).read_text()):
        home = ".".join([*package[: -len(dots)], base] if dots else [base]).strip(".")
        each = re.findall(r"[\w.]+", re.sub(r" as \w+|#.*", "", names))
        found |= {home, *(f"{home}.{name}".strip(".") for name in each)}
    return found


def area(file: str) -> str:
    """Returns the folder of tests for a file: `agents` for platform/agents/mc.py and for tests/agents/test_mc.py."""
    parts = Path(file).parts
    return parts[1] if parts[0] in ("platform", "tests") else parts[0]


def nearest(start: list[str]) -> list[str]:
    """Returns files of tests, those first that fewer imports lead to, of the same areas before others."""
    importers: dict[str, list[str]] = defaultdict(list)
    for file in _git("ls-files", "--cached", "--others", "--exclude-standard", "*.py"):
        for module in imported(file) if (ROOT / file).exists() else ():
            importers[module].append(file)
    seen = dict.fromkeys(file for file in start if file.endswith(".py"))
    for file in (found := list(seen)):  # it grows
        found += [each for each in dict.fromkeys(importers[module_of(file)]) if each not in seen]
        seen |= dict.fromkeys(found)
    areas = set(map(area, start))
    tests = [file for file in found if Path(file).name.startswith("test_") and (ROOT / file).exists()]
    return sorted(tests, key=lambda file: area(file) not in areas)


def main() -> int:
    files = changed()
    names = ",".join(Path(file).stem for file in files if not file.startswith("tests/"))
    options = ["-n", "auto", "--dist", "load", "--maxschedchunk", "1", f"--seconds={SECONDS}", f"--first={names}"]
    words = [*options, *ALWAYS, "tests/architecture", *nearest(files)[:FILES]]
    return subprocess.run([sys.executable, "-m", "pytest", *words], cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
