"""Forecasts of studies: what they say, and that simulated verdicts keep to it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from turnier.commands.app import app
from turnier.core.errors import UserError
from turnier.results.store.store import Store
from turnier.search.storage.forecast import Forecast, Sample, missed_elo, smallest_gain
from turnier.search.study import Study
from turnier.statistics.sprt import elo_of_share
from turnier.studies.verdicts import DRAWS, against_start, simulate_study


def forecast(*words: str, sample: Sample | None = None, **options: object) -> Forecast:
    settled = Study(*words, **options).question.settled(2000)  # type: ignore[arg-type]
    return Forecast(settled, 2, 2000, 2000, sample)  # type: ignore[arg-type]


def test_a_forecast_says_what_is_found_and_shown() -> None:
    words = "tictactoe", "mcts", "exploration,iterations"
    said = forecast(*words).sentence()
    assert said.startswith(
        "2,000 games of duels should miss about 1.3 Elo of what 2 parameters can gain; 2,000 held-out"
    )
    assert "show a gain of 20 Elo in four of five studies" in said
    against = forecast(*words, against=["random"])
    assert against.games_for(0.1) == pytest.approx(4 * (forecast(*words).games_for(0.1) or 0), abs=4)
    scores = "2048", "mc(iterations=2)", "rollout_depth"
    assert forecast(*scores).sentence() == ""
    assert forecast(*scores, sampler="gp", noise="fixed(games=5)").sentence() == ""
    many = forecast(*scores, sampler="gp", noise="fixed(games=1)").sentence()
    assert many == "2,000 candidates of gp take up to 2 minutes of one core beside their games; cmaes takes seconds."
    known = forecast(*scores, sample=Sample(23, 0.002, 1000.0, 500.0))
    assert known.sentence() == "2,000 held-out games show a gain of 5.9 % in four of five studies."
    assert "23 games were measured): 4,000 games take about 4 s on 2 workers." in known.sentences(2)[1]
    assert 2 * missed_elo(6, 5000) == pytest.approx(missed_elo(12, 5000)) and missed_elo(6, 1000) > missed_elo(6, 5000)


def test_simulated_verdicts_show_what_was_said() -> None:
    """Four of five studies, give or take three standard errors."""
    games, deviation = 2400, 0.5 * (1 - DRAWS) ** 0.5 / 2**0.5
    gain, rng = elo_of_share(0.5 + smallest_gain(games / 2, deviation)), np.random.default_rng(5)
    ended = [
        simulate_study(against_start(rng, gain), ("proposed",), ("start",), games, unit_games=2, free=1)
        for _ in range(300)
    ]
    assert np.mean([one.better is not None for one in ended]) == pytest.approx(0.8, abs=0.07)


def test_a_plan_is_made_without_a_study(tmp_path: Path) -> None:
    words = "tune", "tictactoe", "mc(iterations=1)", "--params", "iterations=1..60", "--budget", "5000", "--plan"
    place = "--store", f"sqlite:///{tmp_path}/a.db", "--executor", "serial", "--workers", "1"
    shown = CliRunner().invoke(app, [*words, *place], catch_exceptions=False).stdout
    assert "games were measured): 10,000 games take about" in shown and "on 1 worker." in shown
    assert "Held-out games with which four of five studies show a gain: " in shown and " for 20 Elo" in shown
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        assert store.runs() == []
    with pytest.raises(UserError, match="a plan is made for studies of strength only"):
        Study(*words[1:3], "iterations=1..60", objectives="strength,time").forecast()
