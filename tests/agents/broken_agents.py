"""Agents that each break one law of the contract, so that the tests can prove that every law can fail."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from turnier.agents.abi import ACT, ACT_TOGETHER, VALUES, VISITS
from turnier.agents.agent import Agent, CompiledAgent, Decision, Player
from turnier.agents.greedy import Greedy
from turnier.agents.mc import Mc
from turnier.agents.random import Random
from turnier.core.kernel import kernel
from turnier.core.parameters import parameter
from turnier.core.rng import below
from turnier.games.game import Game, Position
from turnier.games.python.python_game import PythonGame


def decision(game: Game, action: Any, visits: Any = None, values: Any = None, nodes: int = 0) -> Decision:
    nothing = np.zeros(game.num_actions)
    return Decision(action, nothing if visits is None else visits, nothing if values is None else values, nodes, 0.0)


@dataclass
class FunctionPlayer:
    """A player that decides by a function of the position."""

    decide: Callable[[Position], Decision]

    def act(self, position: Position) -> Decision:
        return self.decide(position)


@dataclass(frozen=True)
class PythonAgent(Agent):
    """Base of the broken agents that decide in Python; as it is it plays the first legal action and keeps every law."""

    name: ClassVar[str] = "broken"

    def start(self, game: Game, seat: int = 0, seed: int = 0) -> Player:
        return FunctionPlayer(self.decide)

    def decide(self, position: Position) -> Decision:
        return decision(position.game, position.legal_actions()[0])


@dataclass(frozen=True)
class First(PythonAgent):
    """Plays the first legal action: breaks nothing."""


@dataclass(frozen=True)
class Illegal(PythonAgent):
    """Plays an action that is not legal wherever there is one."""

    def decide(self, position: Position) -> Decision:
        taken = set(range(position.game.num_actions)) - set(position.legal_actions())
        return decision(position.game, min(taken, default=position.legal_actions()[0]))


@dataclass(frozen=True)
class Outside(PythonAgent):
    """Plays an action id that no game has."""

    def decide(self, position: Position) -> Decision:
        return decision(position.game, 1_000_000)


@dataclass(frozen=True)
class ChangesState(PythonAgent):
    """Leaves its lookahead in the position that it was given."""

    def decide(self, position: Position) -> Decision:
        action = position.legal_actions()[0]
        position.game.kernels.step(position.state, action, np.zeros(position.game.num_seats))
        return decision(position.game, action)


@dataclass(frozen=True)
class ChangesReturns(PythonAgent):
    """Gives itself a thousand points."""

    def decide(self, position: Position) -> Decision:
        position.returns[position.to_move] += 1000.0
        return decision(position.game, position.legal_actions()[0])


@dataclass(frozen=True)
class DrawsChance(PythonAgent):
    """Takes a number from the match's stream of chance."""

    def decide(self, position: Position) -> Decision:
        position._rng[:] ^= np.uint64(0x5555_5555_5555_5555)
        return decision(position.game, position.legal_actions()[0])


@dataclass(frozen=True)
class Raises(PythonAgent):
    """Fails while it decides."""

    def decide(self, position: Position) -> Decision:
        raise ZeroDivisionError("a mistake in the agent")


@dataclass(frozen=True)
class ReturnsNothing(PythonAgent):
    """Forgets to return its decision."""

    def decide(self, position: Position) -> Decision:
        return None  # type: ignore[return-value]


@dataclass(frozen=True)
class RaisesAtStart(PythonAgent):
    """Fails before it has a player."""

    def start(self, game: Game, seat: int = 0, seed: int = 0) -> Player:
        raise ZeroDivisionError("a mistake before the match")


@dataclass(frozen=True)
class GlobalRandom(PythonAgent):
    """Draws from Python's global generator, which no seed of a match sets."""

    def decide(self, position: Position) -> Decision:
        return decision(position.game, random.choice(position.legal_actions()))


@dataclass(frozen=True)
class Peeks(PythonAgent):
    """Plays out each action on the position that it was given, and so sees the tile that the match will draw."""

    def decide(self, position: Position) -> Decision:
        seen = {action: tuple(position.play(action).state) for action in position.legal_actions()}
        return decision(position.game, max(seen, key=lambda action: hash(seen[action])))


@dataclass(frozen=True)
class SeesSecrets(PythonAgent):
    """Decides by all that was dealt and played, where a game of OpenSpiel hides some of it."""

    def decide(self, position: Position) -> Decision:
        game, legal = position.game, position.legal_actions()
        assert isinstance(game, PythonGame)
        return decision(game, legal[sum(game.plies(position.state)) % len(legal)])


@dataclass(frozen=True)
class WrongShape(PythonAgent):
    """Says something of two actions only."""

    def decide(self, position: Position) -> Decision:
        return decision(position.game, position.legal_actions()[0], visits=np.zeros(2))


@dataclass(frozen=True)
class ValuesIllegal(PythonAgent):
    """Values every action, legal or not."""

    def decide(self, position: Position) -> Decision:
        ones = np.ones(position.game.num_actions)
        return decision(position.game, position.legal_actions()[0], ones, ones, ones.size)


