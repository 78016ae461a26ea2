"""The laws that every agent keeps, listed in AGENT_LAWS: each takes an agent and a game that it can play."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator

import numpy as np

from ..agents.agent import Agent, Decision, decide
from ..arena.match import MatchRecord, MatchSpec, Termination
from ..arena.play import play_matches
from ..core.kernel import JIT
from ..core.rng import stream, streams
from ..games.abi import STATE_DTYPE
from ..games.game import Game, Position
from ..games.python.information import imagined
from ..games.python.python_game import PythonGame
from .games.random_games import FENCE, ROOM, fenced, words
from .law import Law, LawBroken

SEED = 1  # of the players in these laws
MAX_PLIES = 40 if JIT else 15  # of a match in these laws; 4x4 games of 2048 would last a thousand
LONGEST = 2_000  # plies of a random game that provides positions


@functools.cache
def positions(game: Game) -> tuple[Position, ...]:
    """Returns positions from the start, middle and end of play, some with a single legal action if such exist."""
    found: list[Position] = []
    forced: list[Position] = []
    for seed in range(16):
        draws = np.random.default_rng(seed)
        preferred = list(draws.permutation(game.num_actions))
        line = [game.start(seed)]
        while not line[-1].over and len(line) < LONGEST:
            # Every other game is played with a fixed preference, which leads 2048 to positions with one legal action.
            legal = line[-1].legal_actions()
            line.append(line[-1].play(int(draws.choice(legal)) if seed % 2 else min(legal, key=lambda a: preferred[a])))
        line.pop()
        if seed % 2:
            found.append(line[(seed * len(line)) // 16])
        forced += [position for position in line if len(position.legal_actions()) == 1][:1]
    return (*found, *forced[:2])


def copy_of(position: Position, chance_seed: int | None = None) -> Position:
    """Returns an equal position, with another stream of chance if one is given."""
    rng = position._rng.copy() if chance_seed is None else stream(chance_seed)
    return Position(position.game, position.state.copy(), position.returns.copy(), rng)


def same(one: Decision, other: Decision) -> bool:
    """Whether two decisions are equal except for the seconds."""
    return (
        one.action == other.action
        and one.nodes == other.nodes
        and np.array_equal(one.visits, other.visits)
        and np.array_equal(one.values, other.values)
    )


class Seats:
    """One player of an agent for each seat of a game, all started with the same seed."""

    def __init__(self, agent: Agent, game: Game, seed: int = SEED) -> None:
        self.agent = agent
        self.players = [agent.start(game, seat, seed) for seat in range(game.num_seats)]

    def decide(self, position: Position) -> Decision:
        """Returns the decision of the player to move; raises LawBroken if it is not a Decision."""
        decision = decide(self.players[position.to_move], position)
        if not isinstance(decision, Decision):
            raise LawBroken(f"act of {self.agent}'s player must return a Decision, got {decision!r} {where(position)}")
        return decision


def where(position: Position) -> str:
    return f"where seat {position.to_move} of {position.game} is to move in the state {words(position.state)}"


def decisions(agent: Agent, game: Game, seed: int = SEED) -> Iterator[tuple[Position, Decision]]:
    """Yields every sample position with the agent's decision, in turn."""
    seats = Seats(agent, game, seed)
    for position in positions(game):
        yield position, seats.decide(copy_of(position))


@functools.lru_cache(maxsize=1)
def first_decisions(agent: Agent, game: Game) -> tuple[tuple[Position, Decision], ...]:
    """Returns all of `decisions`, cached: laws that only read them, one after another, ask the agent once."""
    return tuple(decisions(agent, game))


def law_legal(agent: Agent, game: Game) -> None:
    """An agent chooses a legal action in every position."""
    for position, decision in first_decisions(agent, game):
        legal = position.legal_actions()
        if decision.action not in legal:
            raise LawBroken(
                f"{agent} must choose a legal action, one of {legal}, got {decision.action} {where(position)}"
            )


def law_untouched(agent: Agent, game: Game) -> None:
    """A decision in Python changes neither the position, nor its returns, nor its stream of chance."""
    seats = Seats(agent, game)
    for position in positions(game):
        given = copy_of(position)
        seats.decide(given)
        for what in ("state", "returns", "_rng"):
            before, after = getattr(position, what), getattr(given, what)
            if not np.array_equal(before, after):
                name = "stream of chance" if what == "_rng" else what
                got = f", got {words(before)} changed to {words(after)}"
                raise LawBroken(f"{agent} must not change the {name} of the position it gets{got} {where(position)}")


