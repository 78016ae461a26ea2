"""The matches from which the searched positions of a stored run come: positions of a match are alike.

The store does not contain them, but the run's definition decides which positions were chosen.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping

import pandas as pd

from ...arena.positions import choose_positions, collector_matches
from ...arena.repeated_search import SeenPosition
from ...core.errors import UserError
from ...results.frames.certainty import position_certainty, searches_of_runs
from ...results.store.store import Run, Store
from ..experiment import Experiment, row_positions, row_records


def certainty_of_run(store: Store, run: Run) -> pd.DataFrame:
    """Returns `position_certainty` of all searches of a run, with the matches that positions come from."""
    return position_certainty(searches_of_runs(store, [run.id], collected_from(store, run)))


def collected_from(store: Store, run: Run) -> Mapping[str, str]:
    """Returns the ids of the matches that a run's positions come from, by position id.

    Empty if they are unknown: for runs that are neither certainty nor an experiment of rows, or if code that the
    matches need is missing.
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
