"""The agent that follows formation tables on boards in them, and another agent elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ...core.kernel import JIT, kernel, pointer, types
from ...core.packing import WORDS, Package, Remade, pack, packing
from ...core.parameters import parameter
from ...games.abi import Actions, Floats
from ...games.game import Game
from ...games.twenty48.rules import BOARD, HIGH
from ..abi import ACT, SEAT, VALUES, VISITS, SeatKernels
from ..agent import Agent, CompiledAgent
from ..evaluator import Evaluator, ValueUnit
from ..evaluators.corner2048 import Corner2048
from ..expectimax.agent import Expectimax
from .lookup import FIVE, SIX, followed_action
from .table_file import open_tables, required_digest

# LEAST_FIVE, LEAST_SIX and the scale of the other agent's values; probabilities are divided by it, since people read
# both multiplied by it. Then the package, and the other agent's settings.
SCALE = 2
NUM_SETTINGS = 3
OTHERS = NUM_SETTINGS + WORDS
_U = np.uint64
_15 = _U(15)

_SHARED = (SEAT, Actions)
_write, _read = packing(types.Tuple(_SHARED))


@kernel(types.void(Package, *_SHARED))
def pack_shared(package, seat, words):
    _write(package, (seat, words))


class Settings(Remade):
    """Settings with what the package in them refers to; kernels in plain Python find the package itself here."""

    package: Any


def _settings_of(agent: CompiledAgent, game: Game) -> Any:
    return agent.kernels(game).settings


@kernel(Package(Floats))
def _package_in(settings):
    return settings.view(np.int64)[NUM_SETTINGS:OTHERS]


def _plain_package(settings: Any) -> Any:
    return settings.package


package_in: Any = _package_in if JIT else _plain_package


@kernel(ACT)
def act_formations(game, evaluator, settings, state, returns, rng, root):
    seat, words = _read(package_in(settings))
    high = _U(state[HIGH])
    board = _U(state[BOARD]) | high * _15
    chances = np.empty(8)
    action = followed_action(words, words.view(np.uint16), settings, board, chances)
    if action < 0:
        return seat.act(game, seat.evaluator, seat.settings, state, returns, rng, root)
    for i in range(4):
        if chances[i] >= 0.0:
            root[VISITS, i], root[VALUES, i] = 1.0, chances[i] / settings[SCALE]
    return action


# The line scores of macroxue/2048-ai.
FALLING = Corner2048(lost=30_000, falls=1.0, equals=1.5, hopeless=2.0)


@dataclass(frozen=True)
class Formations(CompiledAgent):
    """Looks up 4x4 boards of 2048 in formation tables, in all eight symmetries; another agent decides the others.

    A formation is a corner of five or six large tiles that do not move. A table has the probability that the other
    tiles become a chain that merges up to the smallest of these, and hence the best action. If a table decides, the
    values of actions are such probabilities. Without a table the other agent decides always. Source: formations, goals
    and line scores are those of macroxue/2048-ai, whose depth leaves out the first decision.
    """

    name: ClassVar[str] = "formations"
    act_kernel: ClassVar[Any] = act_formations

    table: str = parameter("", "the file of tables that `turnier tables` wrote", carried=True)
    digest: str = parameter("", "digest that the file must have; filled in")
    five: float = parameter(
        FIVE,
        "probability from which tables with five fixed tiles are followed, unless their file sets a lower one",
        low=0,
        high=1,
    )
    six: float = parameter(SIX, "the same for six, if those with five are not followed; 0 = any above 0", low=0, high=1)
    otherwise: Agent = parameter(
        Expectimax(depth=5, cutoff=0.0039, downgrade=65536, evaluator=FALLING),
        "the agent that decides other boards, in compiled code",
    )

    def draws_numbers(self, game: Game) -> bool | None:
        return self.otherwise.draws_numbers(game)

    def check(self) -> None:
        object.__setattr__(self, "digest", required_digest("formations", self.table, self.digest))

    def cannot_play(self, game: Game) -> str | None:
        timed = getattr(self.otherwise, "milliseconds", 0) or getattr(self.otherwise, "threads", 1) > 1
        if not isinstance(self.otherwise, CompiledAgent) or timed:
            return f"formations: otherwise must be an agent in compiled code, got {self.otherwise}; choose another."
        if self.table and (game.name != "2048" or game.num_cells != 16):
            return f"formation tables are of the 4x4 board of 2048 only, got {game}; leave the table out."
        return self.otherwise.cannot_play(game)

    def value_unit(self, game: Game) -> ValueUnit:
        unit = self.otherwise.value_unit(game)
        return unit._replace(text=f"probabilities by a table, elsewhere {unit.text}") if self.table else unit

    def used_evaluator(self) -> tuple[Evaluator, int, int]:
        assert isinstance(self.otherwise, CompiledAgent)
        return self.otherwise.used_evaluator()

    def kernels(self, game: Game) -> SeatKernels:
        assert isinstance(self.otherwise, CompiledAgent)
        seat = self.otherwise.kernels(game)
        if not self.table:
            return seat
        words = open_tables(self.carried_path("table"), self.digest)
        settings = np.empty(OTHERS + len(seat.settings))
        settings[:NUM_SETTINGS] = self.five, self.six, self.otherwise.value_unit(game).scale
        settings[OTHERS:] = seat.settings
        seat = replace(seat, settings=settings[OTHERS:])  # the caller keeps all of it
        kept = settings.view(Settings)
        kept.package, kept.origin = pack(pack_shared, seat, words), (_settings_of, (self, game))
        if JIT:
            settings[NUM_SETTINGS:OTHERS] = kept.package.view(np.float64)
        return replace(seat, act=pointer(act_formations, ACT), settings=kept, in_step=0)
