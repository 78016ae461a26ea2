"""The results of studies and of searches for a front, read from their store: nothing is played or replayed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any

import pandas as pd

from ...agents.agent import Agent
from ...agents.registry import AGENTS
from ...results.failures import Failures, failed_candidates, store_option
from ...runs.results import RunResults
from ...statistics.distributions import t_quantile
from ...statistics.intervals import CONFIDENCE
from ..definition import StudyDefinition
from ..front.pareto import ParetoDefinition
from ..front.points import Point, best_first, dominated, stored_points
from ..objective import Unit
from ..space import Space
from ..verdict import HeldOutFigures, StudyVerdict
from .commands import Again, to_play_on
from .definitions import StudyFacts, used_values
from .hints import hints, same_scores
from .studies import stored_verdict
from .trials import generations_frame, recommended_values, trials_frame


@dataclass(frozen=True, repr=False)
class SearchResults(RunResults):
    """Base of the results of studies and of searches for a front."""

    @cached_property
    def stored(self) -> Mapping[str, Any]:
        """The stored definition of the study."""
        return self.store.run(self.id).definition

    @cached_property
    def name(self) -> str:
        """The name of the study."""
        return self.store.run(self.id).name

    @cached_property
    def start(self) -> Agent:
        """The agent that the search began with."""
        return AGENTS.make(self.stored["agent"])

    @cached_property
    def space(self) -> Space:
        """The searched parameters."""
        return Space.of(self.start, self.stored["parameters"])

    @cached_property
    def _trials(self) -> pd.DataFrame:
        return trials_frame(self.store, self.name)

    def trials(self) -> pd.DataFrame:
        """Returns one row per candidate: its parameters, value, games and generation; see `trials_frame`.

        The value is the mean score or the share of points; of a front it is the strength, and `other` the second
        objective.
        """
        return self._trials.copy()

    def candidates(self) -> pd.DataFrame:
        """Returns one row per candidate, for tables elsewhere.

        Columns: candidate (from 0), its parameters, value, standard_error, games, generation (from 1), and `other`, the
        second objective, if there is one. Parameters that a candidate does not use are missing.
        """
        frame, facts = self._trials, StudyFacts.of(self.stored)
        error = (
            (frame["high"] - frame["low"]) / 2 / t_quantile(0.5 + CONFIDENCE / 2, (frame["games"] - 1).clip(lower=1))
        )
        columns = {"candidate": frame["number"], **{name: frame[name] for name in frame.attrs["parameters"]}}
        columns |= {"value": frame["value"], "standard_error": error}
        columns |= {"games": frame["games"] * facts.unit_games, "generation": frame["group"] + 1}
        columns |= {"other": frame["other"]} if frame["other"].notna().any() else {}
        return pd.DataFrame(columns).convert_dtypes()

    def tried(self) -> dict[str, dict[str, Any]]:
        """Returns the parameters of all candidates by their agent's full text."""
        ranges, names = self._trials.attrs["ranges"], self._trials.attrs["parameters"]
        values = [used_values(row, ranges) for row in self._trials[names].to_dict("records")]
        return {self.space.apply(self.start, known).full_text(): known for known in values}

    def warnings(self, found: Failures | None = None) -> list[str]:
        """Returns one sentence on all failed candidates, and those of `RunResults.warnings` on other agents."""
        failures, option = found or self.all_failures(), store_option(self.store)
        if failures.table.empty or "agent" not in self.stored:  # studies of learners have no such candidates
            return failures.sentences(option)
        tried = self.tried()
        others = failures._replace(table=failures.table[~failures.table["agent"].isin(tried)])
        candidates = failed_candidates(failures, tried, option)
        return [*([candidates] if candidates else []), *others.sentences(option)]


