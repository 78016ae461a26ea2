"""What the terminal shows of a run: one table by default, whose names are never left out and never broken."""

from __future__ import annotations

import io
import itertools
import math
import os
import re
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pandas as pd
import pytest

from tests.results.made import DUEL, made
from turnier.core.terminal.console import Console
from turnier.dashboards.kinds.tournament import list_of
from turnier.dashboards.sections import Copy, Section, Text, Title, flat, sections
from turnier.dashboards.tables import MAIN, MINOR, Column, Table
from turnier.dashboards.terminal import forms, letters, print_sections, print_table
from turnier.results.frames import Standings, matches_frame
from turnier.results.store.store import Store
from turnier.runs.results import RunResults
from turnier.statistics.intervals import COUNT

BOTS = (
    "first_bot.py:FirstBot@4b16a9f",
    "mcts(iterations=100,exploration=1.4)",
    "mcts(iterations=200,exploration=1.4)",
    "random",
)
WIDTHS = (40, 60, 80, 200)


def printed(*some: Section, width: int | None, whole: bool = False) -> str:
    paper = io.StringIO()
    with mock.patch.dict(os.environ):
        os.environ.pop("COLUMNS", None)
        print_sections(Console(file=paper, width=width), some, whole)
    return paper.getvalue()


def rating_table(*names: str) -> Table:
    frame = pd.DataFrame({"label": names, "elo": 12.0, "half": 31.0, "games": 1200, "points_share": 0.5, "best": 0.1})
    columns = [
        Column("label", "agent", key=True),
        Column("elo", "Elo", half_width="half", signed=True, importance=MAIN),
        Column("games"),
        Column("points_share", "points", "%", 100),
        Column("best", "best of all", "%", 100, sure=True, importance=MINOR),
    ]
    return Table("Rating list", frame, columns)


@pytest.mark.parametrize("width", WIDTHS)
def test_every_agent_has_its_name_in_a_line_of_its_own(width: int) -> None:
    lines = printed(rating_table(*BOTS), width=width).splitlines()
    assert max(map(len, lines)) <= width and all(line == line.rstrip() for line in lines)
    rule = next(i for i, line in enumerate(lines) if set(line) == {"─"})
    rows, legend = lines[rule + 1 : rule + 5], "\n".join(lines[rule + 5 :])
    for bot, row in zip(BOTS, rows, strict=True):
        name = row.partition("  ")[0]
        assert name == bot or f"{name}:" in legend, row
        assert "+12 ± 31" in row
    assert "".join(legend.replace("\n  ", "").split("\n")).count("exploration=1.4") in (0, 2)


def test_the_least_important_columns_go_first_and_names_are_whole_where_there_is_room() -> None:
    whole, narrow = (printed(rating_table(*BOTS), width=width) for width in (200, 40))
    assert "best of all, %" in whole and all(bot in whole for bot in BOTS) and ": mcts" not in whole
    assert "best" not in narrow and "Elo" in narrow


def test_without_a_terminal_lines_are_as_long_as_what_they_say() -> None:
    name = "mctse(" + ",".join(f"parameter{i}=0.25" for i in range(12)) + ")"
    text = printed(rating_table(name, "random"), Text("word " * 50), width=None)
    assert name in text and "best of all, %" in text and ("word " * 50).rstrip() in text
    assert all(line == line.rstrip() for line in text.splitlines())


@pytest.mark.parametrize("kind", ["tournament", "comparison", "certainty", "study", "training", "experiment"])
def test_every_kind_of_run_fits_the_terminal(store: Store, kind: str) -> None:
    for run in store.runs():
        if run.kind == kind:
            every = flat(sections(RunResults.find(store, run.id)))
            shown = [section for section in every if not isinstance(section, Copy)]
            for width, whole in itertools.product(WIDTHS, (False, True)):
                lines = printed(*shown, width=width, whole=whole).splitlines()
                assert max(map(len, lines)) <= width, (run.id, lines)
                assert lines and all(line == line.rstrip() for line in lines)
                assert width == 40 or not any(re.match(r"[a-z]: ", line) for line in lines), "names are words"


def test_one_table_is_shown_by_default_and_all_of_them_on_request() -> None:
    first, second = rating_table("a"), Table("Other", pd.DataFrame({"b": [1]}), [Column("b", key=True)])
    assert "Other" not in printed(first, second, width=80)
    assert "Other" in printed(first, second, width=80, whole=True)
    assert printed(Title("one"), first, Title("two"), first, width=80).count("Rating list") == 2


