"""Information set Monte Carlo tree search, for games that hide something.

Source: Cowling, Powley and Whitehouse, "Information Set Monte Carlo Tree Search", IEEE Transactions on Computational
Intelligence and AI in Games 4(2), 2012.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...core.parameters import parameter
from ...games.abi import CHANCE, TERMINAL
from ...games.game import Game, Position
from ...games.python.information import Determinisations, information
from ...games.python.live_states import LiveState
from ...games.python.python_game import PythonGame
from ..abi import VALUES, VISITS
from ..agent import Agent, Decision, milliseconds_parameter, seat_rng
from ..budget import OF_ITERATIONS
from ..timed import run_chunks

OBSERVERS = ("one", "all")
FINALS = ("robust", "proportional")


@dataclass(frozen=True)
class Ismcts(Agent):
    """Information set Monte Carlo tree search: every iteration plays in another state that agrees with what the seat
    knows, and all iterations share one tree of information sets; UCB counts how often an action was available.

    It knows what the game's `information` says, and nothing else. With observers=one it is SO-ISMCTS, with all
    MO-ISMCTS. Source: Cowling, Powley and Whitehouse 2012. Differs: others' unseen actions are drawn evenly; with
    final=proportional, an action is played as often as it was visited, which others cannot foresee.
    """

    name: ClassVar[str] = "ismcts"

    iterations: int = parameter(1000, "iterations per move", low=1, high=10_000_000, log=True, search=(10, 10_000))
    exploration: float = parameter(0.7, "K of UCB", low=0, high=100, log=True, search=(0.01, 10))
    observers: str = parameter(
        "all", "whose knowledge makes an information set: the seat's own, or the mover's", choices=OBSERVERS
    )
    final: str = parameter("robust", "the action played: most visits, or drawn in proportion to them", choices=FINALS)
    milliseconds: int = milliseconds_parameter("iterations")

    budgets: ClassVar[Mapping[str, Mapping[str, Any]]] = OF_ITERATIONS

    def draws_numbers(self, game: Game) -> bool:
        return True

    def cannot_play(self, game: Game) -> str | None:
        if not isinstance(game, PythonGame) or not game.has_information or game.has_views:
            return (
                f"{self.name} plays games in Python that say what a seat knows (`information`), got {game}, which does"
                " not; use mcts where nothing is hidden."
            )
        return None

    def start(self, game: Game, seat: int = 0, seed: int = 0) -> IsmctsPlayer:
        self.require(game)
        assert isinstance(game, PythonGame)
        return IsmctsPlayer(self, game, seat, int(seat_rng(seed, seat, game.num_seats)[0]))


class IsmctsPlayer:
    """Searches anew for each decision, by what the seat knows."""

    def __init__(self, agent: Ismcts, game: PythonGame, seat: int, seed: int) -> None:
        self.agent, self.game, self.seat, self.seed = agent, game, seat, seed

    def act(self, position: Position) -> Decision:
        began, found = time.perf_counter(), np.zeros((2, self.game.num_actions))
        if len(legal := position.legal_actions()) == 1:
            return Decision(legal[0], found[VISITS], found[VALUES], 0, time.perf_counter() - began)
        unseen = Determinisations(self.game, self.seat, self.game.plies(position.state), self.seed)
        one = self.agent.observers == "one"
        tree = InformationTree(self.game, unseen, self.agent.exploration, one)
        rng = random.Random(f"{self.seed} search {unseen.known!r}")

        def search(iterations: int) -> bool:
            for _ in range(iterations):
                tree.iterate(rng)
            return True

        if self.agent.milliseconds:
            run_chunks(search, 8, began, self.agent.milliseconds)
        else:
            search(self.agent.iterations)
        edges = tree.root()
        for action, edge in edges.items():
            found[VISITS, action], found[VALUES, action] = edge.visits, edge.mean
        seconds = time.perf_counter() - began
        return Decision(self._final(edges, rng), found[VISITS], found[VALUES], int(found[VISITS].sum()), seconds)

    def _final(self, edges: dict[int, Edge], rng: random.Random) -> int:
        if self.agent.final == "proportional":
            return rng.choices(list(edges), [edge.visits for edge in edges.values()])[0]
        return max(sorted(edges), key=lambda action: (edges[action].visits, edges[action].mean))


class Edge:
    """An action of an information set."""

    __slots__ = ("available", "total", "visits")

    def __init__(self) -> None:
        self.visits = 0
        self.total = 0.0  # of the mover's returns
        self.available = 0  # iterations in which it could have been chosen

    @property
    def mean(self) -> float:
        return self.total / self.visits


class InformationTree:
    """Searches from what one seat knows; all seats maximise their own returns.

    With one observer, an information set is what the searching seat can tell apart, also where others move: they seem
    to know neither more nor less than it. With all observers, it is what the seat that moves can tell apart.
    """

    def __init__(self, game: PythonGame, unseen: Determinisations, exploration: float, one_observer: bool) -> None:
        """Starts an empty tree.

        Args:
            game: declares `information`.
            unseen: draws the state of each iteration.
            exploration: K of UCB, for rewards from 0 to 1.
            one_observer: whether the searching seat is the only one whose knowledge counts.
        """
        self._game, self._unseen, self._one_observer = game, unseen, one_observer
        self._exploration = 2 * exploration * game.max_return  # returns are not normalised, which ranks actions equally
        self._sets: dict[tuple[int, str], dict[int, Edge]] = {}
        self.plies = 0  # played in all iterations

    def root(self) -> dict[int, Edge]:
        """Returns the actions tried so far at the decision."""
        known = self._unseen.known
        return self._sets.get((known.seat, known.texts[-1]), {})

    def iterate(self, rng: random.Random) -> None:
        """Draws a state, descends to an action not tried before, plays to the end at random, and backs up."""
        states, live = self._game.live_states, self._unseen.draw().live
        path, returns, in_tree = list[tuple[int, Edge]](), [0.0] * states.num_seats, True
        while (mover := states.mover(live)) != TERMINAL:
            if mover == CHANCE:
                plies, chances = states.outcomes(live)
                ply = rng.choices(plies, chances)[0]
            elif in_tree:
                ply, edge = self._select(live, mover, rng)
                in_tree = edge.visits > 0
                path.append((mover, edge))
            else:
                ply = rng.choice(states.legal(live))
            live = states.step(live, ply)
            self.plies += 1
            for seat, reward in enumerate(live.rewards):
                returns[seat] += reward
        for mover, edge in path:
            edge.visits += 1
            edge.total += returns[mover]

    def _select(self, live: LiveState, mover: int, rng: random.Random) -> tuple[int, Edge]:
        """Returns an untried action at random, or the one with the largest bound among those of this state."""
        viewer = self._unseen.known.seat if self._one_observer else mover
        edges = self._sets.setdefault((mover, information(self._game, live, viewer)), {})
        legal = self._game.live_states.legal(live)
        untried = [action for action in legal if action not in edges]
        if untried:
            action = rng.choice(untried)
            edges[action] = Edge()
        for each in legal:
            if each in edges:
                edges[each].available += 1
        if not untried:
            action = max(legal, key=lambda each: self._bound(edges[each]))
        return action, edges[action]

    def _bound(self, edge: Edge) -> float:
        return edge.mean + self._exploration * math.sqrt(math.log(edge.available) / edge.visits)
