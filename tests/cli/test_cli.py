"""The command line as a user types it: what it plays and prints."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.cli.running import REPO, turnier
from turnier.agents.ntuple.td import LEARNING
from turnier.agents.registry import AGENTS, EVALUATORS
from turnier.commands.app import app
from turnier.core.parameters import parameters_of


def test_games_and_agents_list_their_declarations(tmp_path: Path) -> None:
    games = turnier("list", "games", folder=tmp_path)
    assert "2048" in games
    assert "tictactoe" in games
    agents = turnier("list", "agents", folder=tmp_path)
    assert all(name in agents for name in ("random", "greedy", "mc", "mctse"))
    everything = turnier("list", folder=tmp_path)
    assert all(name in everything for name in ("tictactoe", "mctse", "heuristics2048", "rollout", "cmaes", "racing"))
    detail = CliRunner().invoke(app, ["list", "mctse"], env={"COLUMNS": "160"}).stdout
    assert "maximum action nodes in the tree" in detail
    assert "uct | uctn" in detail and "0.01 to 10, log" in detail  # what is searched beside what is legal


@pytest.mark.parametrize(
    ("command", "name", "shown"),
    [
        ("methods", "td", ("alpha", "0.01 to 3, log", "learning rate")),
        ("samplers", "cmaes", ("population", "0 to 100,000", "candidates per generation")),
        ("noises", "racing", ("alpha", "0.001 to 1", "probability of stopping")),
    ],
)
def test_whatever_takes_parameters_is_listed_with_them(command: str, name: str, shown: tuple[str, ...]) -> None:
    listed = CliRunner().invoke(app, ["list", command], env={"COLUMNS": "80"}).stdout
    assert re.search(rf"^ {name} +\d+  \w", listed, re.MULTILINE) and "turnier list NAME" in listed
    detail = CliRunner().invoke(app, ["list", name], env={"COLUMNS": "120"}).stdout
    assert all(text in detail for text in shown) and (" searched " in detail) == (command == "methods")
    other = CliRunner().invoke(app, ["list", name.upper()])
    assert f"did you mean {name}?" in str(other.exception)


@pytest.mark.parametrize("name", [*AGENTS.names(), *EVALUATORS.names(), *LEARNING.names()])
def test_parameters_are_described_in_full_in_80_columns(name: str) -> None:
    lines = CliRunner().invoke(app, ["list", name], env={"COLUMNS": "80"}).stdout.splitlines()
    heading = next((i for i, line in enumerate(lines) if line.startswith(" parameter ")), None)
    known = next(registry.load(name) for registry in (AGENTS, EVALUATORS, LEARNING) if name in registry.names())
    parameters = parameters_of(known)
    assert (heading is None) == (not parameters) and max(map(len, lines)) <= 80
    if heading is not None:
        column = lines[heading].index("meaning")
        shown = "".join(line[column:] for line in lines[heading + 2 :])
        assert "".join(shown.split()) == "".join("".join(info.help.split()) for _, info in parameters)


def test_texts_are_not_switches_and_ranges_are_whole_numbers() -> None:
    rows = CliRunner().invoke(app, ["list", "ntuple"], env={"COLUMNS": "160"}).stdout.splitlines()
    kinds = {row.split()[0]: row for row in rows if row.startswith(" ") and len(row.split()) > 2}
    assert " text " in kinds["file"] and "true | false" not in kinds["file"] and "true | false" in kinds["symmetric"]
    assert "0 to 9,007,199,254,740,992" in kinds["seed"]
    combi = CliRunner().invoke(app, ["list", "agents"], env={"COLUMNS": "80"}).stdout
    assert "tight_cells" not in combi and re.search(r"^ combi +\d\d  spe_ed: ", combi, re.MULTILINE)


def test_play_is_reproducible_and_shows_moves(tmp_path: Path) -> None:
    first = turnier("play", "2048", "random", "--seed", "3", folder=tmp_path)
    assert "2048, seed 3" in first
    strip = [line for line in first.splitlines() if "random" not in line]
    again = turnier("play", "2048", "random", "--seed", "3", folder=tmp_path)
    assert strip == [line for line in again.splitlines() if "random" not in line]
    shown = turnier("play", "tictactoe", "mctse(iterations=50)", "random", "--show", folder=tmp_path)
    assert "seat 0:" in shown
    assert "values (visits)" in shown


def test_members_of_ensembles_search_anywhere(tmp_path: Path) -> None:
    """`turnier play` shows the same match whether members search in one thread, in several, or in Ray actors."""
    command = ("play", "2048(size=2)", "root_parallel(agent=mctse(iterations=30,rollout_depth=5),members=3)", "--show")
    places = (("serial",), ("threads", "--workers", "2"), ("ray", "--workers", "2"))
    shown = [turnier(*command, "--executor", *place, folder=tmp_path).partition("seed 1")[0] for place in places]
    assert "seat 0:" in shown[0] and shown[0] == shown[1] == shown[2]


TIMES = ("decisions_per_second", "cpu_seconds_per_decision")


def test_a_tournament_is_the_same_with_every_executor(tmp_path: Path) -> None:
    """Also with 1 and 2 workers, and `turnier show` shows mean, interval, games and tile rates."""
    command = ("tournament", "2048", "random", "mc(iterations=20,rollout_depth=20)", "--games", "6", "--seed", "7")
    tables = []
    for name, options in {
        "serial": ("--executor", "serial"),
        "one": ("--executor", "threads", "--workers", "1"),
        "two": ("--executor", "threads", "--workers", "2"),
        "ray": ("--workers", "2"),
    }.items():
        store = f"sqlite:///{name}.db"
        turnier(*command, "--store", store, *options, folder=tmp_path)
        rows = json.loads(turnier("show", "--store", store, "--json", folder=tmp_path))
        tables.append([{k: v for k, v in row.items() if k not in TIMES} for row in rows])
    assert tables[0] == tables[1] == tables[2] == tables[3]
    (mc, random) = sorted(tables[0], key=lambda row: row["label"])
    assert mc["games"] == random["games"] == 6
    assert mc["mean"] > random["mean"] > 0
    assert mc["half_width"] > 0
    assert random["max_tile>=8192"] == 0.0
    assert random["max_tile>=8192_high"] > 0
    shown = turnier("show", "--all", "--store", "sqlite:///ray.db", folder=tmp_path)
    assert "mc(iterations=20)" in shown
    assert "±" in shown
    assert "4096" in shown


def test_the_same_tournament_again_plays_nothing(tmp_path: Path) -> None:
    command = ("tournament", "tictactoe", "random", "mc(iterations=3)", "--games", "8", "--executor", "serial")
    turnier(*command, folder=tmp_path)
    before = turnier("show", "--json", folder=tmp_path)
    assert "8 games were stored already" in turnier(*command, folder=tmp_path)
    assert turnier("show", "--json", folder=tmp_path) == before


def test_compare_says_who_is_stronger_in_one_sentence(tmp_path: Path) -> None:
    agents = ("compare", "random", "mc(iterations=20,rollout_depth=10)", "--game", "2048")
    shown = turnier(*agents, "--executor", "threads", folder=tmp_path)
    assert "random is weaker than mc(iterations=20,rollout_depth=10) at 2048 after 64 games (32 pairs)" in shown
    assert "its mean score differs by -9" in shown and "95 % interval" in shown
    found = json.loads(turnier(*agents, "--executor", "serial", "--json", folder=tmp_path))
    assert (found["verdict"], found["games"], found["games_left"]) == ("weaker", 64, 0.0)
    assert found["sentence"] in " ".join(shown.split("\n"))
    assert -100 < found["estimate"]["difference_percent_low"] < found["estimate"]["difference_percent_high"] < -80
    assert [(row["agent"].split("(")[0], row["failures"]) for row in found["agents"]] == [("random", 0), ("mc", 0)]


def test_a_tournament_shows_ratings_and_who_beats_whom(tmp_path: Path) -> None:
    command = ("tournament", "tictactoe", "random", "mcts(iterations=50)", "mcts(iterations=5)", "--games", "20")
    shown = turnier(*command, "--executor", "threads", folder=tmp_path)
    assert "Rating list" in shown and "Points against" in turnier("show", "--all", folder=tmp_path)
    rows = {row["label"]: row for row in json.loads(turnier("show", "--json", folder=tmp_path))}
    assert rows["mcts(iterations=50)"]["elo"] > rows["random"]["elo_high"]
    assert sum(len(row["pairs"]) for row in rows.values()) == 3
    listed = json.loads(turnier("show", "tictactoe", "--json", folder=tmp_path))
    assert [row["rank"] for row in listed] == [1, 2, 3] and listed[-1]["label"] == "random"
    turnier("show", "--crosstable", "table.csv", folder=tmp_path)
    table = (tmp_path / "table.csv").read_text().splitlines()
    assert table[0].split(",")[0] == "agent" and len(table) == 4


def test_certainty_shows_grids_and_means(tmp_path: Path) -> None:
    """As typed: agreement is 0 for random and 1 for a deterministic agent; the same command shows what is stored."""
    size = ("--states", "3", "--repeats", "4", "--games", "3", "--collector", "mc(iterations=5)", "--seed", "2")
    command = ("certainty", "2048", "random", "greedy", *size)
    shown = turnier(*command, "--executor", "threads", folder=tmp_path)
    assert "normalised of a random agent" in shown and "greedy" in shown
    whole = turnier("show", "--all", folder=tmp_path)
    assert "empty cells" in whole and "legal actions" in whole and "random" in whole
    means = json.loads(turnier(*command, "--json", "--executor", "serial", folder=tmp_path))
    greedy, random = sorted(means["agents"], key=lambda row: row["label"])
    assert greedy["agreement"] == greedy["normalised"] == 1 and greedy["groups"] == random["groups"] > 20
    assert random["agreement_low"] < 0 < random["agreement_high"]
    assert random["normalised_low"] < random["chance_level"] < random["normalised_high"]
    assert random["searches"] == 4 * random["states"] == sum(row["searches"] for row in means["groups"]) / 2
    turnier("certainty", "connect_four", "random", *size, "--executor", "threads", folder=tmp_path)
    many = turnier("show", "--all", folder=tmp_path)
    assert "legal actions" in many and "random" in many and "only one game" in many
    alone = [row for row in means["groups"] if row["states"] == 1]
    assert alone and all(row["normalised_low"] is row["normalised_high"] is None for row in alone)


def test_recorded_games_agree_and_check_finds_a_disagreement(tmp_path: Path) -> None:
    golden = REPO / "tests/data/2048/moves.jsonl"
    assert "all 400 lines agree" in turnier("check", str(golden), "--game", "2048", folder=tmp_path)
    lines = golden.read_text().splitlines()
    wrong = json.loads(lines[4])
    wrong["moves"]["left"]["reward"] += 4
    (tmp_path / "wrong.jsonl").write_text("\n".join([*lines[:4], json.dumps(wrong)]))
    shown = CliRunner().invoke(app, ["check", str(tmp_path / "wrong.jsonl"), "--game", "2048", "--json"])
    assert shown.exit_code == 1
    assert "wrong.jsonl:5: the moves must be" in shown.stdout
