"""The terms of rating the agents of runs: the agent with Elo 0, and whether results chose the games."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Self

import pandas as pd

from ...agents.agent import Agent
from ...agents.registry import agent_of, label_of
from ...core.errors import UserError
from ..store.annotations import ANCHOR
from ..store.store import Store

CHOSEN = ("adaptive", "swiss")  # formats in which results choose the games; the first needs wider intervals


def anchor_among(frame: pd.DataFrame, anchor: str | Agent) -> str:
    """Returns the full text of the agent with Elo 0; raises UserError if these games do not rate it."""
    text = agent_of(str(anchor)).full_text()
    several = frame[frame["seats"] > 1]
    rated = sorted({str(agent) for agent in several["agent"].unique()})
    if text not in rated:
        those = ", ".join(map(label_of, rated)) or "none, as games of one seat are rated by scores"
        raise UserError(f"an anchor must be an agent of these games, got {anchor}; they are {those}.")
    return text


class Terms(NamedTuple):
    """The terms of a rating list."""

    anchor: str = ""  # full text of the agent with Elo 0; empty = their mean is 0
    format: str = ""  # of CHOSEN, if results chose games; see `statistics.chosen_games`
    nash: bool = False  # whether to add Nash averages even if ratings explain the results

    @classmethod
    def of_runs(cls, store: Store, run_ids: Iterable[str], anchor: str = "", nash: bool = False) -> Self:
        """Returns the terms of the games of some runs.

        Args:
            store: where they are.
            run_ids: the runs.
            anchor: replaces that of the run; several runs have none of their own.
            nash: see above.
        """
        wanted = set(run_ids)
        formats = {str(run.definition.get("format", "")) for run in store.runs() if run.id in wanted}
        if not anchor and len(wanted) == 1:
            anchor = store.annotations.get(next(iter(wanted)), ANCHOR)
        return cls(anchor, next((format for format in CHOSEN if format in formats), ""), nash)
