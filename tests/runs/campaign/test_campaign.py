"""Campaigns: what is played, in which order, how far; exported without moves, imported elsewhere, continued."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from turnier.arena.match import MatchRecord, MatchSpec, Termination, moves_kept
from turnier.arena.match_json import disagreement, from_json, to_json
from turnier.arena.reanalysis import Reanalysis
from turnier.arena.workers.executor import Task
from turnier.arena.workers.local import SerialExecutor
from turnier.core.array_files import write_arrays
from turnier.core.errors import UserError
from turnier.dashboards.reports.document import write_report
from turnier.dashboards.reports.run import write_run_report
from turnier.results.export import export
from turnier.results.repair.inspection import inspect_store
from turnier.results.store.store import Store
from turnier.runs.campaign.campaign import FIRST_GAMES, Campaign
from turnier.runs.campaign.games_file import export_games, import_games
from turnier.runs.campaign.outlook import LEAST_GAMES, in_slices, outlook, outlooks, seconds_left
from turnier.runs.experiment import (
    Experiment,
    Row,
    begin_experiment,
    measurements,
    play_experiment,
    row_matches,
    row_records,
    row_searches,
    verdict,
)
from turnier.runs.trained_experiment import LearnedRow, Learner, TrainingStudy

SEARCH = "mc(iterations=10,rollout_depth=9)"
NEAR = Row("near", "tictactoe", ("mc(iterations=2)", "random"), 10, published=60.0)
EASY = Row("easy", "tictactoe", (SEARCH, "random"), 200, published=70.0)
OPEN = Row("openings", "tictactoe", ("random", SEARCH), 1, openings=1)
LONG = Row("length", "tictactoe", ("random", "random"), 30, "plies")
SCORE = Row("score", "2048(size=3)", ("random",), 10, "score", published=300.0)
CERTAIN = Row("certainty", "2048(size=3)", ("mc(iterations=2)",), 2, "normalised_certainty", 50.0, states=2, repeats=3)
VALUE = Row("values", "2048(size=3)", ("mc(iterations=2)",), 2, "mean_value", states=2, repeats=2, moves=(2, 9))
FIRST = Experiment("guide", "first-paper", "First", "Text.", (NEAR, OPEN, LONG, SCORE, EASY), seed=5)
SECOND = Experiment("guide", "second-paper", "Second", "Text.", (CERTAIN, VALUE, NEAR), seed=5)
LEARNER = Learner("tictactoe", "ntuple(tuples=4,length=4)", "td(epsilon=0.3,epsilon_end=0)", 100, points=2)
LEARNED = TrainingStudy(
    "guide", "learned-paper", "Learned", "Text.",
    [*(LearnedRow(Row(f"{p}", "tictactoe", ("random",), 6, x=p), LEARNER, p) for p in LEARNER.places), OPEN],
)  # fmt: skip
FIGURES = (FIRST, SECOND, LEARNED)


def play(store: Store, folder: Path) -> None:
    with SerialExecutor() as pool:
        Campaign(store, FIGURES, folder).run(pool)


def pages(store: Store, folder: Path) -> list[str]:
    return [page.read_text() for page in write_report(store, "guide", folder)]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a played campaign: all.db, nets, and its export."""
    folder = tmp_path_factory.mktemp("campaign")
    with Store.open(f"sqlite:///{folder}/all.db") as store:
        play(store, folder / "nets")
        (folder / "export").mkdir()
        for run in store.runs():
            export_games(store, run, folder / "export")
    return folder


def opened(played: Path) -> Store:
    return Store.open(f"sqlite:///{played}/all.db", read_only=True)


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
                Campaign(store, FIGURES, played / "nets").run(Killed(20))
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


def test_an_import_continues_and_reports_alike(url: str, tmp_path: Path, played: Path) -> None:
    """The same page, times included; a second export gives the same bytes; nothing is left to play or to train."""
    with Store.open(url) as store, opened(played) as original:
        files = sorted((played / "export").iterdir())
        assert [file.name for file in files] == [f"guide-{name}-paper.npz" for name in ("first", "learned", "second")]
        assert all(file.stat().st_size < 12_000 for file in files)
        created = {run.id.replace(":", "-"): run.created for run in original.runs()}
        assert sum(import_games(store, f, played / "nets") for f in sorted(files, key=lambda f: created[f.stem])) > 100
        assert [import_games(store, file, played / "nets") for file in files] == [0, 0, 0]
        assert pages(store, tmp_path / "a") == pages(original, tmp_path / "b")
        assert store.match_counts() == original.match_counts()
        before = store.stored_counts()
        play(store, tmp_path / "elsewhere")
        assert store.stored_counts() == before and not (tmp_path / "elsewhere").exists()
        (tmp_path / "again").mkdir()
        for run in store.runs():
            assert (
                export_games(store, run, tmp_path / "again").read_bytes()
                == (played / "export" / f"{run.id.replace(':', '-')}.npz").read_bytes()
            )


