"""The parameters of a function that is not an agent: their space, and the form in which a study stores them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from ...core.errors import UserError, unknown
from ...core.parameters import Parameter, format_value
from ..dimensions.dimension import Dimension
from ..dimensions.tree import Value
from ..space import Space

Searched = Sequence[Any] | BaseDistribution  # (low, high), (low, high, "log"), a list of values, or Optuna's


def stored_parameters(parameters: Mapping[str, Searched]) -> dict[str, dict[str, Any]]:
    """Returns parameters in JSON's types, by name; raises UserError for anything that cannot be searched."""
    if not isinstance(parameters, Mapping) or not parameters:
        raise UserError(
            f"parameters must be a dict of ranges by name, such as {{'x': (0.0, 1.0)}}, got {parameters!r}."
        )
    return {str(name): _stored(str(name), searched) for name, searched in parameters.items()}


def _stored(name: str, searched: Any) -> dict[str, Any]:
    if isinstance(searched, CategoricalDistribution):
        searched = list(searched.choices)
    elif isinstance(searched, IntDistribution | FloatDistribution):
        if searched.step not in (None, 1) or isinstance(searched.step, float):
            raise UserError(f"a search of {name} cannot keep to steps of {searched.step:g}; leave step out.")
        searched = (searched.low, searched.high, "log" if searched.log else "linear")
    if isinstance(searched, list):
        if len(set(searched)) < max(2, len(searched)) or not all(
            isinstance(v, bool | int | float | str) for v in searched
        ):
            raise UserError(f"{name} must have two or more different numbers or words, got {searched!r}.")
        return {"among": searched}
    if isinstance(searched, tuple) and len(searched) in (2, 3):
        low, high, *scale = searched
        numbers = all(isinstance(end, int | float) and not isinstance(end, bool) for end in (low, high))
        if numbers and scale in ([], ["linear"], ["log"]) and low < high and (low > 0 or scale != ["log"]):
            return {"low": low, "high": high, "log": scale == ["log"]}
    raise UserError(
        f"{name} must be searched in (low, high) with low below high, (low, high, 'log') above 0, a list of values or"
        f" an Optuna distribution, got {searched!r}."
    )


def space_of(stored: Mapping[str, Mapping[str, Any]]) -> Space:
    """Returns the space of stored parameters."""
    return Space(tuple(_dimension(name, searched) for name, searched in stored.items()))


def _dimension(name: str, searched: Mapping[str, Any]) -> Dimension:
    if "among" in searched:
        values = tuple(searched["among"])
        return Dimension(name, type(values[0]), Parameter("a value"), among=values)
    low, high = searched["low"], searched["high"]
    kind = int if isinstance(low, int) and isinstance(high, int) else float
    return Dimension(name, kind, Parameter("a number", low=low, high=high, log=searched["log"]))


def start_of(space: Space, given: Mapping[str, Value]) -> dict[str, Value]:
    """Returns where a search begins: the given values, otherwise the middle; raises UserError if one is outside."""
    start = space.decode([0.5] * space.size)
    for name, value in given.items():
        if name not in start:
            raise unknown("parameter", name, list(start))
        (dimension,) = (d for d in space.dimensions if d.path == name)
        values = dimension.among
        if value not in values if values else not dimension.declared.contains(value):
            raise UserError(f"the start's {name} must be in what is searched, got {value!r}.")
        start[name] = float(value) if dimension.type is float and not values else value
    return start


def text_of(values: Mapping[str, Value]) -> str:
    """Returns the parameters of a candidate as text: `x=0.5, kind=a`."""
    return ", ".join(f"{name}={format_value(value)}" for name, value in values.items())
