"""The progress bar in a notebook: one output that is redrawn in place."""

from __future__ import annotations

import re
import sys
import types
from dataclasses import dataclass, field
from typing import Any

import pytest
from rich.console import Console

from turnier.arena.workers.local import SerialExecutor
from turnier.arena.workers.work_done import UnderWay
from turnier.runs.bar import _html, game_bar, one_by_one


@dataclass
class Output:
    """What IPython returns for an output that can be updated."""

    shown: list[str] = field(default_factory=list)

    def update(self, html: str) -> None:
        self.shown.append(re.sub("<[^>]*>", "", html))


@pytest.fixture
def outputs(monkeypatch: pytest.MonkeyPatch) -> list[Output]:
    """A notebook: what it displays, output by output."""
    found: list[Output] = []

    def display(html: str, display_id: bool = False) -> Output:
        assert display_id
        found.append(Output())
        found[-1].update(html)
        return found[-1]

    module: Any = types.ModuleType("IPython.display")
    module.display, module.HTML = display, str
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    return found


def test_a_notebook_shows_one_output_that_ends_complete(outputs: list[Output]) -> None:
    with game_bar("2048", 3, Console(force_jupyter=True)) as bar:
        for _ in range(3):
            bar.advance(1)
        bar.note("all of them")
    (output,) = outputs
    assert output.shown[0] == "" and re.search(r"^2048 ━+ 3/3 .*all of them", output.shown[-1])


def test_lines_of_a_search_are_one_line_that_changes(outputs: list[Output]) -> None:
    with game_bar("2048", 2, Console(force_jupyter=True)) as bar:
        for generation in (1, 2):
            bar.print(f"generation {generation}")
            bar.advance(1)
    (output,) = outputs
    assert output.shown[-1].rstrip().endswith("generation 2") and "generation 1" not in output.shown[-1]


def test_a_bar_that_is_stopped_says_how_far_it_was(outputs: list[Output]) -> None:
    def stopped() -> None:
        with game_bar("2048", 3, Console(force_jupyter=True)) as bar:
            bar.advance(1)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert "1/3" in outputs[0].shown[-1]


def test_outside_of_notebooks_and_where_no_bar_is_wanted_nothing_is_displayed(outputs: list[Output]) -> None:
    for console in (None, Console(quiet=True, force_jupyter=False)):
        with game_bar("2048", 1, console) as bar:
            bar.advance(1)
    assert not outputs


def test_what_is_read_one_by_one_is_counted(capfd: pytest.CaptureFixture[str]) -> None:
    assert list(one_by_one("abc", "reading results", "experiments")) == ["a", "b", "c"]
    shown = capfd.readouterr().err
    assert "reading results" in shown and "3/3" in shown


class Playing(SerialExecutor):
    """Has batches in flight."""

    known = UnderWay()

    def under_way(self) -> UnderWay:
        return self.known


def test_a_bar_shows_what_is_over_before_it_is_stored(outputs: list[Output]) -> None:
    executor = Playing()
    with game_bar("2048", 9, Console(force_jupyter=True)) as bar:
        bar.follow(executor)
        executor.known = UnderWay(1234, 0)
    assert "0/9" in outputs[0].shown[-1] and "1,234 decisions so far" in outputs[0].shown[-1]
    with game_bar("2048", 9, Console(force_jupyter=True)) as bar:
        bar.follow(executor)
        bar.advance(2)
        executor.known = UnderWay(5678, 3)
    assert "5/9" in outputs[1].shown[-1]
    with game_bar("2048", 9, Console(force_jupyter=True)) as bar:
        bar.follow(executor)
        outputs[2].update(_html(bar._progress, ""))
        executor.known = UnderWay()  # the batch is done, and its games are counted as soon as they are stored
        outputs[2].update(_html(bar._progress, ""))
        bar.advance(3)
    assert all("3/9" in shown for shown in outputs[2].shown[1:])
