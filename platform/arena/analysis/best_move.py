"""The best move in a position according to one agent, and what comes of every move in games played on from it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from turnier.agents.agent import Agent
from turnier.agents.budget import AMOUNT
from turnier.agents.evaluator import ValueUnit
from turnier.agents.expectimax.agent import Expectimax
from turnier.agents.greedy import Greedy
from turnier.agents.ntuple.evaluator import NTuple
from turnier.agents.registry import agent_of, make_agent
from turnier.arena.analysis.continuations import Continuations
from turnier.arena.match import derive_seed
from turnier.arena.repeated_search import SearchRecord, SearchSpec, SeenPosition, prepare_searches, searched_position
from turnier.core.errors import MAX_IN_MEMORY, UserError, require_at_most
from turnier.games.game import Game, Position
from turnier.statistics.intervals import Interval, Mean, mean_interval, share_interval

GAMES, SECONDS = 100, 1.0  # of what is played on from each move, and for all moves together
MOST_SECONDS = 86_400
QUICK = 50  # iterations of an agent that plays on
PAUSE = 0.1  # seconds between two reports
PATIENCE = 2.0  # a game is given up when all games have taken so many times their seconds


@dataclass(frozen=True)
class Goal:
    """What may be reached in a game that is played on: a large enough value of a fact at its end, or a win."""

    fact: str = ""  # of `Game.facts`; empty: the mover has more than anybody else
    least: float = 0.0

    def __str__(self) -> str:
        return f"{self.fact} {self.least:g}" if self.fact else "win"

    def data(self) -> dict[str, Any]:
        return {"reach": self.fact, "at_least": self.least} if self.fact else {"reach": "win"}

    def reached(self, end: Position, mover: int) -> bool:
        if self.fact:
            return end.game.facts(end.state)[self.fact] >= self.least
        returns = end.returns.tolist()
        return all(returns[mover] > other for seat, other in enumerate(returns) if seat != mover)


@dataclass(frozen=True)
class MoveOutlook:
    """What is known about a move."""

    action: int
    value: float | None  # by the agent's search, for the mover, in its unit; None where it did not say
    visits: float
    results: tuple[float, ...]  # the mover's at the ends of the games that were played on, in points
    reached: int  # games in which the goal was

    @property
    def result(self) -> Mean:
        return mean_interval(self.results)

    @property
    def chance(self) -> Interval:
        """The share of games that reached the goal, with Wilson's 95 % interval."""
        return share_interval(self.reached, len(self.results))


@dataclass(frozen=True)
class BestMove:
    """An agent's move and the outlook of all moves: the agent's first, then ordered by its values."""

    position: Position
    agent: str
    best: int  # action
    moves: tuple[MoveOutlook, ...]
    player: str  # who played on, in every seat
    goal: Goal | None
    search_seconds: float
    seconds: float  # wall clock of all, without compiling
    nodes: int

    @property
    def unit(self) -> ValueUnit:
        """The unit of the values, which are already multiplied by its scale."""
        return agent_of(self.agent).value_unit(self.position.game)

    @property
    def games(self) -> int:
        """How many were played on from each move."""
        return len(self.moves[0].results)

    def data(self) -> dict[str, Any]:
        """Returns all as JSON takes it; what is not known is null."""
        game = self.position.game
        return {
            "game": game.full_text(),
            "board": game.board_text(self.position.state),
            "to_move": self.position.to_move,
            "agent": self.agent,
            "best": game.move_text(self.position.state, self.best),
            "unit": self.unit.text,
            "nodes": self.nodes,
            "search_seconds": self.search_seconds,
            "seconds": self.seconds,
            "played_on_by": self.player,
            "goal": None if self.goal is None else self.goal.data(),
            "moves": [self._data_of(one) for one in self.moves],
        }

    def _data_of(self, one: MoveOutlook) -> dict[str, Any]:
        mean, half = one.result
        share, low, high = one.chance if self.goal else (None, None, None)
        return {
            "move": self.position.game.move_text(self.position.state, one.action),
            "action": one.action,
            "value": one.value,
            "visits": one.visits,
            "games": len(one.results),
            "result": _known(mean),
            "result_low": _known(mean - half),
            "result_high": _known(mean + half),
            "chance": _known(share),
            "chance_low": _known(low),
            "chance_high": _known(high),
        }


def _known(value: float | None) -> float | None:
    return None if value is None or np.isnan(value) else float(value)


def default_agent(game: Game) -> str:
    """Returns an agent that needs no file and answers in well under a second."""
    strong = "expectimax(depth=3,evaluator=rows2048)"
    return strong if make_agent(strong).cannot_play(game) is None else "mcts(iterations=1000)"


def quick_player(agent: Agent) -> Agent:
    """Returns an agent like this one that can play whole games in a moment.

    Expectimax looks one decision ahead with a network and otherwise at most two; searches that count iterations or
    nodes get 50 of them.
    """
    if isinstance(agent, Expectimax):
        if isinstance(agent.evaluator, NTuple):
            return Greedy(agent.evaluator, agent.rollout_depth, agent.score_method, agent.downgrade)
        return agent.replace(depth=min(agent.depth, 2), schedule="fixed", empty_step=0, milliseconds=0)
    for unit in ("rollouts", "nodes"):
        for name, amount in agent.budgets.get(unit, {}).items():
            if amount is AMOUNT and not 0 < getattr(agent, name) <= QUICK:
                return agent.within(QUICK, unit)
    return agent


