"""Every example of `--help` and of the README works, here with few and small games."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import click
import pytest
import typer
from typer.testing import CliRunner

from tests.cli.running import REPO
from tests.core.test_outside import BOT, FIRST
from turnier.commands.app import SECTIONS, app
from turnier.commands.command_line import with_stored_versions
from turnier.core.compilation.machine import machine_name
from turnier.results.store.manifest import started_with
from turnier.results.store.store import Store
from turnier.results.versions import stored_versions

# What waits for ever, needs another machine, or has a test of its own with these words.
ELSEWHERE = re.compile(
    r"turnier (spe_ed|engine|check (stockfish|.python3)|dashboard|board|show .*\.pgn|upgrade)\b|postgresql:"
)
RUN, STUDY, MATCH = "tournament:1f0c", "study:2048-mctse-1f0c2b", "3f9a1c"  # stand for ids in examples
VERSION = "1c94e07"  # of bot.py
WORKER, ARCHIVES = "w2/10.77.0.12", ("old.parquet", "tournament-1f0c.parquet")
WEIGHTS, SMALLER_BOARD, TABLES = ("a.npz", "b.npz"), "y5.npz", "small.tables"  # files that examples read
SMALLER = (
    (r"\biterations=\d{2,}(?!\.\.)", "iterations=3"),
    (r"\biterations=10\.\.1000", "iterations=1..6"),
    (r"\bpopulation=32", "population=4"),
    (r"--game \S*2048\S*", "--game 2048"),
    (r"mctse\(iterations=3,(?!rollout)", "mctse(iterations=3,maxnodes=5,rollout_depth=1,"),
    (r"\bnetwork=4x6", "tuples=4,length=3"),
    (r"\bdepth=4", "depth=1"),
    (r"--games \d+", "--games 2"),
    (r"--evaluate-every \d+", "--evaluate-every 1"),
    (r"--budget \d+games", "--budget 30games"),
    (r"(tune .*)(?<!games)$", r"\1 --budget 64games"),
    (r"--per-move 50ms", "--per-move 1ms"),
    (r"--seconds 10", "--seconds 0.5"),
    (r"--hours 2", "--hours 0.0003"),
    (r"tables 2048", "tables 2048 --size tiny"),
    (r"formations\(table=small.tables", r"\g<0>,otherwise=expectimax(depth=1,evaluator=corner2048)"),
    (r"--repeats \d+", "--repeats 3"),
    (r"--states \d+", "--states 1"),
    (r"--positions \d+", "--positions 10"),
    (r"--overlay 120", "--overlay 2"),
    (r"--sample 5%", "--sample 100%"),
)


def commands() -> dict[str, Any]:
    """Returns the commands by name, as the library of the command line has them."""
    group: Any = typer.main.get_command(app)
    with click.Context(group) as context:
        return {name: group.get_command(context, name) for part in SECTIONS.values() for name in part}


def examples() -> list[str]:
    """Returns the examples, with lines that a backslash continues in one, and without comments."""
    groups = [command for command in commands().values() if isinstance(command, click.Group)]
    with click.Context(typer.main.get_command(app)) as context:
        below = [group.get_command(context, name) for group in groups for name in group.list_commands(context)]
    texts = [command.help or "" for command in (*commands().values(), *filter(None, below))] + [
        (REPO / "README.md").read_text()
    ]
    lines = [line.strip() for text in texts for line in text.replace("\\\n", " ").splitlines()]
    found = [re.sub(r"\s+# .*", "", line) for line in lines if line.startswith("turnier ")]
    return [line for line in dict.fromkeys(found) if not ELSEWHERE.search(line)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what examples refer to: a run and matches in a store."""
    folder = tmp_path_factory.mktemp("examples")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        run('turnier tournament 2048 random "mc(iterations=2)" --games 2')
        run('turnier tournament "spe_ed(width=10,height=10,players=2)" basic "combi(milliseconds=5)" --games 2')
        run("turnier tournament yavalath random greedy --games 10")
        for bot in (BOT, BOT.replace("skip)", "skip + 1)")):  # the second is what `bot.py` is now
            (folder / "bot.py").write_text(bot)
            (folder / "helper.py").write_text(FIRST)
            run("turnier tournament tictactoe bot.py:Bot random --games 2")
        for weights in WEIGHTS:
            run(
                f'turnier train 2048 "ntuple(tuples=4,length=3)" --games 2 --out {weights} --store sqlite:///trained.db'
            )
        run(
            f'turnier train yavalath "ntuple(tuples=4,length=3)" --games 2 --out {SMALLER_BOARD} --store sqlite:///trained.db'
        )
        run(f"turnier tables 2048 --size tiny --out {TABLES}")
    return folder


def run(example: str) -> None:
    """Runs a command, says yes to its questions, and fails if it fails."""
    words = with_stored_versions(shlex.split(example)[1:])
    has_executor = any("--executor" in option.opts for option in commands()[words[0]].params)
    if has_executor:
        words += ["--executor", "serial"]
    started_with(["turnier", *words])  # runs record it
    ended = CliRunner().invoke(app, words, input="y\n", env={"COLUMNS": "80"}, catch_exceptions=False)
    started_with(sys.argv)
    assert ended.exit_code == 0, f"{example}\n{ended.output}"
    assert ended.output.strip()


def test_there_are_examples_of_every_command() -> None:
    elsewhere = {"spe_ed", "dashboard", "board", "engine", "upgrade"}
    named = {line.split()[1] for line in examples()} | elsewhere
    assert named == set(commands())


@pytest.mark.parametrize("example", examples())
def test_an_example_works(example: str, folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    read = [
        name
        for name in (*WEIGHTS, SMALLER_BOARD, TABLES)
        if re.search(rf"{name}\b", example) and f"--out {name}" not in example
    ]
    for name in ("turnier.db", "bot.py", "helper.py", *read):
        shutil.copy(folder / name, tmp_path)
    (tmp_path / "tests").symlink_to(REPO / "tests")
    with Store.open(f"sqlite:///{tmp_path}/turnier.db", read_only=True) as store:
        runs = {stored.name.partition("(")[0]: stored.id for stored in store.runs()}
        version = stored_versions(store, "bot.py")[0].bundle.digest
        matches = {game: next(iter(store.records_of_run(run_id)))[0].spec.id for game, run_id in runs.items()}
    for pattern, less in SMALLER:
        example = re.sub(pattern, less, example)
    game = "spe_ed" if re.search(r"\.json\b|--overlay", example) else "2048"
    for text, known in ((RUN, runs["2048"]), (STUDY, runs["2048"]), (MATCH, matches[game]), (VERSION, version)):
        example = example.replace(text, known)
    example = example.replace(WORKER, machine_name())
    example = re.sub(r"\b(purge|check) last", rf"\1 {runs['2048']}", example)
    for archive in ARCHIVES:
        if archive in example and not (tmp_path / archive).exists():
            run(f"turnier runs archive {runs['2048']} --out {archive}")
    if "games.jsonl:" in example:
        run(f"turnier show {runs['2048']} --out games.jsonl")
    for part in example.split(" && "):
        run(part)
