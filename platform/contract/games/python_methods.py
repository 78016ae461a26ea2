"""The law of games in plain Python: their methods are pure, as searches try several actions of a state."""

from __future__ import annotations

import copy
import random
from typing import Any

from ...games.abi import CHANCE, TERMINAL
from ...games.game import Game
from ...games.python.python_game import PythonGame
from ..law import LawBroken
from .random_games import MAX_NODES, SEEDS

BRANCHES = 4  # options tried in a state


def law_methods_change_nothing(game: Game) -> None:
    """The methods of a game in Python never change their state, and answer the same when asked again."""
    if not isinstance(game, PythonGame):
        return
    for seed in SEEDS:
        state, plies, choose = game.begin(), list[int](), random.Random(seed)
        while len(plies) < MAX_NODES and (options := _options(game, state)):
            asked = [("step", option) for option in options[:BRANCHES]]
            asked += [("observe", game.to_move(state))] if game.has_views and game.to_move(state) >= 0 else []
            for method, argument in asked:
                _require_pure(game, method, state, argument, plies)
            plies.append(choose.choice(options))
            state = game.step(state, plies[-1])[0]


def _options(game: PythonGame, state: Any) -> list[int]:
    mover = game.to_move(state)
    if mover == CHANCE:
        return [outcome for outcome, _ in game.outcomes(state)]
    return [] if mover == TERMINAL else list(game.legal(state))


def _require_pure(game: PythonGame, method: str, state: Any, argument: int, plies: list[int]) -> None:
    """Raises LawBroken if a method changes the state, or answers differently a second time."""
    where = f"after the plies {plies}"
    before, kept = _described(game, state), copy.deepcopy(state)
    answers = []
    for given in (state, kept):
        answer = getattr(game, method)(given, argument)
        answers.append((_described(game, answer[0]), *map(float, answer[1])) if method == "step" else answer)
    after = _described(game, state)
    if after != before:
        raise LawBroken(
            f"{method} of {game} must not change the state it gets but return a new one, got {before} changed to"
            f" {after} by {method}(state, {argument}) {where}"
        )
    if answers[0] != answers[1]:
        raise LawBroken(
            f"{method} of {game} must always answer the same, got {answers[0]} and then {answers[1]} of"
            f" {method}(state, {argument}) {where}"
        )


def _described(game: PythonGame, state: Any) -> tuple[Any, ...]:
    """Returns the game's description of a state, since objects need not be comparable."""
    text = () if repr(state) == object.__repr__(state) else (game.show(state),)
    return (game.to_move(state), _options(game, state), *text)
