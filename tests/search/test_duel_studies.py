"""Studies whose candidates duel: a verdict against the start, what is said while they run, and how they go on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from turnier.arena.workers.local import SerialExecutor
from turnier.arena.workers.where import Where
from turnier.commands.app import app
from turnier.core.terminal.console import Console
from turnier.dashboards.summaries.held_out import held_out_table
from turnier.dashboards.terminal import print_table
from turnier.results.store.store import Store
from turnier.search import LUCKY_EDITION
from turnier.search.definition import StudyDefinition
from turnier.search.storage.hints import hints
from turnier.search.storage.studies import StoredStudy
from turnier.search.study import Study
from turnier.search.study_run import StudyRun
from turnier.statistics.sprt import elo_of_share
from turnier.statistics.superiority import ALPHA
from turnier.studies.verdicts import against_start, simulate_study

WORDS = ("tictactoe", "mc(iterations=1)", "iterations=1..60")


def test_the_proposal_plays_a_match_against_the_start(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        results = Study(*WORDS, budget=64, name="one").run(store, where=Where("serial"), progress=False)
        verdict = results.verdict
        assert verdict is not None and [row.label for row in verdict.figures] == ["start", "proposed"]
        assert verdict.improved and verdict.direct and verdict.confidence == pytest.approx(0.9)
        assert verdict.games == 2 * verdict.units == results.frame()["match"].nunique() - 64
        assert verdict.difference is not None and verdict.elo is not None
        assert verdict.elo[0] == pytest.approx(elo_of_share(0.5 + verdict.difference / 100))
        assert verdict.elo[1] > 0 and " (90 %: " in verdict.sentence and " Elo (" in verdict.sentence
        assert verdict.sentence.endswith(f" over start, {verdict.games} held-out games.")
        console = Console(record=True, width=120)
        print_table(console, held_out_table(verdict, "share of points"))
        shown = console.export_text()
        assert "claimed" not in shown and "luck" not in shown and "Elo" in shown
        assert [row.reference for row in type(verdict).from_json(verdict.to_json()).figures] == [True, False]


def test_studies_of_an_earlier_edition_keep_their_finalists(tmp_path: Path) -> None:
    known = StudyDefinition("old", *WORDS[:2], (WORDS[2],), "cmaes(population=8)", edition=LUCKY_EDITION)
    labels = []
    for definition in (known, replace(known, name="new", edition=LUCKY_EDITION + 1)):
        study = StudyRun(Store.open(f"sqlite:///{tmp_path}/a.db"), definition, progress=False)
        study.run(2, SerialExecutor())
        final = study.compare(study.course.finalists(), SerialExecutor(), 0.1)
        labels.append([row.label for row in final.figures])
        assert final.verdict.confidence == pytest.approx(0.95 if definition is known else 0.9)
    assert len(labels[0]) > 2 and labels[1] == ["start", "proposed"]


def test_the_whole_error_is_spent_and_shows_20_elo() -> None:
    rng = np.random.default_rng(1)

    def shown(gain: float, studies: int) -> float:
        play = against_start(rng, gain)
        found = [simulate_study(play, ("proposed",), ("start",), 1500, unit_games=2, free=1) for _ in range(studies)]
        return float(np.mean([one.better is not None for one in found]))

    assert abs(shown(0, 400) - ALPHA) < 2.5 * (ALPHA * (1 - ALPHA) / 400) ** 0.5
    assert shown(20, 100) > 0.7


def test_hints_of_duels() -> None:
    """Candidates repeat by design; a mean of points is at a border of which it is within reach."""
    trials = pd.DataFrame({"group": [0.0] * 8, "value": [0.5, 1.0] * 4, "other": np.nan, "exploration": [1.0, 2.0] * 4})
    trials.attrs["parameters"] = ["exploration"]
    noted = pd.DataFrame({"sigma": [0.15] * 12, "agreement": [np.nan, *[-1.0] * 10, -2.5]})
    study = {"agent": "mcts", "parameters": ["exploration=1..2"], "sampler": "duels(pairs=16,length=100)"}
    found = hints(trials, noted, study, {"exploration": 1.95})
    assert len(found) == 2 and found[0].startswith("At the border of what was searched: exploration 2 of 1..2")
    assert found[1].startswith("Duels between candidates and games against the opponents favour different changes")
    assert hints(trials, noted.assign(agreement=-1.9), study, {"exploration": 1.8}) == []
    assert any(hint.startswith("A plateau") for hint in hints(trials, noted, study | {"sampler": "cmaes"}, {}))


class Killed(BaseException):
    """Ends a command at once."""


def tune(url: str, game: Sequence[str], budget: int, name: str) -> dict[str, Any]:
    words = ["tune", *game[:2], "--params", *game[2:], "--budget", str(budget), "--name", name, "--json"]
    found = CliRunner().invoke(app, [*words, "--store", url, "--executor", "serial"], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    told: dict[str, Any] = json.loads(found.stdout)
    return told


AHEAD = (*WORDS, "--sampler", "duels(share=0.3,ahead=true)", "--against", "random")


@pytest.mark.parametrize(
    "game", [WORDS, AHEAD, ("2048(size=2)", "mc(iterations=1)", "rollout_depth=0..20")], ids=["duels", "ahead", "cmaes"]
)
def test_more_games_continue_a_study_that_was_stopped(
    tmp_path: Path, game: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    _continued(f"sqlite:///{tmp_path}/a.db", game, monkeypatch)


def test_more_games_continue_duels_on_a_server(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _continued(postgres_url, AHEAD, monkeypatch)


def _continued(url: str, game: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """The same search, stopped between two of its commits or not, with the population of its first budget."""
    whole = [tune(url, game, budget, "whole") for budget in (64, 128)][1]
    calls, add = [0], StoredStudy.add_trials

    def adds(study: StoredStudy, new: Any) -> None:
        calls[0] += 1
        if calls[0] == 2:
            raise Killed
        add(study, new)

    tune(url, game, 64, "stopped")
    monkeypatch.setattr(StoredStudy, "add_trials", adds)
    with pytest.raises(Killed):
        tune(url, game, 128, "stopped")
    stopped = tune(url, game, 128, "stopped")
    assert stopped["games"] == whole["games"] > 64 and stopped["sampler"] == whole["sampler"]
    assert stopped["parameters"] == whole["parameters"]
    with Store.open(url, read_only=True) as store:
        frames = [Study.reopened(store, store.find_run(f"study:{name}")).trials() for name in ("whole", "stopped")]
    pd.testing.assert_frame_equal(*(frame[["value", *frame.attrs["parameters"]]] for frame in frames))
