"""Campaigns exported without moves, imported elsewhere, continued; damaged and foreign files."""

from __future__ import annotations

import dataclasses
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tests.studies.campaign_figures import CERTAIN, FIRST, LEARNED, LONG, SCORE, SECOND, opened, pages, play
from turnier.arena.analysis.reanalysis import Reanalysis
from turnier.arena.match import NO_ACTION, moves_kept
from turnier.arena.match_json import disagreement, from_json, to_json
from turnier.arena.workers.local import SerialExecutor
from turnier.core.array_files import write_arrays
from turnier.core.errors import UserError
from turnier.dashboards.reports.run import write_run_report
from turnier.results.export import export
from turnier.results.repair.inspection import inspect_store
from turnier.results.store.store import Store
from turnier.runs.experiments.experiment import (
    Experiment,
    measurements,
    play_experiment,
    row_matches,
    row_records,
)
from turnier.studies.campaigns.campaign import Campaign
from turnier.studies.campaigns.games_file import export_games, import_games
from turnier.studies.campaigns.outlook import outlook

SHARED = Path(__file__).parents[2] / "docs/results/data/campaign"


def bytes_without_times(file: Path) -> int:
    """Returns the size of an export but for the times in it, which have more digits on a busy machine."""
    with zipfile.ZipFile(file) as export:
        times = [member.compress_size for member in export.infolist() if "seconds" in member.filename]
    assert times
    return file.stat().st_size - sum(times)


def test_an_import_continues_and_reports_alike(url: str, tmp_path: Path, played: Path) -> None:
    """The same page, times included; a second export gives the same bytes; nothing is left to play or to train."""
    with Store.open(url) as store, opened(played) as original:
        files = sorted((played / "export").iterdir())
        assert [file.name for file in files] == [f"guide-{name}-paper.npz" for name in ("first", "learned", "second")]
        assert all(bytes_without_times(file) < 7_500 for file in files)
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


def test_failed_searches_are_exported_and_imported(tmp_path: Path, played: Path) -> None:
    arrays = dict(np.load(played / "export/guide-second-paper.npz"))
    for action, fits in ((NO_ACTION, True), (99, False)):
        arrays["action"][0] = action
        write_arrays(tmp_path / "a.npz", "a test", arrays, compressed=True)
        with Store.open(f"sqlite:///{tmp_path}/{action}.db") as store:
            if not fits:
                with pytest.raises(UserError, match="a search chose an action that is not legal"):
                    import_games(store, tmp_path / "a.npz", tmp_path)
                continue
            assert import_games(store, tmp_path / "a.npz", tmp_path) > 0
            again = dict(np.load(export_games(store, store.run(SECOND.run_id), tmp_path)))
            assert again["action"].tolist() == arrays["action"].tolist()
        assert inspect_store(f"sqlite:///{tmp_path}/{action}.db") == []


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
                with pytest.raises(UserError, match="imported without its moves"):
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


@pytest.mark.parametrize("file", sorted(SHARED.glob("*certainty*.npz")), ids=lambda file: file.stem)
def test_what_was_shared_is_still_what_its_definition_plays(file: Path, tmp_path: Path) -> None:
    """Whatever a definition leaves out, such as who collects positions, keeps the value it had when it was played."""
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        assert import_games(store, file, tmp_path / "nets") > 0


def test_there_are_shared_games_of_that_kind() -> None:
    assert len(list(SHARED.glob("*certainty*.npz"))) > 3


def test_games_that_a_later_statement_added_are_exported(url: str, tmp_path: Path) -> None:
    """The stored definition knows nothing of the statement, today's has it: the file has all games."""
    planned = dataclasses.replace(FIRST, name="later-paper", rows=(dataclasses.replace(LONG, games=2),))
    asked = dataclasses.replace(planned, rows=(dataclasses.replace(planned.rows[0], extended=True),))
    more = dataclasses.replace(planned, rows=(dataclasses.replace(planned.rows[0], games=4),))
    with Store.open(url) as store, SerialExecutor() as pool:
        list(play_experiment(planned, store, pool))
        run = next(run for run in store.runs() if run.id == planned.run_id)
        for records in pool.play(row_matches(more.rows[0], more.seed)[2:]):
            store.append(run.id, records)
        assert len(row_records(asked.rows[0], asked.seed, store)) == 4
        file = export_games(store, run, tmp_path, asked)
    with Store.open(f"sqlite:///{tmp_path}/other.db") as other:
        assert import_games(other, file, tmp_path) == 4