def law_kernel_changes_nothing(agent: Agent, game: Game) -> None:
    """An agent's kernel changes neither state, returns, settings nor weights, and writes nothing outside its arrays."""
    kernels = agent.seat_kernels(game)
    if kernels is None:
        return
    weights, own = kernels.evaluator.weights.copy(), kernels.settings.size - kernels.memory_words
    for position in positions(game):
        state, whole_state = fenced(game.state_words, STATE_DTYPE)
        returns, whole_returns = fenced(game.num_seats, np.float64)
        root, whole_root = fenced(2 * game.num_actions, np.float64)
        settings, whole_settings = fenced(kernels.settings.size, np.float64)  # and memory, with arbitrary content
        state[:], returns[:], settings[:own] = position.state, position.returns, kernels.settings[:own]
        arrays = (state, returns, stream(SEED), root.reshape(2, game.num_actions))
        kernels.act(game.kernels, kernels.evaluator, settings, *arrays)
        for what, before, after in (
            ("state", position.state, state),
            ("returns", position.returns, returns),
            ("settings", kernels.settings[:own], settings[:own]),
            ("evaluator's weights", weights, kernels.evaluator.weights),
        ):
            if not np.array_equal(before, after):
                got = f"got {words(before)} changed to {words(after)}"
                raise LawBroken(f"the kernel of {agent} must not change the {what} it gets, {got} {where(position)}")
        fences = {"state": whole_state, "returns": whole_returns, "settings": whole_settings, "root": whole_root}
        for what, whole in fences.items():
            if not ((whole[:ROOM] == FENCE).all() and (whole[-ROOM:] == FENCE).all()):
                raise LawBroken(f"the kernel of {agent} must not write outside the array {what}, {where(position)}")


def law_seed(agent: Agent, game: Game) -> None:
    """The same seed gives the same decisions, regardless of other players of the same agent in between."""
    alone = [decision for _, decision in first_decisions(agent, game)]
    first, other, again = (decisions(agent, game, seed) for seed in (SEED, SEED + 1, SEED))
    for expected, (position, one), _, (_, two) in zip(alone, first, other, again, strict=True):
        if not (same(expected, one) and same(one, two)):
            got = " and then ".join(f"{each.action} ({each.nodes} nodes)" for each in (expected, one, two))
            raise LawBroken(
                f"{agent} must decide the same with the same seed, got {got} {where(position)}; draw random numbers"
                " only from the seed that start gets, or from the kernel's rng"
            )


def law_draws(agent: Agent, game: Game) -> None:
    """An agent that declares that it draws no random numbers decides the same with every seed."""
    if agent.draws_numbers(game) is not False:
        return
    for (position, one), (_, other) in zip(first_decisions(agent, game), decisions(agent, game, SEED + 1), strict=True):
        if not same(one, other):
            got = f"{one.action} ({one.nodes} nodes) and {other.action} ({other.nodes} nodes) with two seeds"
            raise LawBroken(
                f"{agent} must decide the same with every seed, since its draws_numbers returns False, got {got}"
                f" {where(position)}; return True"
            )


def law_blind_to_chance(agent: Agent, game: Game) -> None:
    """A decision does not depend on the chance outcomes that the match will draw next."""
    one, other = Seats(agent, game), Seats(agent, game)
    for position in positions(game):
        decided = [seats.decide(copy_of(position, chance)) for seats, chance in ((one, 5), (other, 6))]
        if not same(*decided):
            got = f"{decided[0].action} and {decided[1].action} before two outcomes"
            raise LawBroken(f"{agent} must not see what chance will draw next, got {got} {where(position)}")


def law_blind_to_secrets(agent: Agent, game: Game) -> None:
    """In a game that hides something, a decision follows from what the seat knows: another state changes nothing."""
    if not game.hidden or not isinstance(game, PythonGame) or not game.has_information or agent.sees_secrets:
        return
    one, other = Seats(agent, game), Seats(agent, game)
    for position in positions(game):
        elsewhere = imagined(position, SEED)
        decided = [seats.decide(copy_of(seen)) for seats, seen in ((one, position), (other, elsewhere))]
        if not same(*decided):
            got = f"{decided[0].action} and {decided[1].action} in two states that the seat cannot tell apart"
            raise LawBroken(f"{agent} must not see what the game hides, got {got} {where(position)}")


def law_arrays(agent: Agent, game: Game) -> None:
    """Visits and values are finite [num_actions], zero for illegal actions, and only visited actions have values."""
    for position, decision in first_decisions(agent, game):
        visits, values, legal = decision.visits, decision.values, position.legal_actions()
        for name, array in (("visits", visits), ("values", values)):
            what, here = f"{name} of {agent}", where(position)
            if np.shape(array) != (game.num_actions,):
                raise LawBroken(f"{what} must be of shape ({game.num_actions},), got {np.shape(array)} {here}")
            if not np.isfinite(array).all():
                raise LawBroken(f"{what} must be finite, got {array} {here}")
            if np.delete(array, legal).any():
                raise LawBroken(f"{what} must be 0 for illegal actions, got {array} with {legal} legal {here}")
        if (visits < 0).any() or (visits != np.floor(visits)).any():
            raise LawBroken(f"visits of {agent} must be whole numbers from 0 up, got {visits} {where(position)}")
        if values[visits == 0].any():
            got = f"visits {visits} and values {values}"
            raise LawBroken(f"{agent} must value only actions that it visited, got {got} {where(position)}")
        if decision.nodes < visits.sum() or not decision.seconds >= 0:
            must = "at least as many nodes as visits, and seconds from 0 up"
            got = f"{decision.nodes} nodes for {visits.sum():g} visits and {decision.seconds} s"
            raise LawBroken(f"a decision of {agent} must have {must}, got {got} {where(position)}")
        if visits.any() and not visits[decision.action]:
            got = f"{decision.action} with the visits {visits}"
            raise LawBroken(f"{agent} must choose an action that it visited, got {got} {where(position)}")