def goal_of(position: Position, wanted: int | None = None) -> Goal | None:
    """Returns the next of the game's milestones, `wanted` instead of it, or a win where there are several seats.

    None in games of one seat that have no milestones; raises UserError for a wanted one that means nothing there.
    """
    game = position.game
    for fact, thresholds in game.milestones.items():
        now = game.facts(position.state)[fact]
        if wanted is not None and wanted <= now:
            raise UserError(f"{fact} to be reached must be above {now:g}, which is there, got {wanted}; choose more.")
        above = (threshold for threshold in thresholds if threshold > now)
        return Goal(fact, wanted or next(above, 2 * now))
    if wanted is not None:
        raise UserError(f"{game} has no large tiles to be reached, got {wanted}; leave it out.")
    return Goal() if game.num_seats > 1 else None


def best_move(
    position: Position,
    agent: str | Agent,
    seconds: float = SECONDS,
    games: int = GAMES,
    *,
    player: str | Agent | None = None,
    goal: int | None = None,
    seed: int = 1,
) -> Iterator[BestMove]:
    """Yields an agent's move, then more and more results of games played on from each move; the last one is complete.

    The agent searches once, for as long as its parameters say. Games are played on in rounds, one from every move. A
    round begins only if, by the mean of earlier rounds, it would end in time; one that is not over after twice the
    seconds is left out.

    Args:
        position: in which a seat is to move.
        agent: text form.
        seconds: for the games; a first round is begun in any case.
        games: maximum from each move; 0 = none.
        player: who plays on, in every seat; None: a quick version of that agent, see `quick_player`.
        goal: the milestone whose chance is estimated; None: the next one, see `goal_of`.
        seed: of the search and of all games; the same rounds give the same numbers unless agents go by the clock.

    Raises:
        UserError: where the game is over, an agent cannot play it, or a number makes no sense.
    """
    made = make_agent(agent)
    plays_on = quick_player(made) if player is None else make_agent(player)
    if position.over:
        raise UserError(f"a position must not be over to have a best move, got the end of a game of {position.game}.")
    if not 0 < seconds <= MOST_SECONDS:
        raise UserError(f"the seconds of games must be above 0 and at most {MOST_SECONDS}, got {seconds:g}.")
    if games < 0:
        raise UserError(f"the games from a move must be 0 or more, got {games}.")
    require_at_most(MAX_IN_MEMORY, games, "games from a move")
    aim = goal_of(position, goal)
    spec = SearchSpec(SeenPosition.of(position), made.full_text(), seed)
    prepare_searches([spec])
    continuations = Continuations(position, plays_on) if games else None
    return _outlooks(position, str(made), spec, continuations, aim, seconds, games)


class _Rounds:
    """The games that were played on from every legal action so far."""

    def __init__(self, position: Position, record: SearchRecord, goal: Goal | None) -> None:
        self.position, self.record, self.goal = position, record, goal
        self.legal = record.spec.position.legal
        self.results: list[list[float]] = [[] for _ in self.legal]
        self.reached = [0] * len(self.legal)

    def play(self, continuations: Continuations, seed: int, stop: npt.NDArray[np.int64]) -> bool:
        """Plays a game from every action; returns whether all ended before stop[0] was not 0, and then counts them."""
        mover, ends = self.position.to_move, []
        for action in self.legal:
            end = continuations.play(self.position.stepped(action), seed, stop)
            if end is None:
                return False
            ends.append(end)
        for i, end in enumerate(ends):
            self.results[i].append(float(end.returns[mover]))
            self.reached[i] += self.goal is not None and self.goal.reached(end, mover)
        return True

    def moves(self) -> tuple[MoveOutlook, ...]:
        """Returns what is known of all actions: the agent's first, then by its values."""
        record, game = self.record, self.position.game
        scale = agent_of(record.spec.agent).value_unit(game).scale
        order = sorted(
            range(len(self.legal)),
            key=lambda i: (self.legal[i] != record.action, not record.visits[i], -record.values[i]),
        )
        return tuple(
            MoveOutlook(
                self.legal[i],
                record.values[i] * scale if record.visits[i] else None,
                record.visits[i],
                tuple(self.results[i]),
                self.reached[i],
            )
            for i in order
        )


def _outlooks(
    position: Position,
    agent: str,
    spec: SearchSpec,
    continuations: Continuations | None,
    goal: Goal | None,
    seconds: float,
    games: int,
) -> Iterator[BestMove]:
    began = time.perf_counter()
    record = searched_position(spec)
    rounds, player = _Rounds(position, record, goal), str(continuations.agent) if continuations else ""

    def now() -> BestMove:
        spent = time.perf_counter() - began
        return BestMove(
            position, agent, record.action, rounds.moves(), player, goal, record.seconds, spent, record.nodes
        )

    yield now()
    if continuations is None:
        return
    first, shown, stop = time.perf_counter(), 0.0, np.zeros(1, np.int64)
    timer = threading.Timer(PATIENCE * seconds, lambda: stop.__setitem__(0, 1))
    timer.daemon = True
    timer.start()
    try:
        for number in range(games):
            spent = time.perf_counter() - first
            if number and spent + spent / number > seconds:
                break
            if not rounds.play(continuations, derive_seed(spec.seed, spec.position.id, "on", number), stop):
                break
            if time.perf_counter() - shown > PAUSE:
                yield now()
                shown = time.perf_counter()
        yield now()
    finally:
        timer.cancel()