@dataclass(frozen=True)
class PlaysWorst(PythonAgent):
    """Plays the action whose value it says is the lowest."""

    def decide(self, position: Position) -> Decision:
        legal = position.legal_actions()
        visits, values = np.zeros((2, position.game.num_actions))
        visits[legal], values[legal] = 1.0, legal
        return decision(position.game, legal[0], visits, values, len(legal))


@dataclass(frozen=True)
class ThinksLong(PythonAgent):
    """Searches although there is nothing to choose."""

    def decide(self, position: Position) -> Decision:
        legal = position.legal_actions()
        visits = np.zeros(position.game.num_actions)
        visits[legal[0]] = 100.0
        return decision(position.game, legal[0], visits, nodes=100)


@dataclass(frozen=True)
class TwoFaced(Greedy):
    """Decides by chance in Python and greedily in compiled code."""

    name: ClassVar[str] = "broken"

    def start(self, game: Game, seat: int = 0, seed: int = 0) -> Player:
        return Random().start(game, seat, seed)


@dataclass(frozen=True)
class HidesNodes(Greedy):
    """Counts its nodes in compiled code only."""

    name: ClassVar[str] = "broken"

    def start(self, game: Game, seat: int = 0, seed: int = 0) -> Player:
        player = super().start(game, seat, seed)

        def decide(position: Position) -> Decision:
            found = player.act(position)
            return decision(game, found.action, found.visits, found.values)

        return FunctionPlayer(decide)


@kernel(ACT)
def act_outside(game, evaluator, settings, state, returns, rng, root):
    return game.num_actions


@dataclass(frozen=True)
class CompiledIllegal(CompiledAgent):
    """Plays an action id that does not exist, in compiled code."""

    name: ClassVar[str] = "broken"
    act_kernel: ClassVar[Any] = act_outside


@kernel(ACT)
def act_on_state(game, evaluator, settings, state, returns, rng, root):
    actions = np.empty(game.max_choices, np.int64)
    game.legal(state, actions)
    game.step(state, actions[0], returns)
    root[VISITS, actions[0]], root[VALUES, actions[0]] = 1.0, returns[0]
    return actions[0]


@dataclass(frozen=True)
class CompiledChangesState(CompiledAgent):
    """Steps the state that its kernel was given."""

    name: ClassVar[str] = "broken"
    act_kernel: ClassVar[Any] = act_on_state


@kernel(ACT)
def act_past_the_end(game, evaluator, settings, state, returns, rng, root):
    actions = np.empty(game.max_choices, np.int64)
    n = game.legal(state, actions)
    returns[game.num_seats] = 1.0
    return actions[below(rng, n)]


@dataclass(frozen=True)
class CompiledWritesOutside(CompiledAgent):
    """Writes behind the end of the returns."""

    name: ClassVar[str] = "broken"
    act_kernel: ClassVar[Any] = act_past_the_end


@kernel(ACT)
def act_on_settings(game, evaluator, settings, state, returns, rng, root):
    actions = np.empty(game.max_choices, np.int64)
    n = game.legal(state, actions)
    settings[0] += 1.0
    return actions[np.int64(settings[0]) % n]


@dataclass(frozen=True)
class CompiledRemembers(CompiledAgent):
    """Keeps a count in its settings, so that a batch's matches depend on each other."""

    name: ClassVar[str] = "broken"
    act_kernel: ClassVar[Any] = act_on_settings

    def settings(self) -> tuple[float, ...]:
        return (0.0,)


@kernel(ACT_TOGETHER)
def act_first_together(game, evaluator, settings, states, returns, rngs, roots, actions, memory):
    choices = np.empty(game.max_choices, np.int64)
    for i in range(actions.size):
        game.legal(states[i], choices)
        actions[i] = choices[0]


@dataclass(frozen=True)
class TogetherFirst(Mc):
    """Plays the first legal action where it decides in many positions at once."""

    name: ClassVar[str] = "broken"
    together_kernel: ClassVar[Any] = act_first_together


@dataclass(frozen=True)
class DeniesDrawing(Random):
    """Declares to draw no random numbers."""

    def draws_numbers(self, game: Game) -> bool:
        return False


@dataclass(frozen=True)
class NoHelp(First):
    """Has a parameter that nobody can understand."""

    depth: int = parameter(1, " ", low=0, high=3)


@dataclass(frozen=True)
class NoRange(First):
    """Has a parameter that no study could search."""

    depth: int = parameter(1, "how deep")


@dataclass(frozen=True)
class DefaultOutside(First):
    """Has a default that its own declaration forbids."""

    mode: str = parameter("slow", "how", choices=("fast", "faster"))


@dataclass(frozen=True)
class LogFromZero(First):
    """Has a logarithmic range that starts at zero."""

    rate: float = parameter(0.1, "how fast", low=0, high=1, log=True)


@dataclass(frozen=True)
class Undeclared(First):
    """Has a field that is no parameter."""

    secret: int = field(default=7, init=False)


@dataclass(frozen=True)
class Loses(First):
    """Its text form loses a parameter: a word changes on the way."""

    word: str = parameter("as typed", "free text")

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "word", self.word.swapcase())
