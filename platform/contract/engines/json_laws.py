"""The laws of programs that speak JSON lines, in the order of checking; each docstring is the law's description."""

from __future__ import annotations

import json
import random
import time
from typing import Any

from ...agents.engines.engine import Limits, Match
from ...agents.engines.json_lines import PROTOCOL, game_message, move_message
from ...games.abi import CHANCE
from ...games.game import Position
from ..law import LawBroken
from .checked_engine import CheckedEngine, told

MOVE_SECONDS = 0.2
MANY_PLIES = 200


def write(engine: CheckedEngine, message: dict[str, Any]) -> None:
    engine.send(json.dumps(message))


def answer(engine: CheckedEngine, seconds: float | None = None) -> dict[str, Any]:
    line = engine.line(seconds)
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise LawBroken(f"an answer must be a JSON object in one line, got {told(line)}")
    return found


def greet(engine: CheckedEngine, **more: Any) -> dict[str, Any]:
    """Returns a new process's `ready` message."""
    engine.end()
    write(engine, {"type": "hello", "protocol": PROTOCOL} | more)
    engine.greeted = True
    return answer(engine)


def begun(engine: CheckedEngine, plies: int = 0, seed: int = 1, **more: Any) -> tuple[Match, Position]:
    """Begins a game; returns its match, and the position after random plies and outcomes of chance."""
    if not engine.greeted:
        greet(engine)
    rng, position, match = random.Random(seed), engine.game.start(seed), Match(engine.game, 0, seed)
    while len(match.plies) < plies or position.to_move == CHANCE:
        chance = position.to_move == CHANCE
        ply = position.draw_outcome() if chance else rng.choice(position.legal_actions())
        after = position.play(ply, draw_chance=False)
        if after.over:
            break
        match.plies.append(ply)
        match.before.append(position)
        position = after
    match = Match(match.game, position.to_move, seed, match.plies, match.before)
    write(engine, game_message(match) | more)
    return match, position


def move(
    engine: CheckedEngine, match: Match, position: Position, limits: Limits | None = None, **more: Any
) -> tuple[int, dict[str, Any]]:
    """Returns the engine's action, which must be legal, and its whole answer."""
    limits = limits or Limits(MOVE_SECONDS, MOVE_SECONDS, 0.0)
    write(engine, move_message(match, position, limits, 0.0) | more)
    said = answer(engine)
    legal = position.legal_actions()
    text, action = said.get("move"), said.get("action")
    if isinstance(text, str):
        return engine.legal_move(position, text), said
    if type(action) is not int or action not in legal:
        raise LawBroken(f"an action must be one of {legal[:8]}, or a move one of the names, got {told(str(said))}")
    return action, said


def law_handshake(engine: CheckedEngine) -> None:
    """`hello` is answered by `ready` in time."""
    if (said := greet(engine)).get("type") != "ready":
        raise LawBroken(f'the answer to hello must have the type "ready", got {told(str(said))}')


def law_version_of_protocol(engine: CheckedEngine) -> None:
    """`ready` names the protocol's version."""
    if (said := greet(engine)).get("protocol") != PROTOCOL:
        raise LawBroken(f"the protocol must be {PROTOCOL}, got {told(str(said))}")


def law_says_no_more_than_asked(engine: CheckedEngine) -> None:
    """Only answers are written: none before `hello`, none to `game`."""
    engine.end()
    if lines := engine.rest():
        raise LawBroken(f"nothing must be written before hello, got {told(lines[0])}")
    begun(engine)
    if lines := engine.rest():
        raise LawBroken(f"a game must not be answered, got {told(lines[0])}")


def law_one_answer(engine: CheckedEngine) -> None:
    """A request for a move is answered by one line."""
    move(engine, *begun(engine))
    if lines := engine.rest():
        raise LawBroken(f"one answer must follow a move's request, got another one: {told(lines[0])}")


def law_moves_first(engine: CheckedEngine) -> None:
    """The first move of a game is legal."""
    move(engine, *begun(engine))


def law_moves_later(engine: CheckedEngine) -> None:
    """Moves in the middle of games are legal."""
    for plies in (3, 4, 12):
        move(engine, *begun(engine, plies))


def law_every_seat(engine: CheckedEngine) -> None:
    """Every seat can be played."""
    for plies in range(engine.game.num_seats):
        move(engine, *begun(engine, plies))


