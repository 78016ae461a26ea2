"""Campaigns: what is played, in which order, how far, and what is refused."""

from __future__ import annotations

import dataclasses
import math
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.studies.campaign_figures import (
    CERTAIN,
    FIGURES,
    FIRST,
    LEARNED,
    LEARNER,
    LONG,
    NEAR,
    SCORE,
    SECOND,
    opened,
    pages,
    play,
)
from turnier.arena.match import MatchRecord, MatchSpec, Termination
from turnier.arena.workers.executor import Task
from turnier.arena.workers.local import SerialExecutor
from turnier.core.errors import UserError
from turnier.results.store.store import Store
from turnier.runs.experiments.experiment import (
    begin_experiment,
    measurements,
    play_experiment,
    row_matches,
    row_records,
    row_searches,
)
from turnier.runs.experiments.published import verdict
from turnier.runs.experiments.row import Row
from turnier.studies.campaigns.campaign import FIRST_GAMES, Campaign
from turnier.studies.campaigns.outlook import in_slices, outlook, outlooks, seconds_left
from turnier.studies.campaigns.statements import LEAST_GAMES


def test_every_row_ends_with_what_it_needs(played: Path) -> None:
    with opened(played) as store:
        rows = [row for rows in outlooks(FIGURES, store) for row in rows]
        near, openings, length, score, easy = rows[:5]
        assert not any(row.missing for row in rows) and seconds_left(rows) == 0
        for row in (near, easy):
            assert not row.lacks_verdict and row.measured.high - row.measured.low <= 20
        assert near.played > 50 and near.planned == 10, "the planned games leave an interval wider than 20 points"
        assert easy.played < easy.planned, "never more than needed"
        assert openings.played == openings.planned == 20 and length.played == 30
        assert score.measured.high - score.measured.low <= 2 * 30 and score.verdict in ("agrees", "higher", "lower")
        assert {run.id for run in store.runs()} == {figure.run_id for figure in FIGURES}
        assert store.match_counts()["guide:second-paper"] == near.played + 2, "games of others belong to this run, too"
        figures = measurements(FIRST, store)
    assert figures[0].games == near.played and verdict(NEAR, figures[0]) == near.verdict


