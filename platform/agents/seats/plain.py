"""Agents without a base of ours: a function of a position, or a class with `act`.

The arguments of the class's `__init__` are the agent's parameters, except `game`, `seat` and `seed`, which are those of
the match.
"""

from __future__ import annotations

import dataclasses
import inspect
from types import SimpleNamespace
from typing import Any, ClassVar, cast

from turnier.agents.agent import Agent, Player
from turnier.core.errors import UserError
from turnier.core.parameters import parameter, parameters_of
from turnier.games.game import Game

_OF_MATCH = ("game", "seat", "seed")
_MANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class PlainAgent(Agent):
    """Starts what it stands for anew for each match."""

    stands_for: ClassVar[Any]  # a function or a class

    def start(self, game: Game, seat: int = 0, seed: int = 0) -> Player:
        code = type(self).stands_for
        if inspect.isfunction(code):
            return cast(Player, SimpleNamespace(act=code))
        told = {"game": game, "seat": seat, "seed": seed}
        values = {field.name: getattr(self, field.name) for field, _ in parameters_of(type(self))}
        values |= {name: told[name] for name in inspect.signature(code).parameters if name in told}
        return cast(Player, code(**values))


def agent_class(code: Any) -> type[Agent] | None:
    """Returns the class of agents that a function or a class with `act` stands for, None for anything else.

    Raises UserError if arguments of its `__init__` can be no parameters.
    """
    fields: list[Any] = []
    if not inspect.isfunction(code):
        if not inspect.isclass(code) or not callable(getattr(code, "act", None)):
            return None
        fields = [_field(code, each) for each in inspect.signature(code).parameters.values()]
    space = {"__doc__": code.__doc__, "stands_for": staticmethod(code)}
    made = dataclasses.make_dataclass(
        code.__name__, filter(None, fields), bases=(PlainAgent,), namespace=space, frozen=True
    )
    made.__module__, made.__qualname__ = code.__module__, code.__qualname__
    parameters_of(made)  # raises UserError if a default is of no type that parameters have
    return made


def _field(code: Any, argument: inspect.Parameter) -> tuple[str, Any, Any] | None:
    """Returns the parameter that an argument of `__init__` is; None if it is of the match, or stands for many."""
    if argument.name in _OF_MATCH or argument.kind in _MANY:
        return None
    if argument.default is inspect.Parameter.empty:
        raise UserError(
            f"the argument {argument.name} of {code.__name__} must have a default, or be one of game, seat and seed,"
            " which matches give; write one."
        )
    return argument.name, Any, parameter(argument.default, "an argument of its __init__")
