"""What an agent is: declared parameters, and a player that decides in one seat of one match."""

from __future__ import annotations

import operator
import time
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt

from ..core.errors import UserError
from ..core.kernel import late_pointer, pointer
from ..core.parameters import Declared, parameter
from ..core.rng import streams
from ..games.drawing import Overlay
from ..games.game import Game, Position
from .abi import ACT, ACT_TOGETHER, VALUES, VISITS, SeatKernels, absent_act_together
from .budget import AMOUNT
from .evaluator import ONLY_RANKS, Evaluator, Score, ValueUnit, results_in

Floats = npt.NDArray[np.float64]
QUICK = 50  # rollouts or nodes a move


def rollout_depth_parameter(default: int) -> Any:
    """Declares the maximum depth of an evaluator's rollouts."""
    text = "maximum plies of a rollout, if the evaluator plays any"
    return parameter(default, text, low=0, high=1_000_000, log=True, search=(0, 200))


def score_method_parameter(default: int, was: int | None = None) -> Any:
    """Declares how an agent's evaluator scores a finished rollout of a one-seat game (Kutsch 2017, 9.2)."""
    text = "value of a rollout that ended a one-seat game: 1 its score, 2 its score - 1"
    return parameter(default, text, low=1, high=2, was=was)


def milliseconds_parameter(replaced: str) -> Any:
    """Declares a time per move, which replaces another budget."""
    return parameter(0, f"time per move instead of {replaced}, 0 = none", low=0, high=3_600_000, search=(0, 100))


@dataclass(frozen=True)
class Decision:
    """An action and the search's findings: visits and mean value (for the mover) per action id, zero if unknown.

    People read values multiplied by the scale of the agent's `value_unit`.
    """

    action: int
    visits: Floats  # [num_actions]
    values: Floats  # [num_actions]
    nodes: int
    seconds: float

    @classmethod
    def of(cls, position: Position, action: int, values: Mapping[int, float]) -> Self:
        """Returns a decision after one look at each of some actions, with their values for the mover."""
        found = np.zeros((2, position.game.num_actions))
        found[:, list(values)] = [[1.0] * len(values), list(values.values())]
        return cls(action, found[VISITS], found[VALUES], len(values), 0.0)


class Player(Protocol):
    """An agent in one seat of one match."""

    def act(self, position: Position) -> Decision | int:
        """Returns the action to play, or a decision, which adds the search's findings."""


def decide(player: Player, position: Position) -> Decision:
    """Returns a player's decision; raises the failures that a game in Python had inside compiled code.

    An action alone becomes a decision with one node. Raises TypeError for anything that is neither.
    """
    began = time.perf_counter()
    decision = player.act(position)
    position.game.raise_failure()
    if isinstance(decision, Decision):
        return decision
    try:
        action = operator.index(decision)
    except TypeError:
        raise TypeError(f"act must return an action, a whole number, or a Decision, got {decision!r}") from None
    unknown = np.zeros(position.game.num_actions)
    return Decision(action, unknown, unknown, 1, time.perf_counter() - began)


@runtime_checkable
class FollowingPlayer(Player, Protocol):
    """A player that is told all plies of the match, not just the position."""

    def follow(self, plies: Sequence[int], before: Sequence[Position]) -> None:
        """Takes all plies so far, outcomes of chance included, and the position before each; called before `act`."""

    def close(self) -> None:
        """Ends its part in the match."""


@runtime_checkable
class ExplainingPlayer(Player, Protocol):
    """A player that shows the reasons for its decisions; any player may have this method."""

    def overlay(self) -> Overlay:
        """Returns a picture of the latest decision, for people."""


def seat_rng(seed: int, seat: int, num_seats: int) -> npt.NDArray[np.uint64]:
    """Returns the random stream of a seat; stream 0 of a match's seed belongs to chance, 1 + seat to the agents."""
    own: npt.NDArray[np.uint64] = streams(seed, 1 + num_seats)[1 + seat]
    return own