def law_forced(agent: Agent, game: Game) -> None:
    """A single legal action is played at once, with at most one node."""
    for position, decision in first_decisions(agent, game):
        if len(position.legal_actions()) == 1 and decision.nodes > 1:
            got = f"{decision.nodes} nodes"
            raise LawBroken(f"{agent} must play a single legal action without a search, got {got} {where(position)}")


def specs(agent: Agent, game: Game, count: int = 2) -> list[MatchSpec]:
    """Returns matches of an agent against itself."""
    seats = (agent.full_text(),) * game.num_seats
    return [MatchSpec(game.full_text(), seats, seed, MAX_PLIES) for seed in range(count)]


def timeless(record: MatchRecord) -> MatchRecord:
    """Returns a record without its seconds, the only part that may differ."""
    return dataclasses.replace(record, seconds=0.0, seat_seconds=())


def law_compiled(agent: Agent, game: Game) -> None:
    """A match in compiled code equals the match played in Python, move for move and node for node."""
    matches = specs(agent, game)
    for fast, slow in zip(play_matches(matches), play_matches(matches, python=True), strict=True):
        if timeless(fast) != timeless(slow):
            differ = [
                f"{field.name} {getattr(fast, field.name)} and {getattr(slow, field.name)}"
                for field in dataclasses.fields(MatchRecord)
                if field.compare and getattr(timeless(fast), field.name) != getattr(timeless(slow), field.name)
            ]
            raise LawBroken(
                f"a match of {agent} against itself in {game} must be the same in compiled code and move by move, got"
                f" {'; '.join(differ)} with seed {fast.spec.seed}"
            )


def law_together(agent: Agent, game: Game) -> None:
    """An agent that decides in many positions at once decides as it does alone, with the same random numbers."""
    kernels = agent.seat_kernels(game)
    if kernels is None or not kernels.in_step:
        return
    some = positions(game)
    states, returns = np.array([p.view(p.to_move) for p in some]), np.array([p.returns for p in some])
    n, found = len(some), []
    for together in (True, False):
        rngs, roots, actions = streams(SEED, n), np.zeros((n, 2, game.num_actions)), np.zeros(n, np.int64)
        given = (game.kernels, kernels.evaluator, kernels.settings)
        if together:
            memory = np.full((n, kernels.memory_words), SEED, np.int64)  # with arbitrary content
            kernels.act_together(*given, states, returns, rngs, roots, actions, memory)
        else:
            for i in range(n):
                actions[i] = kernels.act(*given, states[i], returns[i], rngs[i], roots[i])
        found.append((actions, roots, rngs))
    for what, got, expected in zip(("action", "root", "random stream"), *found, strict=True):
        for i in range(n):
            if not np.array_equal(got[i], expected[i]):
                raise LawBroken(
                    f"{agent} must decide the same together and alone, got as {what} {got[i]} and {expected[i]}"
                    f" {where(some[i])}"
                )


def law_plays(agent: Agent, game: Game) -> None:
    """Every match of an agent that can play a game ends by the rules, with finite scores."""
    for record in play_matches(specs(agent, game)):
        got = f"in a match of {agent} against itself in {game} with seed {record.spec.seed}"
        if record.termination not in (Termination.NORMAL, Termination.LIMIT):
            raise LawBroken(f"every match must end by the rules, got {record.termination}: {record.error} {got}")
        if not sum(record.decisions) or not np.isfinite(record.scores).all():
            raise LawBroken(f"a match must have decisions and finite scores, got {record.scores} {got}")


AGENT_LAWS: tuple[Law, ...] = (
    law_legal,
    law_untouched,
    law_kernel_changes_nothing,
    law_seed,
    law_draws,
    law_blind_to_chance,
    law_blind_to_secrets,
    law_arrays,
    law_forced,
    law_compiled,
    law_together,
    law_plays,
)
REPEATABLE = (law_seed, law_blind_to_chance, law_blind_to_secrets, law_compiled)  # not if the clock or threads decide


def laws_of(agent: Agent) -> tuple[Law, ...]:
    """Returns the laws of an agent, without REPEATABLE if it decides by the clock or in several threads."""
    timed = getattr(agent, "milliseconds", 0) > 0 or getattr(agent, "threads", 1) > 1
    return tuple(law for law in AGENT_LAWS if not (timed and law in REPEATABLE))