def test_first_slices_of_published_rows_come_first_and_slices_are_prefixes(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store, SerialExecutor() as pool:
        campaign, kept = Campaign(store, FIGURES, tmp_path), list[tuple[str, list[str]]]()
        slices = campaign._slice

        def noted(row, workers, left):  # type: ignore[no-untyped-def]
            specs = slices(row, workers, left)
            kept.append((row.row.label, [spec.id for spec in specs]))
            return specs

        campaign._slice = noted  # type: ignore[method-assign]
        campaign.run(pool)
        published = ["near", "score", "easy", "certainty", "certainty"]  # "easy" has two games of "openings"
        assert [label for label, _ in kept[:5]] == published
        labels = [label for label, _ in kept]
        later = labels.index("length")
        assert [len(ids) for _, ids in (*kept[:3], kept[later])] == [FIRST_GAMES] * 4
        assert kept[3][1] == [spec.id for spec in row_matches(CERTAIN, 5)]
        order = [one for label, ids in kept if label == "near" for one in ids]
        assert order == [spec.id for spec in row_matches(dataclasses.replace(NEAR, games=len(order)), 5)]
        assert later > max(i for i, label in enumerate(labels) if label in ("near", "easy", "score"))
        records = row_records(CERTAIN, 5, store)
        searches = in_slices(CERTAIN, row_searches(CERTAIN, 5, records))
        others = {one for label, ids in kept if label == "values" for one in ids}  # some of them are the same
        expected = [s.id for s in searches if s.id not in others]
        done = [one for label, ids in kept[4:] if label == "certainty" for one in ids]
        assert [one for one in done if one not in others] == expected
        groups = {(len(s.position.legal), s.position.phase) for s in searches}
        assert {(len(s.position.legal), s.position.phase) for s in searches[: 3 * len(groups)]} == groups


def test_slices_fill_the_lanes_however_long_games_take(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store, SerialExecutor() as pool:
        for agent, size in (("mc(iterations=2)", 2 * 64), ("random", 2)):
            row = Row(agent, "2048(size=3)", (agent,), 200, "score")
            experiment = dataclasses.replace(FIRST, name=agent[:2] + "-paper", rows=(row,))
            campaign, run_id = Campaign(store, (experiment,), tmp_path), begin_experiment(experiment, store)
            for records in pool.play(row_matches(row, FIRST.seed)[:LEAST_GAMES]):
                store.append(run_id, records)
            played = dataclasses.replace(outlook(experiment, row, store), seconds_each=10_000.0)
            assert len(campaign._slice(played, workers=2, left=math.inf)) == size


class Killed(SerialExecutor):
    """Ends like a killed process after some batches, the last of which is lost."""

    def __init__(self, batches: int) -> None:
        super().__init__()
        self.left = batches

    def submit(self, do: Task, batch: list[Any]) -> int:
        ticket = super().submit(do, batch)
        self.left -= 1
        if not self.left:
            raise RuntimeError("killed")
        return ticket


def test_pages_do_not_say_where_networks_lie(tmp_path: Path, played: Path) -> None:
    with opened(played) as store:
        shown = pages(store, tmp_path)
    assert all("ntuple(file=tictactoe-" in page and str(played) not in page for page in shown)


def test_killed_campaigns_play_nothing_twice_and_end_alike(tmp_path: Path, played: Path) -> None:
    kills = 0
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store, opened(played) as whole:
        while True:
            try:
                Campaign(store, FIGURES, played / "nets").run(Killed(12))
                break
            except RuntimeError:
                kills += 1
        assert kills > 3
        assert store.match_counts() == whole.match_counts() and store.searches.counts() == whole.searches.counts()
        for run in whole.runs():
            ids, known = ({r.spec.id for rs in s.records_of_run(run.id) for r in rs} for s in (store, whole))
            assert ids == known
        with Store.open(f"sqlite:///{tmp_path}/a.db") as again:
            before = again.stored_counts()
            play(again, played / "nets")
            assert again.stored_counts() == before


def test_another_experiment_of_the_name_is_refused_before_anything_is_played(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        with SerialExecutor() as pool:
            list(play_experiment(dataclasses.replace(FIRST, seed=6), store, pool))
        with pytest.raises(UserError, match="must keep its definition"):
            Campaign(store, FIGURES, tmp_path)


@pytest.mark.parametrize("change", ["games", "measure", "opponent", "row", "learner", "agent", "opening"])
def test_another_experiment_on_networks_is_refused_before_anything_is_trained(
    tmp_path: Path, played: Path, change: str
) -> None:
    *learned, plain = LEARNED.rows
    row, learner = learned[0].row, dataclasses.replace(LEARNER, seed=2)
    first = {
        "games": dataclasses.replace(learned[0], row=dataclasses.replace(row, games=8)),
        "measure": dataclasses.replace(learned[0], row=dataclasses.replace(row, measure="plies")),
        "opponent": dataclasses.replace(learned[0], row=dataclasses.replace(row, agents=("mc",))),
        "learner": dataclasses.replace(learned[0], learner=learner),
        "agent": dataclasses.replace(learned[0], agent="mcts(iterations=9,evaluator={network})"),
        "opening": dataclasses.replace(learned[0], row=dataclasses.replace(row, openings=1)),
    }.get(change)
    rows = [*([first] if first else []), *learned[1:], plain]
    shutil.copy(played / "all.db", tmp_path / "a.db")
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        Campaign(store, [LEARNED], tmp_path / "nets")
        with pytest.raises(UserError, match=r"'guide:learned-paper' must keep its definition, .* turnier runs delete"):
            Campaign(store, [dataclasses.replace(LEARNED, rows=rows)], tmp_path / "nets")
    assert not (tmp_path / "nets").exists()


def test_games_that_an_agent_failed_in_are_played_again(tmp_path: Path) -> None:
    alone = dataclasses.replace(FIRST, rows=(LONG,))

    class Failing(SerialExecutor):
        def play(self, specs: Iterable[MatchSpec]) -> Iterator[list[MatchRecord]]:
            first, *rest = [record for records in super().play(specs) for record in records]
            failed = {"termination": Termination.ERROR, "error": "gone"}
            yield [first, *(dataclasses.replace(record, **failed) for record in rest)]

    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        with Failing() as pool, pytest.raises(UserError, match=r"must have a result, got error \(gone\); fix the game"):
            Campaign(store, [alone], tmp_path).run(pool)
        stored = store.match_counts()[alone.run_id]
        before = outlook(alone, LONG, store)
        assert 0 < before.played < stored and before.measured.games == before.played
        with SerialExecutor() as pool:
            Campaign(store, [alone], tmp_path).run(pool)
        assert outlook(alone, LONG, store).measured.games == LONG.games


def test_a_narrower_interval_needs_more_games(tmp_path: Path, played: Path) -> None:
    with opened(played) as store:
        few, many = (outlook(FIRST, NEAR, store, width) for width in (10.0, 5.0))
    half = (many.measured.high - many.measured.low) / 2
    wanted = many.played + len(many.missing)
    assert not few.missing and wanted == pytest.approx(many.played * (half / 5) ** 2, abs=2) and many.now > 0
    assert many.seconds_left == pytest.approx(len(many.missing) * many.seconds_each)


def test_rows_of_certainty_that_statements_compare_search_all_positions(tmp_path: Path) -> None:
    planned = dataclasses.replace(CERTAIN, states=8)
    alone = dataclasses.replace(FIRST, rows=(planned,))
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store, SerialExecutor() as pool:
        Campaign(store, [alone], tmp_path, width=1000.0).run(pool)
        narrow, compared = (outlook(alone, dataclasses.replace(planned, extended=is_), store, 1000.0) for is_ in (0, 1))
    assert not narrow.missing and narrow.played < narrow.planned
    assert narrow.played + len(compared.missing) == compared.planned and compared.now == len(compared.missing)


def test_more_positions_have_those_of_earlier_looks_among_them(played: Path) -> None:
    with opened(played) as store:
        records = row_records(CERTAIN, SECOND.seed, store)
    few, more = (row_searches(dataclasses.replace(CERTAIN, states=n), SECOND.seed, records) for n in (2, 8))
    assert {search.id for search in few} < {search.id for search in more}


def test_two_games_do_not_put_a_row_last(tmp_path: Path) -> None:
    """Their variance may say that thousands are needed; until LEAST_GAMES are played, only those count."""
    planned = dataclasses.replace(SCORE, games=100)
    games = row_matches(planned, FIRST.seed)
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store, SerialExecutor() as pool:
        run_id = begin_experiment(FIRST, store)
        for played in (2, LEAST_GAMES):
            for records in pool.play(games[:played]):
                store.append(run_id, records)
            row = outlook(FIRST, planned, store, width=0.1)
            assert len(row.missing) > 10 * LEAST_GAMES
            ahead = LEAST_GAMES - 2 if played == 2 else len(row.missing)
            assert row.seconds_ahead == pytest.approx(ahead * row.seconds_each)
