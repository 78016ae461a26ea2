"""Every command and page that reads a kind of file, and what each answers: texts and the files that it wrote."""

from __future__ import annotations

import contextlib
import importlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from typer.testing import CliRunner

from tests.faults.small_files import (
    CERTAINTY,
    CHECKPOINT,
    COMPARE,
    EXPORT,
    STORE,
    THREADS,
    TOURNAMENT,
    TRAIN,
    TRAIN_ON,
    TUNE,
    URL,
    WEIGHTS,
)
from turnier.agents.ntuple.weights import load_weights
from turnier.commands.app import COMMANDS, app, function_of
from turnier.commands.machine import checks
from turnier.core.errors import UserError

RUNS = ("tournament", "comparison", "certainty", "study", "training")
PAGES = ("/", "/league", *(f"/runs/{run}:" for run in RUNS), "/runs/tournament:/pairs", "/runs/study:/search",
         *(f"/runs/tournament:/{tab}" for tab in ("games", "cost", "origin")))  # fmt: skip
# What differs from one time to the next although nothing is wrong.
_VOLATILE = (
    r"\d+(\.\d+)? (s|min|hours|days) ago",
    r"[\d,]+ moves/s",
    r"[\d.]+ GB free",
    r"/\S*/tmp\S+",
    r"\S+ \S+ UTC",
)
_TIMES = (
    r"[\d.]+ +(ns|µs|ms|s)\b",
    r"[\d.]+ +│\n",
    r" {2,}",
)  # of games that are played anew, and the widths they take
LEARNED = f"greedy(evaluator=ntuple(file={WEIGHTS}))"


class Answer(NamedTuple):
    """How a reading ended: what it says if it is right; otherwise the sentence that refuses or what went wrong."""

    outcome: str  # right | refused | found (a command that looks for damage found some) | failed
    said: str


Reading = Callable[[], Answer]


def command(*words: str, writes: str = "", may_find: bool = False, plays: bool = False) -> Reading:
    """Returns the reading of a command, run in the present folder.

    Args:
        words: of the command line.
        writes: the file or folder that it writes, which is part of its answer.
        may_find: whether exit code 1 means that it looked for what is wrong, and found it.
        plays: whether it plays, so that times differ.
    """

    def read() -> Answer:
        with mock.patch.object(checks, "check_ray", return_value=checks.Check("ray", checks.OK, "")):
            ended = CliRunner().invoke(app, list(words), env={"COLUMNS": "100"})
        error = ended.exception
        if isinstance(error, UserError):
            sentence = str(error)
            return Answer("refused" if "\n" not in sentence and len(sentence) < 1200 else "failed", sentence)
        if ended.exit_code == 0:
            shown = _steady(ended.stdout, (*_VOLATILE, *_TIMES) if plays else _VOLATILE)
            return Answer("right", shown + (_content(Path(writes)) if writes else ""))
        if isinstance(error, SystemExit) and (ended.exit_code == 2 or (may_find and ended.exit_code == 1)):
            return Answer("found" if ended.exit_code == 1 else "refused", ended.output)
        return Answer("failed", f"exit code {ended.exit_code}: {type(error).__name__} {error}")

    return read


def _steady(text: str, patterns: tuple[str, ...] = _VOLATILE) -> str:
    for pattern in patterns:
        text = re.sub(pattern, "...", text)
    return text


def _content(written: Path) -> str:
    """Returns what is in a file, or in all files of a folder."""
    if written.suffix == ".npz":
        weights = load_weights(written)
        return f"\n{weights.training} {weights.digest} {weights.entries.tolist()} {weights.curve.tolist()}"
    files = sorted(path for path in written.rglob("*") if path.is_file()) if written.is_dir() else [written]
    return "".join(f"\n{path}: {path.read_bytes()!r}" for path in files)


def page(address: str) -> Reading:
    """Returns the reading of a page of the dashboards, as its application answers."""

    def read() -> Answer:
        from tests.dashboards.drawn_pages import Pages

        try:
            shown = Pages(URL).look(address)
        except Exception as error:
            return Answer("failed", f"{type(error).__name__} {error}")
        if shown.trouble:
            return Answer("refused" if "\n" not in shown.trouble else "failed", shown.trouble)
        text = _steady(re.sub(r'data-hash="\w+"', "", shown.html), _VOLATILE)
        return Answer("found" if "must hold what was stored in it, but" in text else "right", text)

    return read


def match_of(folder: Path) -> str:
    """Returns the id of an exported match."""
    with (folder / EXPORT).open() as file:
        found = re.search(r'"id":"(\w+)"', file.readline())
    assert found
    return found[1]


def import_all() -> None:
    """Imports what readings import, so that processes that are forked for them need not."""
    importlib.import_module("vl_convert")
    importlib.import_module("tests.dashboards.drawn_pages")
    for name in COMMANDS:
        function_of(name)


def readings(folder: Path) -> dict[str, dict[str, Reading]]:
    """Returns, by the file that is read, what reads it; the folder has undamaged files."""
    store = ("--store", URL)
    match = match_of(folder)
    of_store = {
        "results": command("show", *store),
        "results --json": command("show", "--json", *store),
        "results --game": command("show", "tictactoe", *store),
        **{f"results --run {run}": command("show", run, *store) for run in RUNS},
        "status": command("runs", *store, plays=True),
        "status --json": command("runs", "--json", *store),
        "note": command("runs", "note", "tournament", *store),
        **{f"export {run}": command("show", run, "--out", "out", *store, writes="out") for run in RUNS[:2]},
        "replay": command("show", match, *store),
        "replay --svg": command("show", match, "--out", "end.svg", *store, writes="end.svg"),
        **{
            f"report {run}": command("show", run, "--html", "--out", "pages", *store, writes="pages")
            for run in (*RUNS[:2], "study")
        },
        "tournament": command(*TOURNAMENT, *store),
        "compare": command(*COMPARE, *store),
        "certainty": command(*CERTAINTY, *store),
        "tune": command(*TUNE, *store),
        "train": command(*TRAIN, *store),
        "doctor": command("doctor", *store, may_find=True),
        **{f"page {name}": page(name) for name in PAGES},
    }
    new = ("--store", "sqlite:///new.db")
    return {
        STORE: of_store,
        WEIGHTS: {
            "play": command("play", "tictactoe", LEARNED, "random", "--show", plays=True),
            "tournament": command(
                "tournament", "tictactoe", LEARNED, "random", "--games", "4", *THREADS, *new, plays=True
            ),
            "train": command(*TRAIN, "--store", "sqlite:///new.db", writes=WEIGHTS, plays=True),
        },
        CHECKPOINT: {
            "train": command(*TRAIN_ON, *new, writes=CHECKPOINT, plays=True),
            "play": command("play", "tictactoe", LEARNED.replace(WEIGHTS, CHECKPOINT), "random", "--show", plays=True),
        },
        EXPORT: {
            "check": command("check", EXPORT, may_find=True),
            "replay": command("show", f"{EXPORT}:3"),
        },
    }


def read_in(folder: Path, reading: Reading) -> Answer:
    """Returns the answer of a reading in a folder."""
    with contextlib.chdir(folder):
        return reading()
