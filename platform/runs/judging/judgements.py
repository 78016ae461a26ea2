"""Judgements of positions, as work for any executor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...agents.perfect.agent import Perfect
from ...agents.perfect.judge import judge_of
from ...arena.repeated_search import SeenPosition
from ...arena.workers.executor import Work
from ...games.registry import game_of


@dataclass(frozen=True)
class JudgementSpec:
    """A position to be judged."""

    position: SeenPosition

    @property
    def names(self) -> tuple[str, ...]:
        """The text forms of the game and, if judging holds Python's lock, of an agent in Python."""
        game = self.position.game
        return (game, Perfect.name) if judge_of(game_of(game)).in_python else (game,)


@dataclass(frozen=True)
class Judgement:
    """The exact value of every legal action: 1 wins, 0 draws, -1 loses for the seat to move."""

    spec: JudgementSpec
    values: dict[int, int]

    @property
    def best(self) -> int:
        """The value of the position."""
        return max(self.values.values())

    @property
    def optimal(self) -> int:
        """The number of actions that keep the position's value."""
        return sum(value == self.best for value in self.values.values())

    @property
    def contested(self) -> bool:
        """Whether there is a wrong action."""
        return self.optimal < len(self.values)


def prepare_judgements(specs: Sequence[JudgementSpec]) -> None:
    """Prepares the judges, reading or compiling their needs; raises UserError if a game has none."""
    for game in dict.fromkeys(spec.position.game for spec in specs):
        judge_of(game_of(game))


def judge_positions(specs: Sequence[JudgementSpec], stop: npt.NDArray[np.int64] | None = None) -> list[Judgement]:
    """Judges positions in order; once stop[0] is not 0, the rest is left out."""
    found: list[Judgement] = []
    for spec in specs:
        if stop is not None and stop[0]:
            break
        game = game_of(spec.position.game)
        position = game.position(np.array(spec.position.state, np.int64), np.array(spec.position.returns))
        found.append(Judgement(spec, judge_of(game).values(position)))
    return found


def game_judged(spec: JudgementSpec) -> str:
    return spec.position.game


JUDGEMENTS: Work[JudgementSpec, Judgement] = Work(judge_positions, prepare_judgements, kind=game_judged)
