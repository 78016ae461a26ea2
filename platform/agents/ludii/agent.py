"""Ludii's agents as agents here, by a bridge to the user's own Ludii.jar: https://ludii.games."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from turnier.agents.abi import SeatKernels
from turnier.agents.agent import Agent, Decision, Player, seat_rng
from turnier.agents.budget import AMOUNT
from turnier.agents.ludii.agreement import difference, moves_that_agree
from turnier.agents.ludii.bridge import Bridge, bridge_of_thread, share_bridge_of_thread
from turnier.agents.ludii.games import LudiiGame, Moves, ludii_game, swap_action
from turnier.agents.ludii.history import plies_between
from turnier.agents.ludii.jar import digest_from_environment, digest_of_jar
from turnier.agents.ludii.process import ProgramFailure
from turnier.core.errors import UserError
from turnier.core.parameters import parameter
from turnier.core.rng import next_word
from turnier.games.game import Game, Position

GRACE_SECONDS = 30.0  # beyond its time, such as where Java tidies its memory
LONGEST_SECONDS = 3600.0  # of a move without a time
WARM_UP_MOVE_SECONDS = 1.0


@dataclass(frozen=True)
class Ludii(Agent):
    """An agent of Ludii, such as UCT or Alpha-Beta, which runs in Java on the user's own Ludii.jar.

    Its random numbers are Ludii's own: the same seed does not give the same moves. Source: Piette and others, "Ludii -
    The Ludemic General Game System", 2020.
    """

    name: ClassVar[str] = "ludii"
    budgets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "ms": {"milliseconds": AMOUNT, "iterations": 0},
        "rollouts": {"iterations": AMOUNT},
    }

    agent: str = parameter("Biased MCTS (Uniform Playouts)", "Ludii's name of the agent")
    milliseconds: int = parameter(1000, "time per move", low=1, high=3_600_000, search=(10, 1000))
    iterations: int = parameter(
        0, "iterations per move instead of milliseconds, 0 = none", low=0, high=1_000_000_000, search=(1, 10_000)
    )
    warm_up: int = parameter(
        20, "seconds of search before a new process plays by the clock: Java is slow at first", low=0, high=600
    )
    options: str = parameter("", "Ludii's options of the game in place of ours, joined by ;")
    jar: str = parameter("", "path of Ludii.jar, otherwise TURNIER_LUDII_JAR; kept as its digest")
    digest: str = parameter("", "which jar that must be; filled in")

    def check(self) -> None:
        if not self.agent or any(not text.isprintable() for text in (self.agent, self.options)):
            raise UserError(f"ludii: agent must be a name of Ludii's, got {self.agent!r}; write agent=UCT.")
        if self.jar:  # a path of this machine must not say who played
            digest = digest_of_jar(self.jar)
            if self.digest not in ("", digest):
                raise UserError(
                    f"ludii: {self.jar} must have the digest {self.digest}, got {digest}; leave the digest out."
                )
            object.__setattr__(self, "digest", digest)
            object.__setattr__(self, "jar", "")
        elif not self.digest:
            object.__setattr__(self, "digest", digest_from_environment())

    def cannot_play(self, game: Game) -> str | None:
        try:
            self.game_of(game)
        except UserError as error:
            return str(error)
        return None

    def game_of(self, game: Game) -> LudiiGame:
        found = ludii_game(game)
        return found._replace(options=tuple(self.options.split(";"))) if self.options else found

    def seat_kernels(self, game: Game) -> SeatKernels | None:
        """Returns None; raises UserError where Ludii cannot be started or plays by other rules."""
        if (self, game) not in _checked:
            try:
                self.moves_of(bridge_of_thread(self.digest), game)
                bridge_of_thread(self.digest).begin(self.game_of(game), self.agent, 0, 0)
            except ProgramFailure as failure:
                raise UserError(f"{self} cannot play {game}: {failure}.") from failure
            finally:
                share_bridge_of_thread(self.digest)
            _checked.add((self, game))
        return None

    def moves_of(self, bridge: Bridge, game: Game) -> Moves:
        """Returns Ludii's words for the game's actions."""
        key = (self.digest, game, self.game_of(game))
        if key not in _moves:
            _moves[key] = moves_that_agree(bridge, game, self.game_of(game))
        return _moves[key]

    def start(self, game: Game, seat: int = 0, seed: int = 0) -> Player:
        self.require(game)
        bridge = bridge_of_thread(self.digest)
        if not self.iterations:
            self._warm(bridge, game)
        return LudiiPlayer(
            self, game, seat, int(next_word(seat_rng(seed, seat, game.num_seats)) >> np.uint64(1)), bridge
        )

    def _warm(self, bridge: Bridge, game: Game) -> None:
        """Lets the agent play with itself until Java has compiled what it runs."""
        ludii = self.game_of(game)
        if (ludii, self.agent) in bridge.warm:
            return
        end = time.monotonic() + self.warm_up
        match = bridge.begin(ludii, self.agent, 0, 0)
        while time.monotonic() < end:
            if match.situation.over:
                match = bridge.begin(ludii, self.agent, 0, 0)
            seconds = min(WARM_UP_MOVE_SECONDS, self.warm_up)
            match.play([match.think(seconds, 0, seconds + GRACE_SECONDS)[0]])
        bridge.warm.add((ludii, self.agent))


_checked: set[tuple[Ludii, Game]] = set()
_moves: dict[tuple[str, Game, LudiiGame], Moves] = {}


class LudiiPlayer:
    """An agent of Ludii in one seat of one match; it is told the plies that have led to a position."""

    def __init__(self, agent: Ludii, game: Game, seat: int, seed: int, bridge: Bridge) -> None:
        self.agent, self.game, self.seat, self.seed, self.bridge = agent, game, seat, seed, bridge
        self.moves = agent.moves_of(bridge, game)
        self._begin()

    def _begin(self) -> None:
        self.match = self.bridge.begin(self.agent.game_of(self.game), self.agent.agent, self.seat, self.seed)
        self.position, self.swapped = self.game.start(), False

    def act(self, position: Position) -> Decision:
        began = time.perf_counter()
        self._follow(position)
        agent = self.agent
        seconds = 0.0 if agent.iterations else agent.milliseconds / 1000
        deadline = seconds + GRACE_SECONDS if seconds else LONGEST_SECONDS
        word, iterations = self.match.think(seconds, agent.iterations, deadline)
        action = self.moves.action(word, self.swapped)
        if action is None:
            raise ProgramFailure(f"Ludii's bridge must play a move of the game, got {word!r}")
        nothing = np.zeros(self.game.num_actions)
        return Decision(action, nothing, nothing, iterations, time.perf_counter() - began)

    def _follow(self, position: Position) -> None:
        """Plays in Ludii what has been played since the latest decision."""
        plies = plies_between(self.position, position)
        if plies is None:  # not this match's next position: somebody asks about another one
            self._begin()
            plies = plies_between(self.position, position)
        if plies is None:
            raise ProgramFailure(
                f"ludii must be asked about a position of a game, got one that {self.game} cannot reach"
            )
        words = []
        for ply in plies:
            words.append(self.moves.word(ply, self.swapped))
            self.swapped = self.swapped or ply == swap_action(self.game)
        self.match.play(words)
        self.position = position
        said = difference(self.match, position, self.moves, self.swapped)
        if said:
            raise ProgramFailure(f"Ludii must be in the same position, but {said}")