def test_an_import_into_a_store_that_has_a_part(tmp_path: Path, played: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        part = dataclasses.replace(FIRST, document="other", rows=(LONG, SCORE))
        with SerialExecutor() as pool:
            known = sum(len(records) for records in play_experiment(part, store, pool))
        kept = store.records_of_run(part.run_id)
        before = {record.spec.id: record for records in kept for record in records}
        new = import_games(store, played / "export/guide-first-paper.npz", tmp_path)
        assert known == 40 and new == store.match_counts()[FIRST.run_id] - known
        assert all(store.record(match_id) == record for match_id, record in before.items()), "they have their moves"


def test_searches_imported_without_visits_are_repeated_for_a_row_of_visits(tmp_path: Path) -> None:
    """Two experiments share searches, but the export of the first has only what they chose."""
    planned = dataclasses.replace(CERTAIN, published=None)
    chosen, visited = (
        Experiment("guide", f"{measure}-paper", "T", "Text.", (dataclasses.replace(planned, measure=measure),))
        for measure in ("certainty", "visits_1")
    )
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store, SerialExecutor() as pool:
        list(play_experiment(chosen, store, pool))
        export_games(store, store.run(chosen.run_id), tmp_path)
        list(play_experiment(visited, store, pool))
        whole, certain = measurements(visited, store), measurements(chosen, store)
    for name in ("script", "campaign"):
        with Store.open(f"sqlite:///{tmp_path}/{name}.db") as store, SerialExecutor() as pool:
            import_games(store, tmp_path / "guide-certainty-paper.npz", tmp_path)
            assert outlook(visited, visited.rows[0], store).played == 0
            if name == "script":
                list(play_experiment(visited, store, pool))
            else:
                Campaign(store, [visited], tmp_path).run(pool)
            again = measurements(visited, store)
            assert [(row.value, row.games) for row in again] == [(row.value, row.games) for row in whole]
            assert again[0].games > 0 and again[0].value > 0
            assert import_games(store, tmp_path / "guide-certainty-paper.npz", tmp_path) == 0
            assert measurements(visited, store) == again, "an import takes no visits away"
            assert [row.value for row in measurements(chosen, store)] == [row.value for row in certain]
        assert inspect_store(f"sqlite:///{tmp_path}/{name}.db") == []


def test_networks_may_lie_elsewhere(tmp_path: Path, played: Path) -> None:
    """Trained again in another folder they are the same, and so are their games."""
    path = played / "export/guide-learned-paper.npz"
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        import_games(store, path, tmp_path / "nets")
        assert str(tmp_path) in str(store.run(LEARNED.run_id).definition)
        before = store.stored_counts()[LEARNED.run_id]
        with SerialExecutor() as pool:
            Campaign(store, [LEARNED], tmp_path / "other").run(pool)
        assert store.stored_counts()[LEARNED.run_id] == before
        (tmp_path / "again").mkdir()
        assert export_games(store, store.run(LEARNED.run_id), tmp_path / "again").read_bytes() == path.read_bytes()
        assert import_games(store, path, tmp_path / "third") == 0, "the stored run keeps its folder"
    assert str(played) not in np.load(path)["about"].tobytes().decode()
    with Store.open(f"sqlite:///{tmp_path}/b.db") as store, SerialExecutor() as pool:
        trained = Campaign(store, [LEARNED], tmp_path / "nets")
        assert trained.trainings and trained.trainings[0].folder == tmp_path / "nets"
        trained.run(pool)
        assert import_games(store, path, tmp_path / "nets") == 0, "the same ids: nothing is new"


def test_games_without_moves_say_so(tmp_path: Path, played: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        for path in (played / "export").iterdir():
            import_games(store, path, tmp_path)
        run = store.run(FIRST.run_id)
        (records, *_) = store.records_of_run(run.id)
        with opened(played) as original:
            assert original.records([r.spec.id for r in records]) == [
                dataclasses.replace(r, plies=o.plies)
                for r, o in zip(records, original.records([r.spec.id for r in records]), strict=True)
            ]
        for record in records:
            assert not moves_kept(record.plies)
            for use in (Reanalysis, disagreement):
                with pytest.raises(UserError, match="imported without them"):
                    use(record)
            assert from_json(json.loads(json.dumps(to_json(record)))) == record
        assert export(store, run, tmp_path / "games.csv") and export(store, run, tmp_path / "games.jsonl")
        assert write_run_report(store, run.id, tmp_path / "pages").exists()
        store.begin_run("play:/../../x", "play", "2048", {})
        page = write_run_report(store, "play:/../../x", tmp_path / "pages")
        assert page.parent == tmp_path / "pages" and page.name == "play-..-..-x.html", "ids are any text"
        assert not store.database.structure()


@pytest.mark.parametrize("name", ["first", "second", "learned"])
def test_damaged_files_are_refused(tmp_path: Path, played: Path, name: str) -> None:
    whole = (played / f"export/guide-{name}-paper.npz").read_bytes()
    file, random = tmp_path / "a.npz", np.random.default_rng(1)
    reasons = []
    for number, place in enumerate(random.integers(len(whole), size=30).tolist()):
        file.write_bytes(whole[:place] + bytes((whole[place] ^ 1 << int(random.integers(8)),)) + whole[place + 1 :])
        with Store.open(f"sqlite:///{tmp_path}/{number}.db") as store:
            try:
                import_games(store, file, tmp_path)
            except UserError as failure:
                reasons.append(str(failure))
                assert store.runs() == []
                continue
            (run,) = store.runs()  # the bit says nothing, such as one of a date
            assert export_games(store, run, tmp_path).read_bytes() == whole
    assert len(reasons) > 15 and all("must be a whole export of a campaign" in reason for reason in reasons)
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        file.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(UserError, match="must be a whole export"):
            import_games(store, file, tmp_path)


def test_foreign_files_and_other_definitions_are_refused(tmp_path: Path, played: Path) -> None:
    path = played / "export/guide-first-paper.npz"
    arrays = dict(np.load(path))
    about = json.loads(arrays["about"].tobytes())
    other = json.loads(json.dumps(about))
    other["definition"]["rows"][0]["agents"][0] = "mc(iterations=11)"
    longer = about["definition"] | {"seed": 6}
    cases = {
        "it is not one": {"weights": np.zeros(3)},
        "version 1 of the format, got 2": arrays | {"about": _text(about | {"version": 2})},
        "its definition has other games": arrays | {"about": _text(other)},
        "other games here": arrays | {"about": _text(about | {"definition": longer})},
        "the entry score must have": arrays | {"score": arrays["score"][:-1]},
        "must name texts": arrays | {"facts_codes": arrays["facts_codes"] + 99},
        "facts of a game must be named": arrays | {"facts_values": np.full(len(arrays["facts_values"]), "[]")},
        "Invalid isoformat": arrays | {"about": _text(about | {"created": "abc"})},
        "'lost' is not a valid": arrays | {"termination_values": np.array(["lost"])},
    }
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        for reason, changed in cases.items():
            write_arrays(tmp_path / "a.npz", "a test", changed, compressed=True)
            with pytest.raises(UserError, match=reason):
                import_games(store, tmp_path / "a.npz", tmp_path)
        with pytest.raises(UserError, match="must be a whole export"):
            import_games(store, tmp_path / "none.npz", tmp_path)
        assert store.runs() == []


def _text(data: object) -> np.ndarray:
    return np.frombuffer(json.dumps(data).encode(), np.uint8)


def test_another_experiment_of_the_name_is_refused_before_anything_is_played(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        with SerialExecutor() as pool:
            list(play_experiment(dataclasses.replace(FIRST, seed=6), store, pool))
        with pytest.raises(UserError, match="must keep its definition"):
            Campaign(store, FIGURES, tmp_path)


@pytest.mark.parametrize("change", ["games", "measure", "opponent", "row", "learner", "opening"])
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
        "opening": dataclasses.replace(learned[0], row=dataclasses.replace(row, openings=1)),
    }.get(change)
    rows = [*([first] if first else []), *learned[1:], plain]
    shutil.copy(played / "all.db", tmp_path / "a.db")
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        Campaign(store, [LEARNED], tmp_path / "nets")
        with pytest.raises(UserError, match=r"'guide:learned-paper' must keep its definition, .* turnier delete"):
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
        with Failing() as pool, pytest.raises(UserError, match=r"must end normally, got error \(gone\); fix the agent"):
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
