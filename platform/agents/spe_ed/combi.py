"""Combi combines rollouts (space), tables (opponents) and minimax (tactics)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from ...core.kernel import compile_kernel
from ...core.parameters import parameter, redeclared
from ...games.game import Game
from ...games.spe_ed.board import ACTIVE, PLAYERS
from ..agent import Floats
from ..budget import AMOUNT
from .minimax import MinimaxAgent, MinimaxPlayer
from .player import Choice, TimedAgent, best_of
from .rollouts import RolloutAgent, RolloutPlayer
from .search.field import CELL, MOVES, Bytes, nearest, walkers_of
from .search.rollouts import ROLLOUTS, surviving
from .search.territory import SPACE_ROWS, is_apart, reachable
from .tables import TableAgent, TablePlayer

WORST = 2.0  # the largest score; with minimax weighed in, that of moves that begin no long path


class Values(NamedTuple):
    """The parameters that may depend on the situation."""

    filter_value: float
    start_probability: float
    table_weight: float
    minimax_weight: float
    jump_steps: int
    hug: float
    alone: bool = False  # nobody can come any more: minimax is not used


def presence(field: Bytes, total: Floats, cell: int, stride: int, side: int) -> float:
    """Returns the mean probability that others enter a cell near the given one, by the last round's tables.

    It is the mean over a square around the cell: the sum of probabilities divided by the number of free cells with any.
    Source: Brot 2021, 5.1, p_d.
    """
    reach = side // 2
    first = cell - reach * stride - reach
    square = first + np.arange(side)[:, None] * stride + np.arange(side)
    square = square[(square >= 0) & (square < field.size)]
    free = int(((field[square] == 0) & (total[square] != 0)).sum())
    return float(total[square].sum()) / free if free else 0.0


def scores(counts: npt.NDArray[np.int64], risks: Floats, weight: float) -> Floats:
    """Returns the score of every first move, smaller is better, infinite for those without paths.

    s(z) = p_start(z) / p_all + (1 - |M(z)| / |M_all|), the first part times 2 `weight`, the second times 2 - 2
    `weight`; a weight of one half leaves both unchanged. Source: Brot 2021, 5.2.

    Args:
        counts: [MOVES] paths that begin with a move, |M(z)|.
        risks: [MOVES] sums of the paths' mean probabilities of being entered by others, p_path.
    """
    some = counts > 0
    start = np.divide(risks, counts, out=np.zeros(len(counts)), where=some)
    entered = start / start.sum() if start.sum() > 0 else start
    score = 2 * weight * entered + (2 - 2 * weight) * (1 - counts / max(1, counts.sum()))
    return np.where(some, score, np.inf)


class CombiPlayer(RolloutPlayer, MinimaxPlayer, TablePlayer):
    """Tables first, then minimax if others are near, then rollouts in the time left."""

    def __init__(self, agent: TimedAgent, game: Game, rng: npt.NDArray[np.uint64]) -> None:
        super().__init__(agent, game, rng)
        assert isinstance(agent, Combi)
        compile_kernel(reachable)
        self.combi = agent
        self.total = np.zeros(self.field.size)  # of the last round's tables

    def situation(self) -> Values:
        """Returns the parameters for the situation: with two players left, or with little space."""
        combi = self.combi
        values = Values(
            combi.filter_value,
            combi.start_probability,
            combi.table_weight,
            combi.minimax_weight,
            combi.jump_steps,
            combi.hug,
        )
        if combi.tight_cells and int(reachable(self.field, self.stride, self.walker)) < combi.tight_cells:
            return values._replace(filter_value=combi.tight_filter_value, table_weight=combi.tight_table_weight)
        if combi.duel and self.state[ACTIVE : ACTIVE + self.state[PLAYERS]].sum() == 2:
            return values._replace(
                filter_value=combi.duel_filter_value,
                start_probability=combi.duel_start_probability,
                table_weight=combi.duel_table_weight,
            )
        return values

    def choose(self, ends: int) -> Choice:
        combi, began, values = self.combi, time.monotonic_ns(), self.situation()
        span = ends - began
        near = [] if values.alone else self.near()
        entered = presence(self.field, self.total, int(self.walker[CELL]), self.stride, combi.square)
        allowed = self.possible()
        searched, worse = 0, None
        if near and entered >= combi.minimax_activation:
            found = self.deepen(near, values.jump_steps, began + int(span * combi.minimax_share) if ends else 0)
            searched = found.nodes
            good = found.good(combi.minimax_slack)
            allowed = good if good.any() else allowed
            worse = (found.values.max() - found.values) / MOVES if values.minimax_weight else None
        spent = time.monotonic_ns() - began
        tables, _ = self.tables(values.start_probability, began + spent + int(span * combi.table_share) if ends else 0)
        self.total = tables.total.copy()
        rolled = self.roll_out(values.filter_value, values.hug, self.total, ends)
        counts, risks = surviving(rolled, values.filter_value)
        score = scores(counts, risks, values.table_weight)
        if worse is not None:
            score = np.minimum(score, WORST) + values.minimax_weight * worse
        open_moves = allowed & np.isfinite(score)
        action = best_of(np.where(open_moves, -score, 0.0), open_moves if open_moves.any() else allowed)
        self.remember(action)
        visits = np.maximum(counts, allowed)
        nodes = int(rolled.numbers[ROLLOUTS]) + searched
        return Choice(action, visits, np.where(np.isfinite(score), -score, 0.0), max(nodes, int(visits.sum())))


@dataclass(frozen=True)
class Combi(RolloutAgent, MinimaxAgent, TableAgent):
    """spe_ed: rollouts weighted by tables, minus penalties by a minimax that counts territory. Source: Brot 2021, 5.

    The document's Combi obeys minimax, asks it only if others are likely to be near, and ignores territory:
    `combi(minimax_activation=0.001,minimax_slack=0,minimax_weight=0,territory=0,table_weight=0.5,minimax_distance=20)`,
    with our square and distances, since the paper does not give them. The defaults win far more often
    (docs/results).
    """

    name: ClassVar[str] = "combi"
    player: ClassVar[Any] = CombiPlayer

    nodes: int = parameter(
        3000, "maximum nodes of minimax per move, 0 = no limit", low=0, high=1_000_000_000, log=True,
        search=(100, 100_000),
    )  # fmt: skip
    territory: float = parameter(
        10.0, "weight in minimax of the cells that the player reaches first", low=0, high=100, search=(0, 20)
    )
    minimax_distance: float = parameter(
        1000.0, "weighted distance up to which minimax considers others", low=0, high=1000, log=True, search=(10, 1000)
    )
    minimax_activation: float = parameter(
        0.0,
        "mean probability of others nearby from which minimax is used (minimaxActivationValue)",
        low=0,
        high=10,
        search=(0, 1),
    )
    minimax_slack: float = parameter(
        1000.0,
        "moves worse by at most this in minimax are allowed, too; 0 = only the best",
        low=0,
        high=1000,
        log=True,
        search=(0.1, 1000),
    )
    square: int = parameter(11, "cells per side of the square around the player for this probability", low=1, high=21)
    table_weight: float = parameter(0.3, "weight of the tables; the rollouts have the rest", low=0, high=1)
    minimax_weight: float = parameter(
        10.0,
        "penalty for a move that is worse than the best in minimax",
        low=0,
        high=100,
        log=True,
        search=(0.1, 100),
    )
    minimax_share: float = parameter(0.5, "share of the time for minimax, if used", low=0, high=0.9)
    table_share: float = parameter(0.2, "share of the time for the tables", low=0, high=0.9)
    duel: bool = parameter(False, "use the parameters named duel_... when two players are left")
    duel_filter_value: float = parameter(0.69, "filter_value in duels", low=0, high=1)
    duel_start_probability: float = parameter(2.0, "start_probability in duels", low=0.01, high=10, search=(0.1, 10))
    duel_table_weight: float = parameter(0.3, "table_weight in duels", low=0, high=1)
    tight_cells: int = parameter(
        0, "use those named tight_... if fewer cells than this can be reached", low=0, high=6400, search=(0, 200)
    )
    tight_filter_value: float = parameter(0.69, "filter_value in tight places", low=0, high=1)
    tight_table_weight: float = parameter(0.3, "table_weight in tight places", low=0, high=1)

    budgets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "ms": {"milliseconds": AMOUNT},
        "rollouts": {"rollouts": AMOUNT, "milliseconds": 0},
    }


class AdaptiveCombiPlayer(CombiPlayer):
    """Changes how a decision is made when walls part the player from all others."""

    def __init__(self, agent: TimedAgent, game: Game, rng: np.ndarray[Any, np.dtype[np.uint64]]) -> None:
        super().__init__(agent, game, rng)
        assert isinstance(agent, AdaptiveCombi)
        compile_kernel(is_apart)
        self.modes = agent
        self.space = np.empty((SPACE_ROWS, self.field.size), np.int32)

    def situation(self) -> Values:
        """Returns the parameters as they are here: among others, behind walls, or alone for good.

        Behind walls the longest path is followed as far as minimax finds that nobody who jumps over them gets more
        than before: so dead ends are filled last while others can reach their mouths.
        """
        values, modes = super().situation(), self.modes
        if not self.is_apart(by_jumps=False):
            return values._replace(jump_steps=0)
        return values._replace(
            filter_value=1.0,
            hug=modes.walled_hug,
            minimax_weight=modes.walled_weight,
            alone=self.is_apart(by_jumps=True),
        )

    def is_apart(self, by_jumps: bool) -> bool:
        """Returns whether nobody else can reach the free cells around, by steps and, if asked for, by jumps."""
        others = [seat for _, seat in nearest(self.state, self.seat)]
        walkers = walkers_of(self.state, [self.seat, *others])
        return bool(is_apart(self.field, self.stride, walkers, by_jumps, self.space))


@dataclass(frozen=True)
class AdaptiveCombi(Combi):
    """spe_ed: Combi that knows which walls others can jump over, and when it is alone; our own.

    Differs: from Brot 2021 as `combi` does, and in what it does behind walls. Among other players `jump_steps` is
    ignored: a wall that holds until somebody plans a jump is worth building. The defaults were chosen by hand; a search
    over them showed no improvement (docs/reproduction.md).
    """

    name: ClassVar[str] = "adaptive_combi"
    player: ClassVar[Any] = AdaptiveCombiPlayer

    hug: float = redeclared(Combi, "hug", 0.3)
    vary: float = redeclared(Combi, "vary", 0.4)
    freedom: float = redeclared(Combi, "freedom", 0.2)
    neighbours: float = redeclared(Combi, "neighbours", 0.5)
    decided: float = redeclared(Combi, "decided", 0.2)
    jump_steps: int = redeclared(Combi, "jump_steps", 15)
    walled_hug: float = parameter(0.85, "hug where others cannot reach the player by steps", low=0, high=1)
    walled_weight: float = parameter(
        3.0, "minimax_weight where only jumps reach the player", low=0, high=100, log=True, search=(0.1, 100)
    )
