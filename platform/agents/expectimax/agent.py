"""Expectimax: search to a depth with exact expectations over chance and any evaluator at the leaves."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ...core.errors import UserError
from ...core.kernel import kernel, pointer
from ...core.parameters import parameter
from ...games.game import Game, NumArray, Position
from ..abi import ACT, VISITS, SeatKernels
from ..agent import (
    CompiledPlayer,
    SearchAgent,
    milliseconds_parameter,
    rollout_depth_parameter,
    score_method_parameter,
)
from ..budget import AMOUNT
from ..evaluator import Evaluator, Score
from ..evaluators.corner2048 import Corner2048
from ..evaluators.rows2048 import Rows2048
from ..ntuple.evaluator import NTuple
from .lowered2048 import cannot_downgrade, downgrade_parameter, lowered, raise_values
from .ntuple2048 import act_expectimax2048_ntuple
from .one_ply2048 import is_packed_network, one_ply_seat
from .rows2048 import act_expectimax2048
from .schedule2048 import FIXED, STEPS, depth_of
from .search import DEPTH, DOWNGRADE, LIMIT, SCHEDULE, STOPPED, search_root

SCHEDULES = ("fixed", "empty", "empty_plies", "distinct")
LEAVES = ("afterstate", "state")
CHANCES = ("mean", "worst")
MOST = 64  # decisions


@kernel(ACT)
def act_expectimax(game, evaluator, settings, state, returns, rng, root):
    depth, leaf = depth_of(game, settings, state, returns)
    state, returns, points = lowered(state, returns, np.int64(settings[DOWNGRADE]))
    action = search_root(game, evaluator, settings, depth, leaf, state, returns, rng, root)
    raise_values(root, points / game.max_return)
    return action


class TimedExpectimaxPlayer(CompiledPlayer):
    """Deepens from one decision until the time is up; the last completed depth counts."""

    def _decide(self, position: Position, root: NumArray, began: float) -> tuple[int, int]:
        assert isinstance(self.agent, Expectimax)
        end = began + self.agent.milliseconds / 1000
        action, nodes = position.legal_actions()[0], 0
        settings = self.kernels.settings.copy()
        settings[SCHEDULE], settings[DEPTH], settings[LIMIT] = FIXED, 0, 0
        state = position.view(position.to_move)
        # The first depth is always searched, even if this thread was kept waiting all its time.
        while settings[DEPTH] < MOST and (nodes == 0 or time.perf_counter() < end):
            settings[DEPTH] += 1
            deeper = np.zeros_like(root)
            call_began = time.perf_counter()
            found = self.kernels.act(
                self.game.kernels, self.kernels.evaluator, settings, state, position.returns, self.rng, deeper
            )
            seconds = time.perf_counter() - call_began
            if found == STOPPED:
                evaluated = settings[LIMIT]
                settings[DEPTH] -= 1
            else:
                action, root[:], evaluated = int(found), deeper, deeper[VISITS].sum()
            nodes += int(evaluated)
            if evaluated == 0:
                break
            # The speed of this search limits the evaluations of the next one to the time left. A search that was
            # stopped early, due to a speed measured on too few evaluations, is begun again.
            left = end - time.perf_counter()
            settings[LIMIT] = max(1, int(evaluated / seconds * left))
            if found == STOPPED and settings[LIMIT] < 2 * evaluated:
                break
        return action, nodes


@dataclass(frozen=True)
class Expectimax(SearchAgent):
    """Looks `depth` decisions ahead, each the best for its mover, with every chance outcome in between.

    Depth 1 evaluates the afterstates of the legal actions, as `greedy` does; among equals, the first is played. With a
    deterministic evaluator the table changes no values, except that with a cut-off or `deeper` they may become finer,
    never coarser.

    Source: schedule `empty` is that of the 2019 blog on 2048 (7 - empty cells, at least 2 below 300 moves, 3 below 700,
    4 below 4500, otherwise one more and at least 5) in units of a decision and an outcome, as in its text;
    `empty_plies` counts each decision and outcome after the first decision, as its pseudo-code does. `distinct` is
    max(4, distinct tiles - 1), as in R. Xiao's program (github.com/nneonneo/2048-ai), which does not count the first
    decision. `depth=5,empty_step=4,shallowest=3` follows the published depths of TDL2048+. With `chance=worst` it plans
    against a player who chooses the outcomes (Kutsch 2017, 4.5).
    """

    name: ClassVar[str] = "expectimax"
    timed_player: ClassVar[type[CompiledPlayer]] = TimedExpectimaxPlayer
    act_kernel: ClassVar[Any] = act_expectimax

    depth: int = parameter(2, "decisions to look ahead (schedule fixed)", low=1, high=MOST, search=(1, 4))
    leaf: str = parameter(
        "afterstate",
        "leaves: the states after a decision, or after the chance outcome too",
        choices=LEAVES,
    )
    schedule: str = parameter(
        "fixed",
        "depth as given, by a 2048 board's empty cells and moves, or by its distinct tiles",
        choices=SCHEDULES,
    )
    deepest: int = parameter(MOST, "maximum decisions to look ahead by a schedule", low=1, high=MOST, search=(1, 8))
    cutoff: float = parameter(
        0.0, "probability below which branches are evaluated at once", low=0, high=1, search=(0, 0.05)
    )
    table: int = parameter(18, "maximum size of the transposition table in bits, 0 = none", low=0, high=24)
    evaluator: Evaluator = parameter(Score(), "evaluates the leaves")
    rollout_depth: int = rollout_depth_parameter(20)
    score_method: int = score_method_parameter(2)
    milliseconds: int = milliseconds_parameter("depth")
    downgrade: int = downgrade_parameter()
    empty_step: int = parameter(
        0,
        "2048: empty cells that shorten the look-ahead by one decision, 0 = none",
        low=0,
        high=16,
        search=(0, 8),
        later=True,
    )
    shallowest: int = parameter(
        1, "minimum decisions to look ahead with empty_step", low=1, high=MOST, search=(1, 4), later=True
    )
    deeper: bool = parameter(False, "also use values of deeper searches from the table", later=True)
    chance: str = parameter(
        "mean", "value of a chance node: the mean over its outcomes, or the worst one's", choices=CHANCES, later=True
    )

    def draws_numbers(self, game: Game) -> bool | None:
        return self.evaluator_or_clock_draws(game)

    def check(self) -> None:
        if self.empty_step and self.schedule != "fixed":
            raise UserError(
                f"expectimax: empty_step shortens schedule=fixed, got schedule={self.schedule}; leave one out."
            )

    def cannot_play(self, game: Game) -> str | None:
        if self.schedule != "fixed" and game.name != "2048":
            return f"schedule={self.schedule} reads boards of 2048 only, got {game}; use schedule=fixed."
        if self.empty_step and game.name != "2048":
            return f"empty_step counts the empty cells of 2048 only, got {game}; leave it out."
        if self.chance == "worst" and game.num_seats != 1:
            return f"chance=worst is for games of one seat, got {game} with {game.num_seats}; use chance=mean."
        return cannot_downgrade(self.downgrade, self.evaluator, game) or super().cannot_play(game)

    budgets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"ms": {"milliseconds": AMOUNT}}

    def quick(self) -> Expectimax:
        """Returns an agent that looks one decision ahead with an n-tuple network, otherwise at most two."""
        depth = 1 if isinstance(self.evaluator, NTuple) else min(self.depth, 2)
        return self.replace(depth=depth, schedule="fixed", empty_step=0, milliseconds=0)

    def settings(self) -> tuple[float, ...]:
        leaf, schedule = LEAVES.index(self.leaf), STEPS if self.empty_step else SCHEDULES.index(self.schedule)
        asked = (self.depth, leaf, schedule, self.deepest, self.cutoff, self.table, 0)
        return (*asked, self.downgrade, self.empty_step, self.shallowest, self.deeper, CHANCES.index(self.chance))

    def kernels(self, game: Game) -> SeatKernels:
        """Returns the generic search, or the one for 4x4 boards of 2048 if there is one for the evaluator."""
        kernels = super().kernels(game)
        act: Any = act_expectimax
        if self.chance == "worst":
            return kernels
        if game.num_seats == 1 and type(self.evaluator) in (Rows2048, Corner2048):  # tables of lines
            act = act_expectimax2048
        elif is_packed_network(self.evaluator, kernels):
            if (self.depth, self.leaf, self.schedule, self.milliseconds) == (1, "afterstate", "fixed", 0):
                return one_ply_seat(kernels, forced=False, downgrade=self.downgrade)
            act = act_expectimax2048_ntuple
        return replace(kernels, act=pointer(act, ACT))
