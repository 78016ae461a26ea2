"""The end of a study: finalists play held-out games, unseen by the search, until there is a verdict."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..agents.agent import Agent
from ..arena.match import MatchRecord, MatchSpec
from ..arena.workers.executor import Executor
from ..core.errors import UserError
from ..runs.bar import Bar
from ..runs.play import play_into
from ..statistics.comparisons import paired_difference, units_needed
from ..statistics.superiority import FIRST_SHARE, MAX_ROUNDS, MIN_UNITS, Superiority, repeated
from .objective import Objective, Unit, is_one_game
from .storage.studies import StoredStudy
from .verdict import (
    BETTER,
    MAX_VERIFY,
    NOT_BETTER,
    UNDECIDED,
    Finalist,
    HeldOutFigures,
    StudyVerdict,
    figures_of,
    gain,
)


def held_out_games(verify: float, budget: int, finalists: int, objective: Objective) -> int:
    """Returns the maximum number of held-out games of all finalists; raises UserError for an impossible share.

    Args:
        verify: as a share of the search's games; each finalist can play at least the games of the first test.
        budget: games of the search.
        finalists: their number.
    """
    if not 0 < verify <= MAX_VERIFY:
        raise UserError(f"--verify must be above 0 and at most {MAX_VERIFY:,g} times the budget, got {verify:g}.")
    return max(round(verify * budget), MIN_UNITS * finalists * objective.unit_games)


class HeldOutGames:
    """Held-out units by label, in seed order, and the values of those played."""

    def __init__(self, study: StoredStudy, objective: Objective, agents: Mapping[str, Agent]) -> None:
        self.study, self.objective = study, objective
        self._texts = {label: agent.full_text() for label, agent in agents.items()}
        self.units: dict[str, list[Unit]] = {label: [] for label in agents}
        self.free = {label for label, text in self._texts.items() if objective.is_free(text)}
        self.records: dict[str, MatchRecord] = {}

    def play(self, labels: Iterable[str], more: int, executor: Executor, bar: Bar) -> None:
        """Plays further units of some agents; agents with the same text share their games."""
        specs: dict[str, MatchSpec] = {}
        for label in labels:
            known = self.units[label]
            known += [self.objective.held_out_unit(self._texts[label], len(known) + n) for n in range(more)]
            specs |= {spec.id: spec for unit in known[-more:] for spec in unit if spec.id not in self.records}
        for batch in play_into(self.study.store, self.study.run_id, list(specs.values()), executor):
            self.records |= {record.spec.id: record for record in batch}
            bar.advance(len(batch))

    def repeated(self) -> set[str]:
        """Returns the labels of agents that repeat one game, see `is_one_game`, with that of their opponent."""
        game = self.objective.game
        found = {label for label, units in self.units.items() if is_one_game(game, units, self.records)}
        return found | self.free if found else found

    def values(self) -> dict[str, list[float]]:
        return {label: self.objective.values(units, self.records) for label, units in self.units.items()}


class FinalComparison(NamedTuple):
    """The verdict on a search, and the values of all held-out units by label, in seed order, the start first."""

    verdict: StudyVerdict
    values: dict[str, list[float]]

    @property
    def figures(self) -> Sequence[HeldOutFigures]:
        return self.verdict.figures


def compare_finalists(
    study: StoredStudy,
    objective: Objective,
    chosen: Mapping[str, Finalist],
    games: int,
    searched: int,
    executor: Executor,
    budget: int = 0,
    first_share: float = FIRST_SHARE,
) -> FinalComparison:
    """Plays held-out games of the finalists, on common seeds, until one is shown to be best or no games are left.

    The games that idle workers played with the recommendation are not used: their number depends on how long workers
    happened to be idle, and the verdict must not.

    Args:
        chosen: the finalists by label, the start first.
        games: maximum of all finalists.
        searched: games of the search.
        budget: games of the search with which its command plays as many; 0 if there is no such command.
        first_share: of the error for the first challenger, see `Superiority`.
    """
    references = [label for label, finalist in chosen.items() if finalist.reference]
    challengers = [label for label in chosen if label not in references]
    held_out = HeldOutGames(study, objective, {label: finalist.agent for label, finalist in chosen.items()})
    playing = len(chosen) - len(held_out.free)
    rounds = max(1, min(MAX_ROUNDS, games // max(1, MIN_UNITS * playing * objective.unit_games)))
    test = Superiority(challengers, references, rounds, first_share=first_share)
    planned = 0
    with study.phase("held-out games", games) as bar:
        while active := test.active:
            playing = len([label for label in active if label not in held_out.free])
            more = (games * (test.done + 1) // rounds - planned) // (playing * objective.unit_games)
            planned += more * playing * objective.unit_games
            held_out.play(active, more, executor, bar)
            values, repeated = held_out.values(), held_out.repeated()
            # If both repeat one game, they differ by one game, however often they play it.
            test.leave(repeated.intersection(challengers) if repeated.intersection(references) else ())
            if test.active:
                test.add({label: values[label] for label in active})
    values = held_out.values()
    return FinalComparison(verdict_on(chosen, test, values, objective, searched, budget, held_out.repeated()), values)


def verdict_on(
    chosen: Mapping[str, Finalist],
    test: Superiority,
    values: Mapping[str, Sequence[float]],
    objective: Objective,
    searched: int,
    budget: int = 0,
    repeated: Collection[str] = (),
    counted: str = "games",
) -> StudyVerdict:
    """Returns the verdict after a test has ended; the other arguments are those of `compare_finalists`.

    Args:
        repeated: labels of agents whose units are all one game.
        counted: what units are.
    """
    means = {label: sum(own) / len(own) if own else 0.0 for label, own in values.items()}

    def best(labels: Iterable[str]) -> str:
        """Only among those that played to the end: the others were beaten or behind."""
        return max(labels, key=lambda label: (len(values[label]), means[label]))

    start = next(iter(chosen))
    no_better = {name: found for name in test.beaten if (found := _no_better_than(test, values, name))}
    undecided = [name for name in test.challengers if name not in no_better]
    # Those that repeat one game, the strongest first.
    untested = sorted((name for name in test.beaten if not test.critical[name]), key=lambda name: -means[name])
    challenger = test.better or next(iter([*undecided, *untested]), best(no_better) if no_better else None)
    beaten = test.beaten[challenger].keys() if challenger else set()
    # A baseline is only kept if the search's agent has beaten the start: otherwise nothing shows it to be better.
    kept = test.better or (best(set(test.references) - beaten) if start in beaten else start)
    outcome = BETTER if test.better else UNDECIDED if undecided or untested else NOT_BETTER
    reference = best(no_better.get(challenger or "", test.references) if outcome == NOT_BETTER else test.references)
    own, other, critical = _compared(test, values, challenger, reference) if challenger else ([], [], 0.0)
    free = {label for label, finalist in chosen.items() if objective.is_free(finalist.agent.full_text())}
    measured = gain(own, other, objective.single_player, critical) if challenger else (None, None, None, "")
    differing = {label: own[:1] if label in repeated else own for label, own in values.items()}
    return StudyVerdict(
        outcome=outcome,
        label=kept,
        agent=str(chosen[kept].agent),
        challenger=challenger,
        reference=reference,
        difference=measured[0],
        low=measured[1],
        high=measured[2],
        unit=measured[3],
        units=len(own),
        games=sum(len(own) for label, own in values.items() if label not in free) * objective.unit_games,
        searched=searched,
        alpha=test.alpha,
        figures=figures_of(chosen, differing, start, reference, test.critical, test.single),
        unit_games=objective.unit_games,
        needed=_needed(own, other, test.single) if outcome == UNDECIDED and challenger not in untested else None,
        repeated=challenger in untested,
        budget=budget,
        confidence=1 - 2 * test.single,
        free=len(free),
        counted=counted,
    )


def _compared(
    test: Superiority, values: Mapping[str, Sequence[float]], challenger: str, reference: str
) -> tuple[Sequence[float], Sequence[float], float]:
    """Returns the values of both up to the deciding or last look, and its critical p-value."""
    common = min(len(values[challenger]), len(values[reference]))
    units = test.beaten[challenger].get(reference, common)
    critical = test.critical[challenger].get(units, test.single)  # none for those that were not tested
    return values[challenger][:units], values[reference][:units], critical


def _no_better_than(test: Superiority, values: Mapping[str, Sequence[float]], challenger: str) -> list[str]:
    """Returns the references than which a challenger is shown to be worse, or has equal values in every game."""
    found = []
    for reference in test.references:
        own, other, critical = _compared(test, values, challenger, reference)
        if not np.subtract(own, other).any() or repeated(own, other, critical)[1] < 0:
            found.append(reference)
    return found


def _needed(values: Sequence[float], reference: Sequence[float], single: float) -> int | None:
    """Returns the units each needed to confirm the observed difference; None if there is none."""
    apart = paired_difference(np.subtract(values, reference).tolist())
    needed = float(units_needed(apart.mean, apart.high, apart.units, single))
    return max(math.ceil(needed), 2 * len(values)) if math.isfinite(needed) else None
