"""Ludii's agents as agents here, through a bridge to the user's own Ludii.jar: https://ludii.games."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...core.errors import UserError
from ...core.parameters import parameter
from ...core.rng import below, next_word, stream
from ...games.game import Game, Position
from ..abi import SeatKernels
from ..agent import Agent, Decision, Player, seat_rng
from ..budget import AMOUNT
from ..engines.engine import ON_FAILURE
from ..seats.failure import SeatFailure
from .bridge import IDLE, Bridge, take_bridge
from .games import PASS, LudiiGame, Moves, ludii_game, possible_moves, swap_action
from .jar import NO_JAR, digest_from_environment, digest_of_jar

GAMES = 6
RANDOM = "Random"  # Ludii's agent, who takes part but is not asked


def moves_that_agree(bridge: Bridge, game: Game, ludii: LudiiGame) -> Moves:
    """Returns Ludii's words for our actions; raises UserError if the rules differ however its sites lie."""
    games = [_random_game(game, seed) for seed in range(GAMES)]
    first = ""
    for moves in possible_moves(game, bridge.load(ludii)):
        said = next((said for each in games if (said := _disagreement(bridge, each, ludii, moves))), None)
        if said is None:
            return moves
        first = first or said
    raise UserError(
        f"Ludii must play {game} as {ludii.file} by the same rules, got this difference: {first}; name the options of"
        " your version of Ludii by options=."
    )


def _random_game(game: Game, seed: int) -> list[tuple[Position, int]]:
    """Returns the positions of a random game, each with what is played, -1 at its end; an even one swaps."""
    rng, position = stream(seed), game.start(seed)
    found = []
    while not position.over:
        legal = position.legal_actions()
        action = legal[below(rng, len(legal))]
        if seed % 2 == 0 and swap_action(game) in legal:
            action = swap_action(game)
        found.append((position, action))
        position = position.play(action)
    return [*found, (position, -1)]


def _disagreement(bridge: Bridge, played: list[tuple[Position, int]], ludii: LudiiGame, moves: Moves) -> str | None:
    bridge.begin(ludii, RANDOM)
    swapped = False
    for position, action in played:
        said = difference(bridge, position, moves, swapped)
        if said or position.over:
            return said
        bridge.play([moves.word(action, swapped)])
        swapped = swapped or action == swap_action(position.game)
    return None


def difference(bridge: Bridge, position: Position, moves: Moves, swapped: bool) -> str | None:
    """Returns how Ludii's match differs from the position, or None."""
    if position.over:
        while bridge.situation.moves == (PASS,):  # where ours is over as soon as nobody can move
            bridge.play([PASS])
        ranks = tuple(1 + (1 - float(value)) * (len(position.returns) - 1) / 2 for value in position.returns)
        got = bridge.situation.ranks
        return None if got == ranks else f"ranks must be {ranks}, got {got or 'no end'}"
    situation = bridge.situation
    if situation.seat != position.to_move:
        return f"seat {position.to_move} must move, got {'the end' if situation.over else situation.seat}"
    ours = {moves.word(action, swapped) for action in position.legal_actions()}
    if ours != set(situation.moves):
        only = sorted(ours ^ set(situation.moves))
        return f"moves must be {len(ours)} as ours, got {len(set(situation.moves))}; not in both: {', '.join(only[:5])}"
    return None


WARM_UP_MOVE_SECONDS = 1.0


@dataclass(frozen=True)
class Ludii(Agent):
    """An agent of Ludii, such as UCT or Alpha-Beta, in Java from the user's own Ludii.jar.

    Its random numbers are Ludii's own: equal seeds do not give equal moves. Source: Piette and others, "Ludii -
    The Ludemic General Game System", 2020.
    """

    name: ClassVar[str] = "ludii"
    budgets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "ms": {"milliseconds": AMOUNT, "iterations": 0},
        "rollouts": {"iterations": AMOUNT},
    }

    agent: str = parameter("Biased MCTS (Uniform Playouts)", "Ludii's name for the agent")
    milliseconds: int = parameter(1000, "time per move", low=1, high=3_600_000, search=(10, 1000))
    iterations: int = parameter(
        0, "iterations per move instead of milliseconds, 0 = none", low=0, high=1_000_000_000, search=(1, 10_000)
    )
    warm_up: int = parameter(
        20, "seconds of search in a new process before it plays by the clock: Java is slow at first", low=0, high=600
    )
    margin: int = parameter(10_000, "milliseconds by which an answer may be late", low=0, high=3_600_000)
    limit: float = parameter(600.0, "seconds for a move limited by iterations", low=0.001, high=86_400.0)
    start_limit: float = parameter(120.0, "seconds to start Java, or to load a game", low=0.1, high=3600.0)
    on_failure: str = parameter(
        "lose", "what happens if it crashes, stalls or plays an illegal move", choices=ON_FAILURE
    )
    options: str = parameter("", "Ludii's options for the game instead of ours, separated by ;")
    jar: str = parameter("", "path of Ludii.jar, by default from TURNIER_LUDII_JAR; kept as its digest")
    digest: str = parameter("", "digest that the jar must have; filled in")

    def check(self) -> None:
        if not self.agent or any(not text.isprintable() for text in (self.agent, self.options)):
            raise UserError(f"ludii: agent must be a name from Ludii, got {self.agent!r}; write agent=UCT.")
        if self.jar:  # a path of this machine must not identify the agent
            digest = digest_of_jar(self.jar)
            if self.digest not in ("", digest):
                raise UserError(
                    f"ludii: {self.jar} must have the digest {self.digest}, got {digest}; leave the digest out."
                )
            object.__setattr__(self, "digest", digest)
            object.__setattr__(self, "jar", "")
        elif not self.digest:
            object.__setattr__(self, "digest", digest_from_environment())

    @property
    def runs_program(self) -> bool:
        return True

    def cannot_play(self, game: Game) -> str | None:
        try:
            self.game_of(game)
        except UserError as error:
            return str(error)
        return None if self.digest else NO_JAR

    def game_of(self, game: Game) -> LudiiGame:
        """Returns Ludii's version of the game; raises UserError if Ludii does not have it."""
        found = ludii_game(game)
        return found._replace(options=tuple(self.options.split(";"))) if self.options else found

    def seat_kernels(self, game: Game) -> SeatKernels | None:
        """Returns None; raises UserError if Ludii cannot be started, lacks the agent or plays by other rules."""
        self.require(game)
        if (self, game) not in _checked:
            try:
                bridge = take_bridge(self.digest, self.start_limit)
                try:
                    self.moves_of(bridge, game)
                    bridge.begin(self.game_of(game), self.agent)
                except BaseException:
                    bridge.end()
                    raise
            except SeatFailure as failure:
                raise UserError(f"{self} cannot play {game}: {failure}.") from failure
            IDLE.give_back(self.digest, bridge)
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
        return LudiiPlayer(self, game, seat, int(next_word(seat_rng(seed, seat, game.num_seats)) >> np.uint64(1)))


