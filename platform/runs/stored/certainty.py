"""The results of measurements of certainty."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from ...results.frames.certainty import agent_certainty, group_certainty
from ..results import RunResults
from .collected import certainty_of_run


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
