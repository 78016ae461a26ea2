"""Mistakes of users: one sentence on standard error, exit code 2, and nothing is lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import STUDIES, TURNIER, end_of_script, turnier
from turnier.commands.app import main
from turnier.results.store.store import Store

TUNE = ("tune", "2048", "mc(iterations=10)", "--params", "rollout_depth")
LONG = "a" * 300  # no file can have that name
BAD = {
    "unknown game": (("play", "2084", "random"), "There is no game named '2084'; did you mean 2048?"),
    "a file that is not there": (
        ("tournament", "tictactoe", "bto.py:Bot", "random"),
        "there must be a file bto.py, got none; name the file by its path from here.",
    ),
    "a class that is not in a module": (
        ("tournament", "json:Bot", "random"),
        "there must be a class or function Bot in json, got none; write it there, or name another one.",
    ),
    "no earlier version": (
        ("compare", "bot.py:Bot", "bot.py:Bot@PREVIOUS", "--game", "tictactoe", "--store", "sqlite:///none.db"),
        "No store at",
    ),
    "no game is near": (
        ("play", "bridge", "random"),
        "There is no game named 'bridge'; there are: 2048, chess, connect_four,",
    ),
    "capitals": (("play", "2048", "MC(iterations=50)"), "There is no agent named 'MC'; did you mean mc?"),
    "unknown agent": (("play", "2048", "mctsee"), "There is no agent named 'mctsee'; did you mean mctse?"),
    "unknown parameter": (("play", "2048", "mc(iteration=5)"), "did you mean iterations?"),
    "out of range": (("play", "2048", "mc(iterations=0)"), "iterations must be from 1 to 100,000,000, got 0"),
    "not a number": (("play", "2048", "mc(iterations=many)"), "iterations must be a whole number, got many"),
    "bad choice": (("play", "2048", "mctse(selection=uctm)"), "selection must be one of uct, uctn, got uctm"),
    "syntax": (("play", "2048", "mc(iterations=5"), "expected a comma or a closing bracket, got the end"),
    "too few agents": (("play", "tictactoe", "random"), "tictactoe has 2 seats, got 1 agent;"),
    "unfit evaluator": (
        ("play", "tictactoe", "random", "greedy(evaluator=heuristics2048())"),
        "heuristics2048 evaluates the 4x4 board of 2048 only",
    ),
    "negative seed": (("play", "2048", "random", "--seed", "-1"), "a seed must be 0 or larger, got -1"),
    "no games": (("tournament", "2048", "random", "--games", "0"), "games must be from 1 to 1,000,000,000,000, got 0"),
    "unknown format": (("tournament", "tictactoe", "random", "greedy", "--format", "swis"), "did you mean swiss?"),
    "no text": (("show", "\udcff"), "arguments must be UTF-8, got b'\\xff'; use a name in UTF-8."),
    "no unit": (("tournament", "2048", "random", "--per-move", "50"), "must be a whole number and one of ms, rollouts"),
    "unfit budget": (("tournament", "2048", "mctse", "--per-move", "4plies"), "mctse takes only: ms, rollouts, nodes"),
    "no field": (
        ("tournament", "tictactoe", "random", "greedy", "--format", "gauntlet", "--challengers", "2"),
        "a field of 1, got 2 and 0",
    ),
    "no margin": (
        ("compare", "random", "greedy", "--game", "tictactoe", "--margin", "0"),
        "above 0 and at most 800 Elo",
    ),
    "one agent": (("compare", "random", "random", "--game", "2048"), "two different agents, got random and random"),
    "one search": (("certainty", "2048", "random", "--repeats", "1"), "at least 2 searches of a state, got 1"),
    "no states": (("certainty", "2048", "random", "--states", "0"), "states must be 1 or larger, got 0"),
    "unfit collector": (
        ("certainty", "tictactoe", "random", "--collector", "greedy(evaluator=heuristics2048())"),
        "heuristics2048 evaluates the 4x4 board of 2048 only",
    ),
    "unknown executor": (("tournament", "2048", "random", "--executor", "rya"), "did you mean ray?"),
    "unfit member": (("play", "2048", "majority(agent=alphabeta)"), "alphabeta"),
    "member's parameter": (("play", "2048", "majority(agent=mc(iteration=5))"), "did you mean iterations?"),
    "unknown place of members": (("play", "2048", "random", "--executor", "rya"), "did you mean ray?"),
    "no workers": (("tournament", "2048", "random", "--workers", "0"), "at least 1 worker, got 0"),
    "unreachable cluster": (
        ("tournament", "2048", "random", "--address", "127.0.0.1:1"),
        "a Ray cluster must answer at 127.0.0.1:1",
    ),
    "unreachable server": (
        ("tournament", "2048", "random", "--store", "postgresql://me@127.0.0.1:1/x"),
        "postgresql",
    ),
    "not a file": (("show", "--store", "turnier"), "must be a file such as turnier.db, or a URL, got 'turnier'"),
    "missing store": (("show", "--store", "sqlite:///none.db"), "turnier tournament"),
    "corrupt store": (("show", "--store", "sqlite:///corrupt.db"), "undamaged SQLite database"),
    "unknown run": (("show", "x", "--store", "sqlite:///good.db"), "There is no run named 'x'"),
    "missing file": (("check", "none.jsonl", "--game", "2048"), "must be readable, got none.jsonl"),
    "not JSON": (("check", "corrupt.db", "--game", "2048"), "every line must be a recorded game or position of 2048"),
    "other format": (("check", "{}.jsonl", "--game", "tictactoe"), "tictactoe has no recorded format"),
    "no sampler is near": ((*TUNE, "--sampler", "bayes"), "There is no sampler named 'bayes'; there are: cmaes, "),
    "no parameters": (
        ("tune", "2048", "random", "--params", "*"),
        "random has no parameters to search; choose another agent",
    ),
    "range upside down": (
        ("tune", "2048", "mc", "--params", "rollout_depth=50..0"),
        "with LOW above HIGH; swap them",
    ),
    "small budget": ((*TUNE, "--budget", "3games"), "must last for a generation of "),
    "small budget of a front": (
        (*TUNE, "--budget", "3games", "--objectives", "strength,time"),
        "must last for a generation of 4 games, got 3; raise --budget",
    ),
    "unknown executor of a study": ((*TUNE, "--executor", "rya"), "did you mean ray?"),
    "weights in a missing folder": (
        ("train", "2048", "ntuple", "--out", "no/such/w.npz"),
        "the folder of the file of weights must exist, got no/such/w.npz; create no/such first",
    ),
    "weights where nobody may write": (
        ("train", "2048", "ntuple", "--out", "/proc/w.npz"),
        "the file of weights must be in a writable folder",
    ),
    "weights in a folder's place": (
        ("train", "2048", "ntuple", "--out", "."),
        "must be a file, got the folder .",
    ),
    "export of an unknown kind": (
        ("show", "last", "--out", "x.xlsx", "--store", "sqlite:///good.db"),
        "must be a folder or end in .csv, .parquet, .jsonl, .pgn, .sgf, got x.xlsx",
    ),
    "export into a missing folder": (
        ("show", "last", "--out", "no/x.csv", "--store", "sqlite:///good.db"),
        "the folder of an export must exist, got no/x.csv; create no first",
    ),
    "export where nobody may write": (
        ("show", "last", "--out", "/proc/x.csv", "--store", "sqlite:///good.db"),
        "an export must be in a writable folder, got /proc/x.csv",
    ),
    "report into a file": (
        ("show", "last", "--html", "--out", "good.db", "--store", "sqlite:///good.db"),
        "--out must be a folder, got good.db",
    ),
    "animation in a missing folder": (
        ("show", "1", "--out", "no/x.gif"),
        "the folder of --out must exist",
    ),
    "video in a missing folder": (("show", "1", "--out", "no/x.mp4"), "the folder of --out must exist"),
    "picture in a missing folder": (("show", "1", "--out", "no/x.svg"), "the folder of --out must exist"),
    "log in a missing folder": (("show", "1", "--out", "no/x.json"), "the folder of --out must exist"),
    "overlay of nothing": (("show", "1", "--overlay", "3"), "--overlay draws into a picture; add --out FILE.svg"),
    "table in a missing folder": (("show", "--crosstable", "no/x.csv"), "the folder of --crosstable must exist"),
    "logs in a file's place": (("spe_ed", "serve", "--logs", "good.db"), "--logs must be a folder, got good.db"),
    "an option of matches for a run": (
        ("show", "last", "--delay", "3", "--store", "sqlite:///good.db"),
        "--delay is for a match, and this is a run",
    ),
    "an old command": (("results", "--json"), "turnier results is now turnier show"),
    "moved": (("bench", "random_2048"), "turnier bench is now make bench, in a checkout"),
    "best moves of no game": (("engine", "2084", "mc", "--http", "0"), "There is no game named '2084'"),
    "store in a pipe": (
        ("runs", "--store", "sqlite:////dev/null"),
        "a results database must be a file, got /dev/null",
    ),
    "games from a device": (
        ("check", "/dev/zero", "--game", "tictactoe"),
        "recorded games must be a file, got /dev/zero",
    ),
    "keys from a device": (("spe_ed", "serve", "--keys", "/dev/zero"), "keys must be a file, got /dev/zero"),
    "keys with a long name": (("spe_ed", "serve", "--keys", LONG), "keys must be in a file with a line KEY NAME"),
    "server on no address": (("spe_ed", "serve", "--host", ""), "a host must be a name or an address, got none"),
    "board on no address": (("board", "--host", "", "--store", "sqlite:///good.db"), "a host must be a name or an"),
    "store with a long name": (("runs", "--store", f"sqlite:///{LONG}.db"), "No store at"),
    "store in a folder with a long name": (("runs", "--store", f"sqlite:///{LONG}/a.db"), "the folder of a results"),
    "code with a long name": (("play", "tictactoe", f"{LONG}.py:Bot", "random"), "there must be a file aaa"),
    "network with a long name": (("play", "2048", f'greedy(evaluator=ntuple(file="{LONG}.npz"))'), "must be a file"),
    "new agent with a long name": (("new", "agent", LONG), "a name takes small letters"),
    "match with a long name": (("show", LONG, "--store", "sqlite:///good.db"), "There is no run named"),
    "export with a long name": (
        ("show", "last", "--out", f"{LONG}.csv", "--store", "sqlite:///good.db"),
        "an export must have a name that this system takes",
    ),
    "pages with a long name": (
        ("show", "last", "--html", "--out", f"{LONG}/x", "--store", "sqlite:///good.db"),
        "--out must have a name that this system",
    ),
    "line with a number of many digits": (
        ("show", f"{{}}.jsonl:{'1' * 5000}", "--store", "sqlite:///good.db"),
        "must be stored to be shown",
    ),
    "line with a digit that is none": (
        ("show", "{}.jsonl:²", "--store", "sqlite:///good.db"),
        "must be stored to be shown",
    ),
    "lowered tiles without a network or table": (
        ("analyse", "2048(size=2)", "greedy(downgrade=32768)", "--board", "2 4 / 8 ."),
        "downgrade lowers tiles of 2048 for the evaluators ntuple, rows2048 and corner2048, got 2048(size=2) and"
        " evaluator=score; leave it out.",
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bad")
    turnier("tournament", "tictactoe", "random", "random", "--games", "2", "--executor", "serial",
         "--store", "sqlite:///good.db", folder=path)  # fmt: skip
    (path / "corrupt.db").write_text("this is not a database, and no JSON either\n" * 50)
    (path / "{}.jsonl").write_text("{}\n")
    return path


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence_and_exit_code_2(
    case: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    arguments, sentence = BAD[case]
    before = {p.name: p.read_bytes() for p in folder.glob("*.db")}
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["turnier", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    error = capfd.readouterr().err
    assert ended.value.code == 2, error
    assert sentence in error
    assert "Traceback" not in error
    assert "secret" not in error
    assert len(error.strip().splitlines()) == 1
    assert all((folder / name).read_bytes() == content for name, content in before.items()), "nothing is lost"
    for made in {path.name for path in folder.glob("*.db")} - before.keys():
        with Store.open(f"sqlite:///{made}", read_only=True) as store:
            assert not store.runs(), "nothing is begun"


def test_a_picture_of_a_study_is_refused_before_the_study_begins(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for script in ("cmaes_rows.py", "rollout_depth.py", "mctse_parameters.py"):
        ended = end_of_script(STUDIES / script, "--preset", "tiny", "--picture", "file", folder=tmp_path)
        assert ended.code == 2 and "--picture must be a folder, got file" in ended.errors
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_mistake_ends_the_process_with_its_code(tmp_path: Path) -> None:
    command = [*TURNIER, "play", "2084", "random"]
    shown = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (shown.returncode, shown.stdout) == (2, "")
    assert shown.stderr == "Error: There is no game named '2084'; did you mean 2048?\n"