@dataclass(frozen=True)
class Agent(Declared):
    """Base of all agents."""

    kind: ClassVar[str] = "agent"
    # unit of a budget per move -> the parameters that hold an agent to it; none: it decides at once under any budget
    budgets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    sees_secrets: ClassVar[bool] = False  # whether it is shown what games hide from its seat, as its name must say
    takes_its_time: ClassVar[bool] = False  # whether it has no budgets, but does not decide at once

    @property
    def runs_program(self) -> bool:
        """Whether an external program or a person decides: only matches ask it, not views of stored games."""
        return False

    @property
    def in_python(self) -> bool:
        """Whether it decides in Python, one thread at a time; compiled code and programs run in parallel."""
        return not self.runs_program

    @property
    def one_thread(self) -> bool:
        """Whether the calling thread makes the whole decision, so that its CPU time is the decision's."""
        return False

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "__repr__" not in vars(cls):  # the one of a dataclass is not a text form
            setattr(cls, "__repr__", lambda self: str(self))  # noqa: B010, a method cannot be assigned

    def cannot_play(self, game: Game) -> str | None:
        """Returns why this agent cannot play the game, as a sentence, or None."""
        return None

    def draws_numbers(self, game: Game) -> bool | None:
        """Returns whether its decisions depend on random numbers; False: only on the moves before.

        None: unknown until its games show it, see `arena/schedules/repeats.py`, as for programs, agents that are not
        ours, and searches that differ only by the clock.
        """
        return None

    def value_unit(self, game: Game) -> ValueUnit:
        """Returns the unit in which people read its values: plain results of the game, unless overridden."""
        return ValueUnit(1.0, results_in(game))

    def within(self, amount: int, unit: str) -> Self:
        """Returns the agent limited to `amount` units per move; raises UserError if it cannot be."""
        if not self.budgets and not self.takes_its_time:
            return self
        if unit not in self.budgets:
            units = ", ".join(self.budgets) or "none"
            raise UserError(f"a budget in {unit} must fit every agent, but {self} takes only: {units}; choose another.")
        return self.replace(**{name: amount if v is AMOUNT else v for name, v in self.budgets[unit].items()})

    def quick(self) -> Agent:
        """Returns an agent like this one that plays whole games in a moment: at most QUICK rollouts or nodes a move."""
        for unit in ("rollouts", "nodes"):
            for name, amount in self.budgets.get(unit, {}).items():
                if amount is AMOUNT and not 0 < getattr(self, name) <= QUICK:
                    return self.within(QUICK, unit)
        return self

    def require(self, game: Game) -> None:
        """Raises UserError if the agent cannot play the game."""
        reason = self.cannot_play(game)
        if reason:
            raise UserError(reason)

    def prepare(self, game: Game) -> None:
        """Raises UserError if it cannot begin to play here; asked before a run's first match, and once a worker.

        Overrides call this one, too: it checks that the files named by parameters still have the same content.
        """
        self.require_files()

    @abstractmethod
    def start(self, game: Game, seat: int = 0, seed: int = 0) -> Player:
        """Returns a player for one match; the same seed gives the same decisions."""

    def seat_kernels(self, game: Game) -> SeatKernels | None:
        """Returns the agent for compiled code, or None if it decides in Python (milliseconds, threads)."""
        return None


