"""The page of all published figures: shares with their own intervals, and no figure lost that looks like another."""

from __future__ import annotations

import dataclasses

import pytest

from turnier.core.number_text import number
from turnier.runs.experiments.experiment import Experiment
from turnier.runs.experiments.row import Measurement, Row
from turnier.statistics.intervals import share_interval
from turnier.studies.campaigns.outlook import GAMES, Outlook
from turnier.studies.campaigns.published import ratios, section, summary


def outlook_of(row: Row, measured: Measurement, played: int, spent: str) -> Outlook:
    experiment = Experiment("guide", "all-paper", "All", "Text.", (row,))
    return Outlook(experiment, row, measured, played, played, GAMES, 2, [], 0, 1.0, {spent: 1.0})


def share(label: str, agent: str, won: int, games: int, published: float, played: int = 0) -> Outlook:
    row = Row(label, "tictactoe", (agent, "random"), games, published=published)
    measured = Measurement(*(100 * end for end in share_interval(won, games)), games, 1.0)
    return outlook_of(row, measured, played or games, agent)


def test_a_share_has_its_own_interval() -> None:
    text = section([share("never", "mc", 0, 20, 12.0)])
    low, high = (100 * end for end in share_interval(0, 20)[1:])
    assert low == pytest.approx(0.0, abs=1e-9) and high > 12.0  # value ± half would end below 12
    assert f"| never | 0.0 (0.0 to {number(high, high / 2)}) | 12 | agrees |  | 20 |" in text


def test_the_games_are_those_of_the_figure() -> None:
    assert "| first | 50 (30 to 70) | 50 | undecided |  | 20 |" in section(
        [share("first", "mc", 10, 20, 50.0, played=40)]
    )
    few = dataclasses.replace(share("few", "mc", 10, 10, 50.0, played=20), planned=100)
    assert "| higher |  | 10 |" in section([dataclasses.replace(few, planned=20)]), "no more are planned"
    assert "| undecided |  | 10 |" in section([few]) and few.measured.low > 50.0
    assert "| guide | same setting | 1 |  |  |  |  | 1 |  |" in summary([[few]])


def test_figures_of_different_agents_may_look_alike_but_the_same_one_is_shown_once() -> None:
    figure = ratios("guide", [[share("a", "mc", 20, 20, 88.0), share("b", "mcts", 20, 20, 88.0)]])
    assert figure is not None and list(figure.data["label"]) == ["all: a", "all: b"]
    twice = ratios("guide", [[share("a", "mc", 20, 20, 88.0)], [share("again", "mc", 20, 20, 88.0)]])
    assert twice is not None and list(twice.data["label"]) == ["all: a"]


def test_a_figure_of_one_agent_counts_once_however_its_parameters_are_written() -> None:
    def alone(label: str, agent: str) -> Outlook:
        row = Row(label, "2048", (agent,), 20, "score", published=900.0)
        return outlook_of(row, Measurement(880.0, 800.0, 960.0, 20, 1.0), 20, "these games")

    rows = [alone("a", "mc(iterations=2)"), alone("b", "mc(iterations=2,rollout_depth=20)")]
    assert "| guide | same setting | 1 |" in summary([rows])
    several = [share("a", "mc", 20, 20, 88.0), share("b", "mcts", 20, 20, 88.0)]
    played_together = [dataclasses.replace(row, spent={"these games": 1.0}) for row in several]
    assert "| guide | same setting | 2 |" in summary([played_together])
