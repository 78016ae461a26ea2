"""Recorded games, perft counts and coordinates of Yavalath, and the check that the rules agree with them.

A record's keys tell its kind, so every variant can verify every file: `ranking` is a game of three, `swapped` a game
with the swap rule, `perft` counts below a position, `idx` a cell; `size` is the board's, if it does not have 61 cells.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..game import Game, Position
from ..perft import perft
from .board import END, PLAYERS, RANK, STONES, SWAPPED, coordinates

ENDS = ("none", "three", "four", "draw")  # of two players, by state[END]
Record = Mapping[str, Any]


def disagreement(game: Game, record: Record) -> str | None:
    """Returns the first disagreement as a sentence, or None; raises KeyError and the like if it is no such record."""
    size = record.get("size", 5)
    if "idx" in record:
        return _cell(game.replace(size=size), record)
    if "perft" in record:
        # The record has no seats, and the swap rule matters only up to the second ply.
        swap = 3 * size * (size - 1) + 1 in record["cells"]
        own = game.spec(defaults=True).parameters
        two = game.replace(size=size, players=2, swap=swap or own["swap"] == "true")
        three = game.replace(size=size, players=3, swap=False)
        first, second = (three, two) if own["players"] == "3" else (two, three)
        said = _perft(first, record)
        return None if said is None or _perft(second, record) is None else said
    if "ranking" in record:
        return _three(game.replace(size=size, players=3, swap=False, play_on=True), record)
    return _two(game.replace(size=size, players=2, swap="swapped" in record), record)


def _must(what: str, wanted: Any, got: Any) -> str | None:
    return None if wanted == got else f"{what} must be {wanted}, got {got}"


def _cell(game: Game, record: Record) -> str | None:
    index = record["idx"]
    return _must(f"cell {index}", (record["q"], record["r"]), coordinates(game.size)[index]) or _must(  # type: ignore[attr-defined]
        f"the label of cell {index}", record["label"], game.action_name(index)
    )


def _replay(game: Game, record: Record) -> tuple[Position, str | None]:
    """Plays a record's actions as far as they are legal, and checks its statements about every ply."""
    position = game.start()
    forced = {number: cells for number, cells in record.get("forced", ())}
    events: list[list[float]] = []
    for number, action in enumerate(record["cells"], 1):
        legal = position.legal_actions()
        if type(action) is not int or action not in legal:
            return position, f"move {number} must be legal, got {action}, legal are {legal}"
        said = None
        if "movers" in record:
            said = _must(f"the mover of move {number}", record["movers"][number - 1], position.to_move)
        if "n_legal" in record:
            said = said or _must(f"the legal cells of move {number}", record["n_legal"][number - 1], len(legal))
            open_cells = np.flatnonzero(game.cell_values(position.state) == 0).tolist()
            said = said or _must(f"the cells allowed in move {number}", forced.get(number, open_cells), legal)
        if said:
            return position, said
        before, position = position, position.play(action)
        ranks, old = ranking(position), ranking(before)
        events += [[number, seat, ranks[seat]] for seat in range(game.num_seats) if ranks[seat] != old[seat]]
    if "rank_events" in record:
        return position, _must("the ranks by move", sorted(record["rank_events"]), events)
    return position, None


def ranking(position: Position) -> list[float]:
    """Returns every seat's rank, 1 = best, the mean of shared ranks, 0 = still in."""
    return [int(doubled) / 2 for doubled in position.state[RANK : RANK + int(position.state[PLAYERS])]]


def _finished(position: Position, record: Record) -> str | None:
    played = int(position.state[STONES] + position.state[SWAPPED])
    return _must("whether the game is over", True, position.over) or _must("the length", record["length"], played)


def _three(game: Game, record: Record) -> str | None:
    position, said = _replay(game, record)
    ranks = ranking(position)
    return (
        said
        or _finished(position, record)
        or _must("the ranking", record["ranking"], ranks)
        or _must("the winner", record["winner"], ranks.index(1) if 1 in ranks else -1)
    )


def _two(game: Game, record: Record) -> str | None:
    position, said = _replay(game, record)
    winner = int(position.returns.argmax()) if position.returns.any() else -1
    swapped = bool(position.state[SWAPPED])
    said = (
        said
        or _finished(position, record)
        or _must("the end", record["end"], ENDS[position.state[END]])
        or _must("the winner", record["winner"], winner)
    )
    if "swapped" in record:
        said = said or _must("whether the seats are swapped", record["swapped"], swapped)
        colour = winner if winner < 0 else winner ^ swapped
        said = said or _must("the winner's colour", record["winner_colour"], colour)
    return said


def _perft(game: Game, record: Record) -> str | None:
    position, said = _replay(game, record)
    said = said or _must("the seat to move", record["mover"], position.to_move)
    for depth, wanted in enumerate(zip(record["perft"], record["terminal"], strict=True), 1):
        said = said or _must(f"perft({depth}) and the ended games in it", wanted, perft(game, position.state, depth))
    return said
