"""Studies of the newest edition have held-out games of their own; stored ones go on as they began."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from turnier.arena.workers.make import make_executor
from turnier.arena.workers.where import Where
from turnier.core.parameters import Parameter
from turnier.results.store.store import Store
from turnier.search import EDITION, EVEN_EDITION, FIRST_EDITION, STEADY_EDITION
from turnier.search.definition import StudyDefinition
from turnier.search.dimensions.dimension import Dimension
from turnier.search.front.agreement import Agreement
from turnier.search.front.pareto import ParetoDefinition, ParetoStudy
from turnier.search.samplers.registry import SAMPLERS
from turnier.search.samplers.sampler import SteppingSearch
from turnier.search.space import Space
from turnier.search.storage.study_changes import rename_study
from turnier.search.study import Study
from turnier.search.study_run import StudyRun

AGENT = "mc(iterations=1,rollout_depth=2)"
PLANNED = StudyDefinition("first", "2048(size=3)", AGENT, ("rollout_depth=1..8",), "random(population=4)")
FRONT = ParetoDefinition(
    "front", "2048(size=3)", AGENT, ("rollout_depth=1..8",), population=4, games=1, second="certainty", positions=4
)


def held_out(definition: StudyDefinition | ParetoDefinition) -> set[int]:
    units = [definition.objective.held_out_unit(definition.agent, number) for number in range(50)]
    return {spec.seed for unit in units for spec in unit}


def test_no_two_studies_share_held_out_games() -> None:
    """The start of a second study was often chosen by the first one's held-out games: it needs new ones."""
    later, earlier = replace(PLANNED, name="second"), replace(PLANNED, edition=FIRST_EDITION)
    opponents = [replace(one, game="tictactoe", agent="random", against=("random",)) for one in (PLANNED, later)]
    groups = [held_out(one) for one in (PLANNED, later, earlier, FRONT, replace(FRONT, name="other"), *opponents)]
    assert len(set.union(*groups)) == sum(map(len, groups)) == 50 * 7
    assert held_out(replace(earlier, name="second")) == held_out(earlier)  # as stored studies have them
    search = [one.objective.search_unit(AGENT, 0, 0, 0) for one in (PLANNED, later, earlier)]
    assert search[0] == search[1] == search[2]


def test_positions_of_a_front_are_its_own_too(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        studies = [ParetoStudy(store, replace(FRONT, name=name), progress=False) for name in ("front", "other")]
        measures = [study.measure for study in studies]
        assert all(isinstance(measure, Agreement) for measure in measures)
        seeds = {measure._held_out_seed for measure in measures if isinstance(measure, Agreement)}
        assert len(seeds | {FRONT.seed}) == 3


def test_a_second_study_plays_its_start_in_new_games(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        agents, games = "mc(iterations=1,rollout_depth=2)", []
        for start in ("rollout_depth", "iterations"):
            study = Study("2048(size=3)", agents, f"{start}=1..8", budget=4, sampler="random(population=4)")
            frame = study.run(store, where=Where("serial"), progress=False).frame()
            games.append(set(frame[frame["agent"] == study.agent.full_text()]["match"]))
        assert len(games[0]) >= 24 and len(games[1]) >= 24
        assert len(games[0] & games[1]) <= 1  # that of the start as the first candidate of both


def test_a_study_of_an_earlier_edition_goes_on_in_it(tmp_path: Path) -> None:
    plans = (
        Study(PLANNED.game, AGENT, "rollout_depth=1..8", sampler=PLANNED.sampler),
        Study("2048(size=3)", AGENT, "rollout_depth=1..8", objectives="strength,time"),
    )
    for number, (plan, kind) in enumerate(zip(plans, (StudyRun, ParetoStudy), strict=True)):
        with Store.open(f"sqlite:///{tmp_path}/{number}.db") as store:
            new = plan.question.settled(40, store)
            old = replace(new, edition=FIRST_EDITION)  # type: ignore[type-var]
            assert "edition" not in old.stored and old.name == new.name and new != old
            assert kind(store, old, progress=False).definition == old  # type: ignore[arg-type]
            assert plan.question.settled(40, store) == old
            assert kind(store, new, progress=False).definition == old  # type: ignore[arg-type]


def test_a_renamed_study_keeps_its_held_out_games(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store, make_executor(Where("serial")) as pool:
        StudyRun(store, PLANNED, progress=False).run(1, pool)
        for before, name in (("first", "second"), ("second", "third")):
            rename_study(store, store.run(f"study:{before}"), name)
            renamed = StudyRun(store, replace(PLANNED, name=name), progress=False)
            assert held_out(renamed.definition) == held_out(PLANNED)
            assert StudyDefinition.of_stored(store.run(f"study:{name}").definition).begun_as == "first"


@pytest.mark.parametrize(
    ("edition", "sampler", "recommended"),
    [
        (EVEN_EDITION, "duels(pairs=4,share=0.25,length=40)", [0.248246186, 0.922299398, 0.90708032]),
        (EVEN_EDITION, "cmaes(population=6)", [0.920680905, 0.983868694, 0.685663097]),
        (STEADY_EDITION, "duels(pairs=4,share=0.25,length=40)", [0.176620861, 0.954993162, 0.90708032]),
    ],
)
def test_studies_of_earlier_editions_search_on_as_they_began(
    edition: int, sampler: str, recommended: list[float]
) -> None:
    """The figures are those of the versions that began such studies."""
    numbers = [Dimension(name, float, Parameter("", low=0.0, high=1.0)) for name in "ab"]
    space = Space((*numbers, Dimension("c", int, Parameter("", low=0, high=9))))
    found = {}
    for each in (edition, EDITION):
        search = SAMPLERS.make(sampler).begin([0.03, 0.9, 0.5], 5, space)
        assert isinstance(search, SteppingSearch)
        search.as_in(each)
        for generation in range(4):
            vectors = search.ask()
            scores = [round(float(x[0] * 2 - x[1] + x[2]), 6) for x in vectors]
            wins = [float(place % 2 if generation % 2 else place % 3 == 0) for place in range(len(vectors))]
            search.tell(wins if "duels" in sampler else scores)
        found[each] = [round(x, 9) for x in search.recommended()]
    assert found[edition] == recommended != found[EDITION]
