"""A running game for the live page: the start, then the players and the changed cells of each round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ....games.abi import TERMINAL
from ....games.game import Ints
from ....games.spe_ed.board import (
    ACTIVE,
    DIRECTION,
    DIRECTIONS,
    HEIGHT,
    MOVER,
    NO_ANSWER,
    PLAYERS,
    ROUND,
    SPEED,
    WIDTH,
    X,
    Y,
)
from ....games.spe_ed.messages import cells_of
from ..official_log import encode

ROUNDS_PER_ANSWER = 250


class LiveGame:
    """A game as plain data that grows by one round at a time."""

    def __init__(self, start: Ints, names: Sequence[str]) -> None:
        self.names, self.state = list(names), start
        changed = np.flatnonzero(cells_of(start))
        self.rounds: list[dict[str, Any]] = []
        self._texts: list[str] = []  # of the rounds, written once for all viewers
        self._append(self._entry(start, changed, {}, {}, {}))

    def add(
        self,
        before: Ints,
        after: Ints,
        actions: Mapping[int, int],
        out: Mapping[int, str],
        seconds: Mapping[int, float],
    ) -> None:
        """Adds a round; `out` has the reason of each seat that went out, `seconds` each seat's thinking time."""
        changed = np.flatnonzero(cells_of(before) != cells_of(after))
        self.state = after
        self._append(self._entry(after, changed, actions, out, seconds))

    def _append(self, entry: dict[str, Any]) -> None:
        self.rounds.append(entry)
        self._texts.append(encode(entry))

    def _entry(
        self,
        state: Ints,
        changed: Ints,
        actions: Mapping[int, int],
        out: Mapping[int, str],
        seconds: Mapping[int, float],
    ) -> dict[str, Any]:
        cells = cells_of(state).reshape(-1)
        return {
            "players": [
                [
                    *(int(state[field + seat]) for field in (X, Y)),
                    DIRECTIONS[state[DIRECTION + seat]],
                    int(state[SPEED + seat]),
                    bool(state[ACTIVE + seat]),
                ]
                for seat in range(int(state[PLAYERS]))
            ],
            "cells": [[int(cell), int(cells[cell])] for cell in changed],
            "actions": {1 + seat: int(action) if action != NO_ANSWER else None for seat, action in actions.items()},
            "out": {1 + seat: reason for seat, reason in out.items()},
            "seconds": {1 + seat: round(thought, 2) for seat, thought in seconds.items()},
        }

    @property
    def running(self) -> bool:
        return bool(self.state[MOVER] != TERMINAL)

    def summary(self) -> dict[str, Any]:
        """Returns its entry in the list of games."""
        living = self.state[ACTIVE : ACTIVE + self.state[PLAYERS]]
        return {
            "names": self.names,
            "width": int(self.state[WIDTH]),
            "height": int(self.state[HEIGHT]),
            "round": int(self.state[ROUND]),
            "living": int(living.sum()),
            "running": self.running,
            "winner": None if self.running or not living.any() else 1 + int(living.argmax()),
        }

    def since(self, first: int) -> dict[str, Any]:
        """Returns the summary and the rounds from `first` on, at most ROUNDS_PER_ANSWER."""
        return self.summary() | {"from": first, "rounds": self.rounds[first : first + ROUNDS_PER_ANSWER]}

    def texts_since(self, first: int) -> list[str]:
        """Returns the rounds from `first` on as JSON, at most ROUNDS_PER_ANSWER."""
        return self._texts[first : first + ROUNDS_PER_ANSWER]