@dataclass(frozen=True, repr=False)
class StudyResults(SearchResults):
    """The results of a study, finished or not."""

    @cached_property
    def definition(self) -> StudyDefinition:
        """The definition of the study."""
        return StudyDefinition.of_stored(self.stored)

    @property
    def verdict(self) -> StudyVerdict | None:
        """Whether the search has found an agent better than its start and the baselines, and by how much.

        None until the held-out games have been played.
        """
        return stored_verdict(self.store, self.name)

    @property
    def play_on(self) -> str:
        """How to continue the held-out games of an undecided study; empty if there is nothing to continue."""
        return to_play_on(self.store, self.stored, self.verdict)

    @property
    def recommended(self) -> Agent:
        """The agent to use: one found by the search if it was shown to be better, otherwise the one to keep."""
        verdict = self.verdict
        return AGENTS.make(verdict.agent) if verdict else self.start

    @property
    def proposed(self) -> Agent:
        """The agent that the search proposes after its latest generation, whether shown to be better or not."""
        return self.space.apply(self.start, recommended_values(self.store, self.name))

    @property
    def best(self) -> Agent:
        """The candidate with the largest value in the search: a lucky one, mostly; see `recommended`."""
        known = self._trials.dropna(subset="value")
        if known.empty:
            return self.start
        values = known.loc[known["value"].idxmax(), known.attrs["parameters"]].to_dict()
        return self.space.apply(self.start, used_values(values, known.attrs["ranges"]))

    @property
    def games(self) -> int:
        """The number of games of candidates so far."""
        return int(self._trials["games"].sum()) * self._unit_games

    @property
    def idle_games(self) -> int:
        """The number of games of recommendations that idle workers played, see `generations`."""
        return int(self.generations()["idle_games"].sum()) * self._unit_games

    @property
    def _unit_games(self) -> int:
        return StudyFacts.of(self.stored).unit_games

    def generations(self) -> pd.DataFrame:
        """Returns one row per complete generation; see `generations_frame`."""
        return generations_frame(self.store, self.name)

    def hints(self) -> list[str]:
        """Returns advice on the search, a sentence each: at the border of a range, for example, or on a plateau."""
        verdict, proposed = self.verdict, recommended_values(self.store, self.name)
        again = Again.of(self.store, self.stored, self.games)
        found = hints(self._trials, self.generations(), self.stored, proposed, verdict, again)
        plateau = (
            ""
            if verdict is None or verdict.repeated or "agent" not in self.stored
            else same_scores(verdict.figures, self.held_out_values())
        )
        return [*found, plateau] if plateau else found

    def held_out(self) -> pd.DataFrame:
        """Returns one row per finalist: what the search claimed, and held-out games with their 95 % intervals."""
        columns = [field.name for field in fields(HeldOutFigures)]
        return pd.DataFrame([asdict(row) for row in self._figures], columns=columns)

    def held_out_values(self) -> dict[str, list[float]]:
        """Returns the values of the finalists' held-out units by label, in the order of their seeds."""
        objective, units = self.definition.objective, dict[str, list[Unit]]()
        for row in self._figures:
            text = AGENTS.make(row.agent).full_text()
            units[row.label] = [objective.held_out_unit(text, number) for number in range(row.units)]
        ids = {spec.id for own in units.values() for unit in own for spec in unit}
        records = {record.spec.id: record for record in self.store.records(list(ids))}
        played = {label: [u for u in own if all(s.id in records for s in u)] for label, own in units.items()}
        return {label: objective.values(own, records) for label, own in played.items()}

    @property
    def _figures(self) -> Sequence[HeldOutFigures]:
        verdict = self.verdict
        return verdict.figures if verdict else ()

    def table(self) -> pd.DataFrame:
        return self.held_out().set_index("label")


@dataclass(frozen=True, repr=False)
class FrontResults(StudyResults):
    """The results of a search for a front, finished or not: it has points, and no verdict."""

    @cached_property
    def definition(self) -> Any:
        """The definition of the search."""
        return ParetoDefinition.of_stored(self.stored)

    @cached_property
    def points(self) -> Sequence[Point]:
        """The start and the front in held-out games; none until those have been played."""
        return stored_points(self.store, self.name)

    def held_out(self) -> pd.DataFrame:
        """Returns one row per finalist: both objectives with 95 % intervals, and whether another row dominates it."""
        return _frame(self.points)

    def table(self) -> pd.DataFrame:
        return _frame(best_first(self.points)).set_index("label")


def _frame(points: Sequence[Point]) -> pd.DataFrame:
    rows = [point.row() for point in points]
    return pd.DataFrame(rows, columns=None if rows else ["label"]).assign(dominated=dominated(points))
