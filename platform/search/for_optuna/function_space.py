"""The parameters of a function that is not an agent: their space, and the form in which a study stores them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.errors import UserError, unknown
from ...core.parameters import Parameter, format_value
from ..dimensions.dimension import MAX_STEPS, Dimension, Range
from ..dimensions.tree import Value
from ..dimensions.typed import Searched, of_distribution
from ..space import Space


def stored_parameters(parameters: Mapping[str, Searched]) -> dict[str, dict[str, Any]]:
    """Returns parameters in JSON's types, by name; raises UserError for anything that cannot be searched."""
    if not isinstance(parameters, Mapping) or not parameters:
        raise UserError(
            f"parameters must be a dict of ranges by name, such as {{'x': (0.0, 1.0)}}, got {parameters!r}."
        )
    return {str(name): _stored(str(name), searched) for name, searched in parameters.items()}


def _stored(name: str, searched: Any) -> dict[str, Any]:
    searched = of_distribution(searched)
    if isinstance(searched, list):
        if len(set(searched)) < max(2, len(searched)) or not all(
            isinstance(v, bool | int | float | str) for v in searched
        ):
            raise UserError(f"{name} must have two or more different numbers or words, got {searched!r}.")
        return {"among": searched}
    if isinstance(searched, tuple) and len(searched) in (2, 3):
        low, high, scale = (*searched, "linear")[:3]
        numbers = [one for one in searched if isinstance(one, int | float) and not isinstance(one, bool)]
        if numbers[:2] == [low, high] and low < high:
            if scale == "linear" or (scale == "log" and low > 0):
                return {"low": low, "high": high, "log": scale == "log"}
            if numbers[2:] and scale > 0 and 1 <= (high - low) / scale < MAX_STEPS:
                return {"low": low, "high": high, "log": False, "step": scale}
    raise UserError(
        f"{name} must be searched in (low, high) with low below high, (low, high, 'log') above 0, (low, high, STEP)"
        f" with at most {MAX_STEPS:,} steps, a list of values or an Optuna distribution, got {searched!r}."
    )


def space_of(stored: Mapping[str, Mapping[str, Any]]) -> Space:
    """Returns the space of stored parameters."""
    return Space(tuple(_dimension(name, searched) for name, searched in stored.items()))


def _dimension(name: str, searched: Mapping[str, Any]) -> Dimension:
    if "among" in searched:
        values = tuple(searched["among"])
        return Dimension(name, type(values[0]), Parameter("a value"), among=values)
    low, high = searched["low"], searched["high"]
    step = searched.get("step", 0)
    kind = int if all(isinstance(one, int) for one in (low, high, step)) else float
    limits = Range(low, high, step=step) if step else None
    return Dimension(name, kind, Parameter("a number", low=low, high=high, log=searched["log"]), limits)


def start_of(space: Space, given: Mapping[str, Value], what: str = "the start's") -> dict[str, Value]:
    """Returns where a search begins: the given values, otherwise the middle; raises UserError if one is outside."""
    start = space.decode([0.5] * space.size)
    for name, value in given.items():
        if name not in start:
            raise unknown("parameter", name, list(start))
        (dimension,) = (d for d in space.dimensions if d.path == name)
        values = dimension.options if dimension.among or dimension.limits else ()
        if value not in values if values else not dimension.declared.contains(value):
            raise UserError(f"{what} {name} must be in what is searched, got {value!r}.")
        start[name] = float(value) if dimension.type is float and not values else value
    return start


def text_of(values: Mapping[str, Value]) -> str:
    """Returns the parameters of a candidate as text: `x=0.5, kind=a`."""
    return ", ".join(f"{name}={format_value(value)}" for name, value in values.items())