def test_names_get_shorter_and_stay_distinct() -> None:
    assert forms(BOTS)[1:] == [["FirstBot@4b16a9f", "mcts iterations 100", "mcts iterations 200", "random"]]
    assert letters(BOTS) == [["FirstBot@4b16a9f", "mcts a", "mcts b", "random"], ["a", "b", "c", "d"]]
    assert forms(["random"]) == [["random"]] and letters(["random"]) == [["a"]]
    assert forms(["x/a.py:Bot", "y/a.py:Bot"]) == [["x/a.py:Bot", "y/a.py:Bot"]]


def test_probabilities_never_read_certain_and_missing_cells_are_empty() -> None:
    frame = pd.DataFrame({"label": ["a", "b"], "best": [1.0, float("nan")]})
    table = Table("t", frame, [Column("label", key=True), Column("best", unit="%", scale=100, sure=True)])
    assert table.texts()["best, %"].tolist() == [">99.9", ""]
    assert table.numbers()["best, %"].iloc[0] == 99.9
    p = Column("p", least=1e-6)
    assert [p.text({"p": one}) for one in (0.0, 0.25)] == ["<0.000001", "0.25"]
    assert Column("elo", signed=True).text({"elo": -24.0}) == "-24", "only some columns have a least value"
    plies = Column("plies", half_width="half", bounds=COUNT)
    assert plies.text({"plies": 28.0, "half": 45.0}) == "28 (0 to 73)"


def test_agents_that_never_met_are_in_groups_and_only_the_first_rows_are_shown(tmp_path: Path) -> None:
    pairs = [("a", "b"), ("b", "c"), ("x", "y")]
    with Store.open(f"sqlite:///{tmp_path}/a.db") as own:
        own.begin_run("tournament:1", "tournament", "t", {})
        own.append("tournament:1", [made(seed, (1.0, -1.0), pair, DUEL) for pair in pairs for seed in range(20)])
        standings = Standings.of(matches_frame(own, run="tournament:1"), pairs=False)
    paper = io.StringIO()
    print_sections(Console(file=paper, width=100), list_of(standings, DUEL), top=2)
    text = " ".join(paper.getvalue().split())
    assert "group" in text and "have not met, even indirectly" in text
    assert "5 rows, of which the first 2 are shown; --rows shows more." in text


def test_control_characters_of_names_are_shown_and_do_nothing() -> None:
    paper = io.StringIO()
    print_table(Console(file=paper, width=60), rating_table("\x1b[31mred\n"))
    assert "\x1b" not in paper.getvalue() and "red" in paper.getvalue()


BASE = """
import importlib.abc, sys
class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in ("altair", "vl_convert", "PIL", "starlette", "markdown_it", "optuna_dashboard"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name == "altair" else found(name, package)
from turnier.commands.runs.show import show
from turnier.results.store.store import Store
from turnier.runs.results import RunResults
with Store.open(sys.argv[1], read_only=True) as store:
    for run in {run.kind: run for run in store.runs()}.values():
        results = RunResults.find(store, run.id)
        show(results)
        shown = results._repr_html_()
        assert "<table" in shown and "<svg" not in shown, run.id
"""


def test_the_base_install_shows_every_kind_of_run_without_pictures(url: str) -> None:
    done = subprocess.run([sys.executable, "-c", BASE, url], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Rating list" in done.stdout and "Held-out games" in done.stdout


@pytest.mark.parametrize(
    ("values", "digits", "shown"),
    [
        ([3.35, 2.1, 1.8], 3, ["3.35", "2.10", "1.80"]),
        ([1.0, 2.4167, 4.0], 3, ["1.00", "2.42", "4.00"]),
        ([15.0, 9.99, 2.0], 3, ["15.0", "10.0", "2.0"]),
        ([16.0, 4.0], 3, ["16", "4"]),  # whole numbers have no decimals
        ([451.0, 39.3, 0.0868], 3, ["451", "39.3", "0.0868"]),  # of different magnitudes
        ([0.0, 0.48, math.nan], 2, ["0.00", "0.48", ""]),
    ],
)
def test_numbers_of_one_magnitude_in_a_column_have_the_same_decimals(
    values: list[float], digits: int, shown: list[str]
) -> None:
    table = Table("numbers", pd.DataFrame({"x": values}), [Column("x", digits=digits)])
    assert table.texts()["x"].tolist() == shown
    assert Table("numbers", table.frame, table.columns).texts()["x"].tolist() == shown


def test_a_claim_has_the_decimals_of_the_interval_beside_it() -> None:
    frame = pd.DataFrame({"held_out": [0.8634], "half": [0.0561], "claimed": [0.86], "luck": [-0.0034]})
    columns = [Column("held_out", half_width="half"), Column("claimed", alike="half"), Column("luck", alike="half")]
    assert Table("claims", frame, columns).texts().iloc[0].tolist() == ["0.863 ± 0.056", "0.860", "-0.003"]
