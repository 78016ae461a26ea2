"""The games of a study, exported and imported: the study continues elsewhere, and plays none of them again."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from turnier.arena.match import MatchRecord
from turnier.arena.workers.executor import Task
from turnier.arena.workers.local import SerialExecutor
from turnier.core.errors import UserError
from turnier.results.store.store import Store
from turnier.search.definition import StudyDefinition
from turnier.search.samplers.cmaes import CmaesSearch
from turnier.search.storage.trials import count_trials, trials_frame
from turnier.search.study_run import StudyRun
from turnier.studies.campaigns.study_file import export_study, import_study

RUN = "study:one"
GENERATIONS = 3


class Counted(SerialExecutor):
    """Counts what it plays."""

    def __init__(self) -> None:
        super().__init__()
        self.played = 0

    def submit(self, do: Task, batch: list[Any]) -> int:
        self.played += len(batch)
        return super().submit(do, batch)


def definition(seed: int = 1) -> StudyDefinition:
    agent = "mc(iterations=2,rollout_depth=2,evaluator=heuristics2048)"
    searched = ("rollout_depth=1..8", "evaluator.corner")
    return StudyDefinition("one", "2048", agent, searched, "cmaes(population=4)", "fixed(games=2)", seed=seed)


def search(store: Store, generations: int, seed: int = 1) -> int:
    """Searches and plays held-out games; returns how many games were played now."""
    study, executor = StudyRun(store, definition(seed), progress=False), Counted()
    study.run(generations, executor)
    if generations == GENERATIONS:
        study.compare(study.course.finalists("start", {}), executor, 1.0)
    return executor.played


def games(store: Store) -> dict[str, tuple[Any, ...]]:
    """Returns what a file keeps of each game, by its id."""
    records = itertools.chain.from_iterable(store.records_of_run(RUN))
    return {r.spec.id: (r.scores, r.decisions, r.nodes, r.seconds, r.seat_cpu_seconds, r.facts) for r in records}


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_moved_study_continues_where_it_was(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/whole.db") as whole:
        all_games = search(whole, GENERATIONS)
        end = trials_frame(whole, "one")
    with Store.open(f"sqlite:///{tmp_path}/first.db") as first:
        search(first, GENERATIONS - 1)
        known = games(first)
        path = export_study(first, first.run(RUN), tmp_path)
        before = path.read_bytes()
        assert export_study(first, first.run(RUN), tmp_path).read_bytes() == before
    url = f"sqlite:///{tmp_path}/moved.db" if kind == "sqlite" else str(request.getfixturevalue("postgres_url"))
    with Store.open(url) as moved:
        assert import_study(moved, path) == len(known) and import_study(moved, path) == 0
        assert games(moved) == known
        assert search(moved, GENERATIONS) == all_games - len(known) > 0, "nothing is played twice"
        assert count_trials(moved, "one") == 4 * GENERATIONS
        again = trials_frame(moved, "one")
        assert again[["value", "number"]].equals(end[["value", "number"]])
        after = games(moved)
        assert {match_id: after[match_id] for match_id in known} == known, "times came along"


def test_a_study_moves_to_a_processor_that_computes_other_last_digits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As OpenBLAS does where there is AVX-512, or none: the candidates stay those that were played."""
    with Store.open(f"sqlite:///{tmp_path}/first.db") as first:
        search(first, GENERATIONS)
        path = export_study(first, first.run(RUN), tmp_path)
        end = [one.user_attrs for one in StudyRun(first, definition(), progress=False).optuna.get_trials()]
    computed, recommended = CmaesSearch.ask, CmaesSearch.recommended
    monkeypatch.setattr(CmaesSearch, "ask", lambda self: computed(self) * (1 - 1e-13))
    monkeypatch.setattr(CmaesSearch, "recommended", lambda self: [x * (1 - 1e-13) for x in recommended(self)])
    with Store.open(f"sqlite:///{tmp_path}/moved.db") as moved:
        import_study(moved, path)
        rebuilt = StudyRun(moved, definition(), progress=False).optuna.get_trials()
        assert [one.user_attrs for one in rebuilt] == end
        assert search(moved, GENERATIONS) == 0, "held-out games of what it recommended are known, too"
        assert search(moved, GENERATIONS + 1) > 0
    with Store.open(f"sqlite:///{tmp_path}/first.db") as resumed:
        assert search(resumed, GENERATIONS) == 0
        monkeypatch.setattr(CmaesSearch, "ask", lambda self: computed(self) * (1 - 1e-3))
        with pytest.raises(UserError, match="must replay as stored, but candidate 1 of generation 1 differs"):
            search(resumed, GENERATIONS)


@pytest.mark.parametrize("moved", [False, True])
def test_what_a_killed_driver_asked_for_is_what_another_processor_plays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moved: bool
) -> None:
    """The first one has played some games of its second generation; none of them is played again."""

    def append(run_id: str, records: list[MatchRecord]) -> int:
        if first.match_counts().get(run_id, 0) < 8:
            return stored(run_id, records)
        stored(run_id, records[:1])
        raise KeyboardInterrupt

    with Store.open(f"sqlite:///{tmp_path}/first.db") as first:
        stored = first.append
        monkeypatch.setattr(first, "append", append)
        with pytest.raises(KeyboardInterrupt):
            StudyRun(first, definition(), progress=False).run(2, Counted())
        known = games(first)
        path = export_study(first, first.run(RUN), tmp_path)
    assert 8 < len(known) < 16
    computed = CmaesSearch.ask
    monkeypatch.setattr(CmaesSearch, "ask", lambda self: computed(self) * (1 - 1e-13))
    with Store.open(f"sqlite:///{tmp_path}/{'moved' if moved else 'first'}.db") as store:
        if moved:
            import_study(store, path)
        assert search(store, 2) == 16 - len(known)


def test_what_is_no_export_of_this_study_is_refused(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        search(store, 1)
        path = export_study(store, store.run(RUN), tmp_path)
    with Store.open(f"sqlite:///{tmp_path}/b.db") as other:
        search(other, 1, seed=2)
        with pytest.raises(UserError, match="is stored with seed"):
            import_study(other, path)
        path.write_bytes(path.read_bytes()[:500])
        with pytest.raises(UserError, match="must be a whole export"):
            import_study(other, path)
