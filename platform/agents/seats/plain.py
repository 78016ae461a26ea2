"""Agents without our base class: a function of a position, or a class with `act`; and those of ended sessions.

The arguments of the class's `__init__` are the agent's parameters, except `game`, `seat` and `seed`, which come from
the match.
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
from types import SimpleNamespace
from typing import Any, ClassVar, cast

from ...core.errors import UserError
from ...core.outside import classes
from ...core.parameters import parameter, parameters_of
from ...core.text_form import Spec
from ...games.game import Game
from ..agent import Agent, Player

_OF_MATCH = ("game", "seat", "seed")
_MANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class PlainAgent(Agent):
    """Starts a new function or instance for each match."""

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
    """Returns the agent class for a function or a class with `act`, None for anything else.

    Raises UserError if arguments of its `__init__` cannot be parameters.
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
    parameters_of(made)  # raises UserError if a default's type is not one of parameters
    return made


def _field(code: Any, argument: inspect.Parameter) -> tuple[str, Any, Any] | None:
    """Returns the parameter for an argument of `__init__`; None if it comes from the match, or is *args or **kwargs."""
    if argument.name in _OF_MATCH or argument.kind in _MANY:
        return None
    if argument.default is inspect.Parameter.empty:
        raise UserError(
            f"the argument {argument.name} of {code.__name__} must have a default, or be one of game, seat and seed,"
            " which come from matches; write one."
        )
    return argument.name, Any, parameter(argument.default, "an argument of its __init__")


class GoneAgent(Agent):
    """An agent of an ended session, such as a notebook: it is shown, but cannot play."""

    def spec(self, defaults: bool = False) -> Spec:
        """Returns the text form's tree with all parameters, whose defaults are no longer known."""
        name, values = super().spec(True).name, super().spec(True).parameters
        return Spec(name if defaults else classes.shortened(name), values)

    def prepare(self, game: Game) -> None:
        raise UserError(
            f"{self} must be in a file to play here, but it was defined in a notebook or another session; move its code"
            " into one, such as `turnier new agent` writes."
        )

    def start(self, game: Game, seat: int = 0, seed: int = 0) -> Player:
        self.prepare(game)
        raise AssertionError("it cannot play")


def gone_class(spec: Spec) -> type[Agent] | None:
    """Returns the class of a stored agent from another session, with its parameters by their values.

    None if its code is here or in a file.
    """
    if not classes.is_of_another_session(spec.name):
        return None
    path = spec.name.partition(":")[2].partition("@")[0]
    fields = [(name, Any, parameter(_value(str(text)), "a parameter")) for name, text in spec.parameters.items()]
    cls = dataclasses.make_dataclass(path.rpartition(".")[2], fields, bases=(GoneAgent,), frozen=True)
    classes.call(cls, spec.name)
    return cls


def _value(text: str) -> Any:
    """Returns the value of a text form, as far as the text tells."""
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return {"true": True, "false": False}.get(text, text)