def law_action_and_move_agree(engine: CheckedEngine) -> None:
    """The action and the move of an answer, if it has both, mean the same."""
    action, said = move(engine, *begun(engine))
    if "action" in said and said["action"] != action:
        raise LawBroken(f"action and move must be the same, got {told(str(said))}")


def law_nodes(engine: CheckedEngine) -> None:
    """`nodes`, if given, is a whole number from 0 up."""
    _, said = move(engine, *begun(engine, 2))
    nodes = said.get("nodes", 0)
    if type(nodes) is not int or nodes < 0:
        raise LawBroken(f"nodes must be a whole number from 0 up, got {told(str(nodes))}")


def law_keeps_seconds(engine: CheckedEngine) -> None:
    """A move takes no more than the seconds per move."""
    in_time(engine, Limits(MOVE_SECONDS, MOVE_SECONDS, 0.0), MOVE_SECONDS)


def law_keeps_its_clock(engine: CheckedEngine) -> None:
    """With a clock of 2 s the move takes less."""
    in_time(engine, Limits(0.0, 2.0, 2.0), 2.0)


def law_short_of_time(engine: CheckedEngine) -> None:
    """With a clock of 50 ms the move does not take longer."""
    in_time(engine, Limits(0.0, 0.05, 0.05), 0.05)


def in_time(engine: CheckedEngine, limits: Limits, seconds: float) -> None:
    match, position = begun(engine, 2)
    began = time.monotonic()
    move(engine, match, position, limits)
    if (spent := time.monotonic() - began) > seconds + engine.margin:
        raise LawBroken(f"a move must take at most {seconds:g} s, got {spent:.3g} s")


def law_without_limits(engine: CheckedEngine) -> None:
    """Without seconds or a clock a move still comes."""
    move(engine, *begun(engine), Limits(0.0, 0.0, 0.0))


def law_further_members(engine: CheckedEngine) -> None:
    """Unknown members of messages are ignored."""
    greet(engine, later={"version": 2})
    move(engine, *begun(engine, later=[1, None]), later="☃")


def law_long_games(engine: CheckedEngine) -> None:
    """A position after up to 200 plies is understood."""
    move(engine, *begun(engine, MANY_PLIES))


def law_same_question_twice(engine: CheckedEngine) -> None:
    """The same position can be asked twice in a game."""
    match, position = begun(engine, 2)
    for _ in range(2):
        move(engine, match, position)


def law_positions_in_any_order(engine: CheckedEngine) -> None:
    """A new game may begin, at any ply, before the last one has ended."""
    for plies in (6, 1, 3, 0):
        move(engine, *begun(engine, plies, seed=plies))


def law_many_games(engine: CheckedEngine) -> None:
    """Twenty games in a row begin well."""
    for seed in range(20):
        move(engine, *begun(engine, seed % 4, seed))


def law_seeds(engine: CheckedEngine) -> None:
    """Seeds of up to 63 bits are accepted."""
    for seed in (0, 2**31, 2**63 - 1):
        move(engine, *begun(engine, seed=seed))


def law_empty_lines(engine: CheckedEngine) -> None:
    """Empty lines are ignored."""
    match, position = begun(engine)
    engine.send("", "  ")
    move(engine, match, position)


def law_unknown_messages(engine: CheckedEngine) -> None:
    """A message of an unknown type does no harm; it may be answered by an error."""
    match, position = begun(engine)
    write(engine, {"type": "no such type"})
    for line in engine.rest():
        if '"error"' not in line:
            raise LawBroken(f"an unknown message may be answered by an error, got {told(line)}")
    move(engine, match, position)


def law_whole_game(engine: CheckedEngine) -> None:
    """In a game against itself, of up to 200 plies, every move is legal."""
    match, position = begun(engine)
    while not position.over and len(match.plies) < MANY_PLIES:
        chance = position.to_move == CHANCE
        ply = position.draw_outcome() if chance else move(engine, match, position)[0]
        match.before.append(position)
        match.plies.append(ply)
        position = position.play(ply, draw_chance=False)


def law_quit(engine: CheckedEngine) -> None:
    """`quit` ends the program with exit code 0."""
    begun(engine)
    write(engine, {"type": "quit"})
    engine.must_end()


def law_quit_at_once(engine: CheckedEngine) -> None:
    """`quit` ends the program before any game, too."""
    greet(engine)
    write(engine, {"type": "quit"})
    engine.must_end()


def law_end_of_input(engine: CheckedEngine) -> None:
    """The program ends when its input does."""
    begun(engine)
    engine.process.close_input()
    engine.must_end()
