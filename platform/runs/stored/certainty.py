"""The results of measurements of certainty."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from ...arena.positions import choose_positions, collector_matches
from ...arena.repeated_search import SeenPosition
from ...core.errors import UserError
from ...results.frames.certainty import agent_certainty, group_certainty, position_certainty, searches_of_runs
from ...results.store.store import Run, Store
from ..experiments.experiment import Experiment, row_positions, row_records
from ..results import RunResults


def certainty_of_run(store: Store, run: Run) -> pd.DataFrame:
    """Returns `position_certainty` of all searches of a run, with the matches that positions come from."""
    return position_certainty(searches_of_runs(store, [run.id], collected_from(store, run)))


def collected_from(store: Store, run: Run) -> Mapping[str, str]:
    """Returns the ids of the matches that a run's positions come from, by position id.

    The store does not contain them, but the run's definition decides which positions were chosen. Empty if they are
    unknown: for runs that are neither certainty nor an experiment of rows, or if code that the matches need is missing.
    """
    with contextlib.suppress(UserError):
        return {position.id: position.source for position in _positions(store, run)}
    return {}


def _positions(store: Store, run: Run) -> Iterator[SeenPosition]:
    if run.kind == "certainty":
        known = run.definition
        specs = collector_matches(*(known[name] for name in ("game", "collector", "games", "seed")))
        matches = store.records([spec.id for spec in specs])
        for positions in choose_positions(matches, known["states"], known["seed"]).values():
            yield from positions
    elif "rows" in run.definition:
        experiment = Experiment.from_run(run)
        for row in experiment.rows:
            records = row_records(row, experiment.seed, store) if row.states else []
            for _, positions in row_positions(row, experiment.seed, records):
                yield from positions


@dataclass(frozen=True, repr=False)
class CertaintyResults(RunResults):
    """The results of a measurement of certainty."""

    @cached_property
    def _positions(self) -> pd.DataFrame:
        return certainty_of_run(self.store, self.store.run(self.id))

    def positions(self) -> pd.DataFrame:
        """Returns one row per agent and position."""
        return self._positions.copy()

    def groups(self) -> pd.DataFrame:
        """Returns one row per agent and group of positions, with 95 % intervals."""
        return group_certainty(self._positions)

    def agents(self) -> pd.DataFrame:
        """Returns one row per agent: means over the groups, with 95 % intervals."""
        return agent_certainty(self._positions)

    def table(self) -> pd.DataFrame:
        return self.agents()[["label", "searches", "certainty", "normalised", "chance_level", "agreement"]]