@dataclass(frozen=True)
class CompiledAgent(Agent):
    """An agent whose decisions are one kernel; matches of such agents run whole in compiled code."""

    act_kernel: ClassVar[Any]
    together_kernel: ClassVar[Any] = absent_act_together  # decides in many matches, if the evaluator can
    in_step: ClassVar[int] = 32  # how many positions `together_kernel` should get at once
    looks_ahead: ClassVar[bool] = True  # whether it plays moves on the state, and so must know all of it

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "act_kernel" in vars(cls) and "together_kernel" not in vars(cls):
            cls.together_kernel = absent_act_together  # the inherited one belongs to another kernel

    @property
    def in_python(self) -> bool:
        return False

    @property
    def one_thread(self) -> bool:
        return True

    def settings(self) -> tuple[float, ...]:
        """Returns the act kernel's `settings`."""
        return ()

    def memory_words(self, game: Game) -> int:
        """Returns the words of memory for a decision; they are kept from one to the next, and arbitrary at first.

        The act kernel finds them behind its settings; the together kernel has as many for each position.
        """
        return 0

    def used_evaluator(self) -> tuple[Evaluator, int, int]:
        """Returns the evaluator, its rollout depth and the game-score method."""
        return Score(), 0, 1

    def evaluator_draws(self, game: Game) -> bool | None:
        """Returns whether its evaluator draws random numbers, None if unknown."""
        evaluator, rollout_depth, _ = self.used_evaluator()
        return evaluator.draws_numbers(game, rollout_depth)

    def value_unit(self, game: Game) -> ValueUnit:
        evaluator, rollout_depth, method = self.used_evaluator()
        unit = evaluator.value_unit(game)
        if evaluator.scores_ends and rollout_depth and method == 2 and game.num_seats == 1:
            less = f"{game.max_return:,.0f} less for a rollout that ended the game"
            return unit._replace(text=f"{ONLY_RANKS}: {unit.text}, {less}")
        return unit

    def cannot_play(self, game: Game) -> str | None:
        if game.hidden and self.looks_ahead:
            return f"{self.name} must know the whole state, got {game}, which hides some of it; ismcts plays them."
        return self.used_evaluator()[0].cannot_evaluate(game)

    def kernels(self, game: Game) -> SeatKernels:
        evaluator, depth, method = self.used_evaluator()
        evaluator_kernels = evaluator.kernels(game, depth, method)
        together, settings = type(self).together_kernel, self.settings()
        with_memory = np.empty(len(settings) + self.memory_words(game))  # only used pages take room
        with_memory[: len(settings)] = settings
        in_step = self.in_step if together is not absent_act_together and evaluator_kernels.has_together else 0
        return SeatKernels(
            pointer(type(self).act_kernel, ACT),
            evaluator_kernels,
            with_memory,
            late_pointer(together, ACT_TOGETHER) if in_step else absent_act_together,
            in_step,
            self.memory_words(game),
        )

    def seat_kernels(self, game: Game) -> SeatKernels | None:
        return self.kernels(game)

    def start(self, game: Game, seat: int = 0, seed: int = 0) -> Player:
        self.require(game)
        return CompiledPlayer(self, game, seat_rng(seed, seat, game.num_seats))


class CompiledPlayer:
    """Decides by one call of the agent's kernel: the same moves as in a compiled match, but slower."""

    def __init__(self, agent: CompiledAgent, game: Game, rng: npt.NDArray[np.uint64]) -> None:
        self.agent, self.game, self.rng = agent, game, rng
        self.kernels = agent.kernels(game)

    def act(self, position: Position) -> Decision:
        began = time.perf_counter()
        root = np.zeros((2, self.game.num_actions))
        action, nodes = self._decide(position, root, began)
        return Decision(action, root[VISITS], root[VALUES], nodes, time.perf_counter() - began)

    def _decide(self, position: Position, root: Floats, began: float) -> tuple[int, int]:
        """Returns the action and the number of evaluations, and fills in `root`, [2, actions].

        `began` is when the decision began, by `time.perf_counter`.
        """
        state, evaluator, settings = position.view(position.to_move), self.kernels.evaluator, self.kernels.settings
        action = self.kernels.act(self.game.kernels, evaluator, settings, state, position.returns, self.rng, root)
        return int(action), int(root[VISITS].sum())


class SearchAgent(CompiledAgent):
    """Base of searches, which have an evaluator and a budget of iterations or milliseconds.

    Subclasses declare the parameters named here.
    """

    timed_player: ClassVar[type[CompiledPlayer]]  # decides by the clock, or on several threads
    evaluator: Evaluator
    rollout_depth: int
    score_method: int
    milliseconds: int
    threads: int = 1

    @property
    def one_thread(self) -> bool:
        return self.threads == 1

    def used_evaluator(self) -> tuple[Evaluator, int, int]:
        return self.evaluator, self.rollout_depth, self.score_method

    def evaluator_or_clock_draws(self, game: Game) -> bool | None:
        """Returns `draws_numbers` for a search without random numbers of its own."""
        drawn = self.evaluator_draws(game)
        return drawn or (None if self.milliseconds else drawn)

    def cannot_play(self, game: Game) -> str | None:
        if game.in_python and self.threads > 1:
            return f"a game in Python is searched by one thread, got threads={self.threads} for {game}; use threads=1."
        return super().cannot_play(game)

    def seat_kernels(self, game: Game) -> SeatKernels | None:
        return None if self.milliseconds or self.threads > 1 else self.kernels(game)

    def start(self, game: Game, seat: int = 0, seed: int = 0) -> Player:
        self.require(game)
        player = self.timed_player if self.milliseconds or self.threads > 1 else CompiledPlayer
        return player(self, game, seat_rng(seed, seat, game.num_seats))
