"""The command line as a user types it: what it prints, and one sentence with exit code 2 for bad input."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from turnier.bench import BENCHMARKS
from turnier.commands.app import app, main

REPO = Path(__file__).resolve().parents[2]
TURNIER = [sys.executable, "-c", "from turnier.commands.app import main; main()"]


def turnier(*arguments: str, cwd: Path, columns: int = 200) -> subprocess.CompletedProcess[str]:
    import os

    environment = os.environ | {"COLUMNS": str(columns)}
    return subprocess.run([*TURNIER, *arguments], cwd=cwd, env=environment, capture_output=True, text=True, timeout=550)


def good(*arguments: str, cwd: Path) -> str:
    shown = turnier(*arguments, cwd=cwd)
    assert shown.returncode == 0, shown.stderr
    return shown.stdout


def test_games_and_agents_list_their_declarations(tmp_path: Path) -> None:
    games = good("games", cwd=tmp_path)
    assert "2048" in games
    assert "tictactoe" in games
    agents = good("agents", cwd=tmp_path)
    assert all(name in agents for name in ("random", "greedy", "mc", "mctse", "heuristics2048", "rollout"))
    detail = good("agents", "mctse", cwd=tmp_path)
    assert "most action nodes in the tree" in detail
    assert "uct | uctn" in detail


def test_play_is_reproducible_and_shows_moves(tmp_path: Path) -> None:
    first = good("play", "2048", "random", "--seed", "3", cwd=tmp_path)
    assert "2048, seed 3" in first
    strip = [line for line in first.splitlines() if "random" not in line]
    again = good("play", "2048", "random", "--seed", "3", cwd=tmp_path)
    assert strip == [line for line in again.splitlines() if "random" not in line]
    shown = good("play", "tictactoe", "mctse(iterations=50)", "random", "--show", cwd=tmp_path)
    assert "seat 0:" in shown
    assert "values (visits)" in shown


def test_members_of_ensembles_search_anywhere(tmp_path: Path) -> None:
    """`turnier play` shows the same match whether members search in one thread, in several, or in Ray actors."""
    command = ("play", "2048(size=2)", "root_parallel(agent=mctse(iterations=30,rollout_depth=5),members=3)", "--show")
    places = (("serial",), ("threads", "--workers", "2"), ("ray", "--workers", "2"))
    shown = [good(*command, "--executor", *place, cwd=tmp_path).partition("seed 1")[0] for place in places]
    assert "seat 0:" in shown[0] and shown[0] == shown[1] == shown[2]


def test_a_tournament_is_the_same_with_every_executor(tmp_path: Path) -> None:
    """Also with 1 and 2 workers, and `turnier results` shows mean, interval, games and tile rates."""
    command = ("tournament", "2048", "random", "mc(iterations=20,rollout_depth=20)", "--games", "6", "--seed", "7")
    tables = []
    for name, options in {
        "serial": ("--executor", "serial"),
        "one": ("--executor", "threads", "--workers", "1"),
        "two": ("--executor", "threads", "--workers", "2"),
        "ray": ("--workers", "2"),
    }.items():
        store = f"sqlite:///{name}.db"
        good(*command, "--store", store, *options, cwd=tmp_path)
        rows = json.loads(good("results", "--store", store, "--json", cwd=tmp_path))
        tables.append([{k: v for k, v in row.items() if k != "decisions_per_second"} for row in rows])
    assert tables[0] == tables[1] == tables[2] == tables[3]
    (mc, random) = sorted(tables[0], key=lambda row: row["label"])
    assert mc["games"] == random["games"] == 6
    assert mc["mean"] > random["mean"] > 0
    assert mc["half_width"] > 0
    assert random["max_tile>=8192"] == 0.0
    assert random["max_tile>=8192_high"] > 0
    shown = good("results", "--store", "sqlite:///ray.db", cwd=tmp_path)
    assert "mc(iterations=20)" in shown
    assert "±" in shown
    assert "4096" in shown


def test_the_same_tournament_again_plays_nothing(tmp_path: Path) -> None:
    command = ("tournament", "tictactoe", "random", "mc(iterations=3)", "--games", "8", "--executor", "serial")
    good(*command, cwd=tmp_path)
    before = good("results", "--json", cwd=tmp_path)
    assert "8 of 8 games were stored already" in good(*command, cwd=tmp_path)
    assert good("results", "--json", cwd=tmp_path) == before


def test_compare_says_who_is_stronger_in_one_sentence(tmp_path: Path) -> None:
    agents = ("compare", "random", "mc(iterations=20,rollout_depth=10)", "--game", "2048")
    shown = good(*agents, "--executor", "threads", cwd=tmp_path)
    assert "random is weaker than mc(iterations=20,rollout_depth=10) at 2048 after 64 games (32 pairs)" in shown
    assert "its mean score differs by -9" in shown and "95 % interval" in shown and "0 (0.0 %)" in shown
    found = json.loads(good(*agents, "--executor", "serial", "--json", cwd=tmp_path))
    assert (found["verdict"], found["games"], found["games_left"]) == ("weaker", 64, 0.0)
    assert found["sentence"] in " ".join(shown.split("\n"))
    assert -100 < found["estimate"]["difference_percent_low"] < found["estimate"]["difference_percent_high"] < -80
    assert [row["agent"].split("(")[0] for row in found["agents"]] == ["random", "mc"]


def test_a_tournament_shows_ratings_and_who_beats_whom(tmp_path: Path) -> None:
    command = ("tournament", "tictactoe", "random", "mcts(iterations=50)", "mcts(iterations=5)", "--games", "20")
    shown = good(*command, "--executor", "threads", cwd=tmp_path)
    assert "Elo relative to the field's mean" in shown and "games won against" in shown
    rows = {row["label"]: row for row in json.loads(good("results", "--json", cwd=tmp_path))}
    assert rows["mcts(iterations=50)"]["elo"] > rows["random"]["elo_high"]
    assert sum(len(row["pairs"]) for row in rows.values()) == 3


def test_certainty_shows_grids_and_means(tmp_path: Path) -> None:
    """As typed: agreement is 0 for random and 1 for a deterministic agent; the same command shows what is stored."""
    size = ("--states", "3", "--repeats", "4", "--games", "3", "--collector", "mc(iterations=5)", "--seed", "2")
    command = ("certainty", "2048", "random", "greedy", *size)
    shown = good(*command, "--executor", "threads", cwd=tmp_path)
    assert "empty cells" in shown and "4 legal actions" in shown and "random: normalised certainty" in shown
    means = json.loads(good(*command, "--json", "--executor", "serial", cwd=tmp_path))
    greedy, random = sorted(means["agents"], key=lambda row: row["label"])
    assert greedy["agreement"] == greedy["normalised"] == 1 and greedy["groups"] == random["groups"] > 20
    assert random["agreement_low"] < 0 < random["agreement_high"]
    assert random["normalised_low"] < random["chance_level"] < random["normalised_high"]
    assert random["searches"] == 4 * random["states"] == sum(row["searches"] for row in means["groups"]) / 2
    many = good("certainty", "connect_four", "random", *size, "--executor", "threads", cwd=tmp_path)
    assert "legal actions" in many and "random" in many


def test_verify_agrees_and_finds_a_disagreement(tmp_path: Path) -> None:
    golden = REPO / "tests/data/2048/moves.jsonl"
    assert "all 400 lines agree" in good("verify", "2048", str(golden), cwd=tmp_path)
    lines = golden.read_text().splitlines()
    wrong = json.loads(lines[4])
    wrong["moves"]["left"]["reward"] += 4
    (tmp_path / "wrong.jsonl").write_text("\n".join([*lines[:4], json.dumps(wrong)]))
    shown = turnier("verify", "2048", "wrong.jsonl", cwd=tmp_path)
    assert shown.returncode == 1
    assert "wrong.jsonl:5: the moves must be" in shown.stdout


BAD = {
    "unknown game": (("play", "2084", "random"), "There is no game named '2084'; did you mean 2048?"),
    "unknown agent": (("play", "2048", "mctsee"), "There is no agent named 'mctsee'; did you mean mctse?"),
    "unknown parameter": (("play", "2048", "mc(iteration=5)"), "did you mean iterations?"),
    "out of range": (("play", "2048", "mc(iterations=0)"), "iterations must be from 1 to 100,000,000, got 0"),
    "not a number": (("play", "2048", "mc(iterations=many)"), "iterations must be a whole number, got many"),
    "bad choice": (("play", "2048", "mctse(selection=uctm)"), "selection must be one of uct, uctn, got uctm"),
    "syntax": (("play", "2048", "mc(iterations=5"), "a comma or a closing bracket must stand, got the end"),
    "too few agents": (("play", "tictactoe", "random"), "tictactoe has 2 seats, got 1 agent;"),
    "unfit evaluator": (
        ("play", "tictactoe", "random", "greedy(evaluator=heuristics2048())"),
        "heuristics2048 evaluates the 4x4 board of 2048 only",
    ),
    "negative seed": (("play", "2048", "random", "--seed", "-1"), "a seed must be 0 or larger, got -1"),
    "no games": (("tournament", "2048", "random", "--games", "0"), "at least 1 game, got 0"),
    "unknown format": (("tournament", "tictactoe", "random", "greedy", "--format", "swis"), "did you mean swiss?"),
    "no unit": (("tournament", "2048", "random", "--budget", "50"), "must be a whole number and one of ms, rollouts"),
    "unfit budget": (("tournament", "2048", "mctse", "--budget", "4plies"), "mctse takes only: ms, rollouts, nodes"),
    "unknown measure": (("bench", "random_2084"), "did you mean random_2048?"),
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
    "no states": (("certainty", "2048", "random", "--states", "0"), "at least 1 state, got 0"),
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
        ("tournament", "2048", "random", "--store", "postgresql://me:secret@127.0.0.1:1/x"),
        "postgresql",
    ),
    "not a URL": (("results", "--store", "turnier.db"), "must be named by a URL"),
    "missing store": (("results", "--store", "sqlite:///none.db"), "turnier tournament"),
    "corrupt store": (("results", "--store", "sqlite:///corrupt.db"), "undamaged SQLite database"),
    "unknown run": (("results", "--store", "sqlite:///good.db", "--run", "x"), "There is no run named 'x'"),
    "missing file": (("verify", "2048", "none.jsonl"), "must be readable, got none.jsonl"),
    "not JSON": (("verify", "2048", "corrupt.db"), "every line must be a recorded game or position of 2048"),
    "other format": (("verify", "tictactoe", "{}.jsonl"), "tictactoe has no recorded format"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bad")
    good("tournament", "tictactoe", "random", "random", "--games", "2", "--executor", "serial",
         "--store", "sqlite:///good.db", cwd=path)  # fmt: skip
    (path / "corrupt.db").write_text("this is not a database, and no JSON either\n" * 50)
    (path / "{}.jsonl").write_text("{}\n")
    return path


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence_and_exit_code_2(
    case: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """In this process: each would take two seconds to start."""
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


def test_a_mistake_ends_the_process_with_its_code(tmp_path: Path) -> None:
    shown = turnier("play", "2084", "random", cwd=tmp_path)
    assert (shown.returncode, shown.stdout) == (2, "")
    assert shown.stderr == "Error: There is no game named '2084'; did you mean 2048?\n"


def test_every_command_has_help_with_an_example() -> None:
    for command in app.registered_commands:
        name = command.name or command.callback.__name__
        shown = CliRunner().invoke(app, [name, "--help"], env={"COLUMNS": "200"}).output
        assert re.search(rf"Examples?:\s+(python \S+ && |KEY=\S+ )?turnier {name}", shown), shown


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed; the benchmarks compile a C program")
def test_bench_prints_values_and_quotients(tmp_path: Path) -> None:
    names = ("random_2048", "mc_2048")
    table = json.loads(good("bench", *names, "--json", "--rounds", "1", cwd=tmp_path))
    assert tuple(table) == names and set(names) < set(BENCHMARKS)
    for row in table.values():
        assert row["value"] > 0
        assert row["reference"] > 0
        assert row["quotient"] == pytest.approx(row["value"] / row["reference"])
