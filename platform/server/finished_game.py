"""Finished games from a store, an official log, or a line of a file."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from ..agents.registry import label_of
from ..arena.analysis.reanalysis import Reanalysis
from ..arena.match import MatchRecord
from ..arena.match_json import disagreement, from_json
from ..arena.play import replay_positions
from ..core.errors import MALFORMED, UserError
from ..games.game import Game, Ints
from ..games.registry import game_of
from ..results.store.store import Store
from .limits import is_number
from .spe_ed.official_log import logged_game, replayed_game


@dataclass
class FinishedGame:
    """A finished game, with the states that a replay shows."""

    game: Game
    names: list[str]
    states: list[Ints]
    record: MatchRecord | None = None

    def overlaid_board(self, move: int) -> str:
        """Returns the board before a move (counted from 0 over all seats) as SVG, with the agent's knowledge."""
        if self.record is None:
            raise UserError("an overlay needs a stored match, got an official log; leave out --overlay.")
        replayed = Reanalysis(self.record)
        if not 0 <= move < len(replayed.moments) - 1:
            raise UserError(f"a move must be 1..{len(replayed.moments) - 1}, got {move + 1}; choose another.")
        moment = replayed.moments[move]
        if moment.opening:
            return self.game.svg(moment.position.state)
        overlay = replayed.think(move).overlay
        if overlay is None:
            agent = self.record.spec.agents[moment.seat]
            raise UserError(f"an overlay needs an agent that shows its knowledge, got {agent}; leave out --overlay.")
        return self.game.overlaid_svg(moment.position.state, overlay)


def find_game(what: str, store: str) -> FinishedGame:
    """Returns the game of an id (or its beginning) in a store, of an official log FILE, or of FILE:LINE."""
    file, colon, line = what.rpartition(":")
    if colon and is_number(line) and os.path.isfile(file):
        return _of_line(Path(file), int(line))
    if os.path.isfile(what):
        return FinishedGame(*logged_game(Path(what)))
    with Store.open(store, read_only=True) as results:
        return of_record(results.find_record(what))


def of_record(record: MatchRecord) -> FinishedGame:
    """Returns a stored or exported match to show; raises UserError if its moves do not lead to its end."""
    game = game_of(record.spec.game)
    game.start()  # raises if this machine lacks something for the game, which is no damage
    if wrong := disagreement(record):
        raise UserError(
            f"the moves of the match {record.spec.id} must lead to its stored end: {wrong.rstrip('.')}; it is damaged:"
            " `turnier doctor --store URL` looks for more."
        )
    names = [label_of(agent) for agent in record.spec.agents]
    states = (position.state for position in replay_positions(record.spec, record.plies))
    return FinishedGame(game, names, list(filter(game.shows, states)), record)


def _of_line(file: Path, number: int) -> FinishedGame:
    """Reads a line written by `turnier show --out`, or a recorded game of the official server."""
    try:
        data = [json.loads(line) for line in file.read_bytes().split(b"\n")[:number]][number - 1]  # also checks earlier
        if "spec" in data:
            return of_record(from_json(data))
        return FinishedGame(*replayed_game(data))
    except (OSError, UserError, *MALFORMED) as failure:
        reason = str(failure).rstrip(".") if isinstance(failure, UserError) else f"{type(failure).__name__} {failure}"
        raise UserError(
            f"a line must hold an undamaged exported or recorded game, got {file}:{number}: {reason}; export or"
            " record it again."
        ) from None
