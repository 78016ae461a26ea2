"""Judging: how often agents play an action that a perfect judge calls best, and what their other actions lose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from turnier.agents.agent import Agent
from turnier.agents.perfect.judge import judge_of
from turnier.agents.registry import AGENTS, label_of
from turnier.arena.match import NO_ACTION, derive_seed
from turnier.arena.repeated_search import SearchSpec, SeenPosition, prepare_searches
from turnier.arena.workers.executor import SEARCHES, Executor
from turnier.arena.workers.make import at_work
from turnier.arena.workers.where import Where
from turnier.core.errors import MAX_IN_MEMORY, UserError, require_at_most
from turnier.core.number_text import number
from turnier.games.game import Game
from turnier.games.registry import GAMES
from turnier.runs.bar import QUIET, game_bar
from turnier.runs.failing import Recorder, nowhere
from turnier.runs.judging.judgements import JUDGEMENTS, Judgement, JudgementSpec
from turnier.runs.judging.positions import draw_positions
from turnier.statistics.intervals import mean_interval, share_interval

POSITIONS = 1000
LOST = -1.0  # the value of no action: a seat that fails loses


class Judging:
    """Agents that decide once in each of many positions whose actions a judge values exactly."""

    def __init__(
        self, game: str | Game, agents: Sequence[str | Agent], *, positions: int = POSITIONS, seed: int = 1
    ) -> None:
        """Plans a measurement; raises UserError where it cannot be made.

        Args:
            game: such as "connect_four"; one that a judge knows.
            agents: such as "mcts(iterations=100)".
            positions: number of positions in which they decide, see `draw_positions`.
            seed: the same seed gives the same positions and decisions, whatever the number of workers.
        """
        self.game: Game = GAMES.make(game)
        playing = [AGENTS.make(agent) for agent in agents]
        for agent in playing:
            agent.require(self.game)
        self.agents = tuple(dict.fromkeys(agent.full_text() for agent in playing))
        if not self.agents:
            raise UserError("a judge needs at least 1 agent, got none; name one.")
        require_at_most(MAX_IN_MEMORY, positions * len(self.agents), "decisions in all positions")
        self.positions, self.seed = positions, seed
        self.judge = judge_of(self.game)
        next(draw_positions(self.game, positions, seed), None)  # refuses wrong numbers

    def run(
        self,
        *,
        where: Where | Executor = Where(),
        progress: bool = True,
    ) -> JudgingResults:
        """Draws and judges positions, then asks every agent in each; nothing is stored.

        Args:
            where: where it plays; or an executor that has been started, which stays open.
            progress: whether a bar is shown.
        """
        console, name = None if progress else QUIET, str(self.game)
        with at_work(where) as pool:
            with game_bar(f"{name}: judging", self.positions, console, "positions") as bar:
                drawn = list(draw_positions(self.game, self.positions, self.seed))
                planned = self._searches(drawn)
                prepare_searches(planned)  # refuses agents before judging takes its time
                bar.plan(len(drawn))
                judged: dict[str, Judgement] = {}
                for judgements in pool.run(JUDGEMENTS, [JudgementSpec(position) for position in drawn]):
                    judged |= {judgement.spec.position.id: judgement for judgement in judgements}
                    bar.advance(len(judgements))
            watch = Recorder(nowhere)
            with game_bar(f"{name}: asking agents", len(planned), console, "moves") as bar:
                chosen: dict[tuple[str, str], int] = {}
                for searches in pool.run(SEARCHES, planned):
                    watch.append(searches)
                    chosen |= {(done.spec.agent, done.spec.position.id): done.action for done in searches}
                    bar.advance(len(searches))
        watch.require_played()
        ordered = [judged[position.id] for position in drawn]
        actions = {agent: [chosen[agent, position.id] for position in drawn] for agent in self.agents}
        return JudgingResults(self.game, self.judge.name, ordered, actions)

    def _searches(self, drawn: Sequence[SeenPosition]) -> list[SearchSpec]:
        """Returns every agent's search of every position: all by the same seed, each by a new player."""
        seeds = [derive_seed(self.seed, position.id) for position in drawn]
        return [
            SearchSpec(position, agent, seed)
            for agent in self.agents
            for position, seed in zip(drawn, seeds, strict=True)
        ]


@dataclass(frozen=True, repr=False)
class JudgingResults:
    """What a judge says of the decisions of agents in the same positions."""

    game: Game
    judge: str  # its name
    judgements: list[Judgement]
    actions: dict[str, list[int]]  # by full text of an agent, one per judgement

    @property
    def chance(self) -> float:
        """The expected share of optimal actions of random play."""
        return _mean([judged.optimal / len(judged.values) for judged in self.judgements])

    @property
    def contested_chance(self) -> float:
        """The same in positions that have a wrong action; NaN where none has."""
        return _mean([judged.optimal / len(judged.values) for judged in self.judgements if judged.contested])

    def positions(self) -> pd.DataFrame:
        """Returns one row per agent and position.

        Columns: agent, label, position (id), phase, legal and optimal (numbers of actions), contested, action, best
        (value of the position for the mover), failed (it gave no legal action), loss (the best value less the
        action's, 0 to 2: a win is 1, a draw 0, a loss or a failure -1).
        """
        rows: list[dict[str, Any]] = []
        for agent, actions in self.actions.items():
            for judged, action in zip(self.judgements, actions, strict=True):
                seen = judged.spec.position
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

    def _repr_html_(self) -> str:
        """Shows the agents in a notebook."""
        return str(self.agents().set_index("label").drop(columns="agent").to_html(float_format=number))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else float("nan")