_checked: set[tuple[Ludii, Game]] = set()
_moves: dict[tuple[str, Game, LudiiGame], Moves] = {}


class LudiiPlayer:
    """An agent of Ludii in one seat of one match, with its own bridge, which it gives back at the end."""

    def __init__(self, agent: Ludii, game: Game, seat: int, seed: int) -> None:
        self._agent, self._game, self._seat, self._seed = agent, game, seat, seed
        self._ludii = agent.game_of(game)
        self._bridge: Bridge | None = None
        self._told = 0  # plies of the match
        self._swapped = False

    def follow(self, plies: Sequence[int], before: Sequence[Position]) -> None:
        """Tells Ludii the plies since the latest call; the first call begins the match."""
        try:
            bridge = self._begun()
            words = []
            for ply in plies[self._told :]:
                words.append(self._moves.word(ply, self._swapped))
                self._swapped = self._swapped or ply == swap_action(self._game)
            bridge.play(words)
            self._told = len(plies)
        except BaseException as failure:
            raise self._dropped(failure) from None

    def _begun(self) -> Bridge:
        if self._bridge is None:
            self._bridge = take_bridge(self._agent.digest, self._agent.start_limit)
            self._moves = self._agent.moves_of(self._bridge, self._game)
            if not self._agent.iterations:
                warm_up(self._bridge, self._ludii, self._agent)
            self._bridge.begin(self._ludii, self._agent.agent, self._seat, self._seed)
        return self._bridge

    def act(self, position: Position) -> Decision:
        agent, bridge = self._agent, self._bridge
        if bridge is None:
            raise UserError(
                "ludii must be told the moves that led to a position, but got only the position; use it in matches."
            )
        began = time.perf_counter()
        try:
            if said := difference(bridge, position, self._moves, self._swapped):
                raise UserError(f"Ludii's position differs from the match: {said}.")
            seconds = 0.0 if agent.iterations else agent.milliseconds / 1000
            limit = agent.limit if agent.iterations else seconds + agent.margin / 1000
            word, iterations = bridge.think(seconds, agent.iterations, limit)
            action = self._moves.action(word, self._swapped)
            if action not in position.legal_actions():
                raise bridge.illegal(word)
        except BaseException as failure:
            raise self._dropped(failure) from None
        none = np.zeros(self._game.num_actions)
        return Decision(action, none, none, iterations, time.perf_counter() - began)

    def close(self) -> None:
        """Gives the bridge back for the next match."""
        if self._bridge is not None:
            IDLE.give_back(self._agent.digest, self._bridge)
            self._bridge = None

    def _dropped(self, failure: BaseException) -> BaseException:
        """Ends a failed bridge, so that the next match starts another; returns the failure with the agent's policy."""
        if self._bridge is not None:
            self._bridge.end()
            self._bridge = None
        if isinstance(failure, SeatFailure):
            failure.on_failure = self._agent.on_failure
        return failure


def warm_up(bridge: Bridge, game: LudiiGame, agent: Ludii) -> None:
    """Lets an agent play itself until Java has compiled its code."""
    if (game, agent.agent) in bridge.warm:
        return
    end = time.monotonic() + agent.warm_up
    bridge.begin(game, agent.agent)
    while time.monotonic() < end:
        seconds = min(WARM_UP_MOVE_SECONDS, agent.warm_up)
        bridge.play([bridge.think(seconds, 0, seconds + agent.margin / 1000)[0]])
        if bridge.situation.over:
            bridge.begin(game, agent.agent)
    bridge.warm.add((game, agent.agent))
