"""The results of judging."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from ...agents.perfect.judge import judge_of
from ...agents.registry import label_of
from ...arena.match import NO_ACTION
from ...games.game import Game
from ...games.registry import GAMES
from ...statistics.intervals import mean_interval, share_interval
from ..judging.judgements import Judgement, JudgementSpec
from ..judging.judging import JUDGED
from ..judging.positions import draw_positions
from ..results import RunResults

LOST = -1.0  # value of a missing action: a seat that fails loses


@dataclass(frozen=True, repr=False)
class JudgingResults(RunResults):
    """A judge's verdicts on the decisions of agents in the same positions."""

    @cached_property
    def _definition(self) -> dict[str, Any]:
        return dict(self.store.run(self.id).definition)

    @property
    def game(self) -> Game:
        """The game."""
        return GAMES.make(self._definition["game"])

    @property
    def judge(self) -> str:
        """The name of the judge."""
        return judge_of(self.game).name

    @cached_property
    def judgements(self) -> list[Judgement]:
        """The judgements of the positions, in order; none until all are judged."""
        known = self._definition
        stored = self.store.annotations.get(self.id, JUDGED)
        with self.store.database.decoding(f"the judgements of {self.id}"):
            values = [dict(map(tuple, actions)) for actions in json.loads(stored or "[]")]
        drawn = draw_positions(self.game, known["positions"], known["seed"])
        return [Judgement(JudgementSpec(position), found) for position, found in zip(drawn, values, strict=False)]

    @cached_property
    def actions(self) -> dict[str, dict[str, int]]:
        """The actions of the agents (full texts) so far, by position id."""
        found: dict[str, dict[str, int]] = {agent: {} for agent in self._definition["agents"]}
        for record in self.store.searches.of_run(self.id):
            found[record.spec.agent][record.spec.position.id] = record.action
        return found

    @property
    def chance(self) -> float:
        """The expected share of optimal actions of random play."""
        return _mean([judged.optimal / len(judged.values) for judged in self.judgements])

    @property
    def contested_chance(self) -> float:
        """The expected share in positions with a wrong action; NaN if there are none."""
        return _mean([judged.optimal / len(judged.values) for judged in self.judgements if judged.contested])

    def positions(self) -> pd.DataFrame:
        """Returns one row per agent and position.

        Columns: agent, label, position (id), phase, legal and optimal (numbers of actions), contested, action, best
        (value of the position for the mover), failed (it gave no legal action), loss (the best value less the
        action's, 0 to 2: a win is 1, a draw 0, a loss or a failure -1).
        """
        rows: list[dict[str, Any]] = []
        for agent, actions in self.actions.items():
            for judged in self.judgements:
                seen = judged.spec.position
                if seen.id not in actions:
                    continue
                action = actions[seen.id]
                rows.append(
                    {
                        "agent": agent,
                        "label": label_of(agent),
                        "position": seen.id,
                        "phase": seen.phase,
                        "legal": len(seen.legal),
                        "optimal": judged.optimal,
                        "contested": judged.contested,
                        "action": action,
                        "best": judged.best,
                        "failed": action == NO_ACTION,
                        "loss": judged.best - (LOST if action == NO_ACTION else judged.values[action]),
                    }
                )
        return pd.DataFrame(rows)

    def agents(self) -> pd.DataFrame:
        """Returns one row per agent, the smallest loss first.

        Columns: label, agent, positions, failed (number of decisions); optimal (share of optimal actions),
        optimal_low, optimal_high; contested (the number of positions that have a wrong action), kept (share of optimal
        actions there), kept_low, kept_high; loss (mean loss of value), loss_half_width. Intervals are of 95 %, those of
        shares Wilson's.
        """
        rows: list[dict[str, Any]] = []
        for agent, part in self.positions().groupby("agent", sort=False):
            right, contested = part["loss"] == 0, part["contested"]
            optimal = share_interval(int(right.sum()), len(part))
            kept = share_interval(int((right & contested).sum()), int(contested.sum()))
            loss = mean_interval(part["loss"].to_numpy(float))
            rows.append(
                {
                    "label": part["label"].iloc[0],
                    "agent": agent,
                    "positions": len(part),
                    "failed": int(part["failed"].sum()),
                    "optimal": optimal.value,
                    "optimal_low": optimal.low,
                    "optimal_high": optimal.high,
                    "contested": int(contested.sum()),
                    "kept": kept.value,
                    "kept_low": kept.low,
                    "kept_high": kept.high,
                    "loss": loss.mean,
                    "loss_half_width": loss.half_width,
                }
            )
        return pd.DataFrame(rows).sort_values("loss", kind="stable", ignore_index=True)

    def table(self) -> pd.DataFrame:
        return self.agents().set_index("label").drop(columns="agent")


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else float("nan")
