"""Search spaces from agents' own parameter declarations: vectors in the unit cube to agents and back."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from turnier.agents.agent import Agent
from turnier.core.errors import UserError, unknown
from turnier.core.parameters import Declared, Parameter, parameters_of

Value = float | int | bool | str
_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?(?:e[0-9]+)?"


@dataclass(frozen=True)
class Dimension:
    """One parameter that is searched: its path (such as `evaluator.merge`), type and declaration."""

    path: str
    type: type
    declared: Parameter

    @property
    def options(self) -> tuple[Value, ...]:
        """The values of a switch (true first, as in Kutsch 2017, 7.1.2), a choice or a small integer range, else ()."""
        if self.type is bool:
            return (True, False)
        if self.declared.choices:
            return self.declared.choices
        low, high = self._bounds()
        return tuple(range(int(low), int(high) + 1)) if self.type is int and high - low < 10 else ()

    def _bounds(self) -> tuple[float, float]:
        if self.declared.low is None or self.declared.high is None:
            raise UserError(f"a searched parameter must have a range, got {self.path}, which has none; leave it out.")
        return self.declared.low, self.declared.high

    def within(self, limits: str, start: Value) -> Dimension:
        """Returns the dimension with a narrower range, such as 0..50; raises UserError where the start is not in it."""
        low, high = self._bounds()
        ends = re.fullmatch(rf"({_NUMBER})\.\.({_NUMBER})", limits)
        first, last = (float(ends[1]), float(ends[2])) if ends and not self.declared.choices else (low, low)
        if not (low <= first < last <= high and first <= start <= last):  # type: ignore[operator]
            raise UserError(
                f"a range of {self.path} must be LOW..HIGH within {low:,.12g}..{high:,.12g} and hold the start's"
                f" {start}, got {limits}."
            )
        return replace(self, declared=replace(self.declared, low=first, high=last))

    def matters(self, values: Mapping[str, Value]) -> bool:
        """Returns whether the parameter is used given these values of others, not all of which need be searched."""
        prefix = self.path[: self.path.rfind(".") + 1]
        conditions = self.declared.when.items()
        return all(values.get(prefix + name, allowed[0]) in allowed for name, allowed in conditions)

    def decode(self, x: float) -> Value:
        """Returns the value for a coordinate in [0, 1]; options share the interval evenly."""
        if self.options:
            return self.options[min(int(x * len(self.options)), len(self.options) - 1)]
        low, high = self._bounds()
        if self.declared.log:
            value = math.exp(math.log(low) + x * (math.log(high) - math.log(low)))
            value = min(max(value, low), high)  # rounding may lead out of the range
        else:
            value = low + x * (high - low)
        return round(value) if self.type is int else value

    def encode(self, value: Value) -> float:
        """Returns the coordinate of a value, the middle of its interval for options."""
        if self.options:
            return (self.options.index(value) + 0.5) / len(self.options)
        low, high = self._bounds()
        if self.declared.log:
            return (math.log(float(value)) - math.log(low)) / (math.log(high) - math.log(low))
        return (float(value) - low) / (high - low)

    def distribution(self) -> BaseDistribution:
        """Returns the dimension as Optuna shows it."""
        if self.type is bool or self.declared.choices:
            return CategoricalDistribution(self.options)
        low, high = self._bounds()
        if self.type is int:
            return IntDistribution(int(low), int(high), log=self.declared.log)
        return FloatDistribution(low, high, log=self.declared.log)


@dataclass(frozen=True)
class Space:
    """The searched parameters of an agent, in order."""

    dimensions: tuple[Dimension, ...]

    @classmethod
    def of(cls, agent: Agent, paths: Sequence[str]) -> Space:
        """Returns the space of the named parameters.

        A path names a parameter (`iterations`), a nested one (`evaluator.merge`), or all of a nested agent or evaluator
        (`evaluator.*`); of one it may narrow the range (`rollout_depth=0..50`). Raises UserError, with the closest
        name, for a path that does not exist.
        """
        known = _dimensions(agent, "")
        searched: list[Dimension] = []
        for text in paths:
            path, _, limits = text.partition("=")
            if path.endswith(".*"):
                named = [d for name, d in known.items() if name.startswith(path[:-1])]
            else:
                named = [known[path]] if path in known else []
            if not named:
                raise unknown(f"parameter to search in {agent.name}", path, known)
            if limits:
                named = [dimension.within(limits, _get(agent, dimension.path)) for dimension in named]
            searched += [d for d in named if d not in searched]
        return cls(tuple(searched))

    @property
    def size(self) -> int:
        return len(self.dimensions)

    def decode(self, vector: Sequence[float]) -> dict[str, Value]:
        """Returns the values that matter: not those of parameters that others, of these values, leave unused."""
        values = {d.path: d.decode(float(x)) for d, x in zip(self.dimensions, vector, strict=True)}
        return self._in_use(values)

    def _in_use(self, values: Mapping[str, Value]) -> dict[str, Value]:
        return {d.path: values[d.path] for d in self.dimensions if d.path in values and d.matters(values)}

    def encode(self, agent: Agent) -> list[float]:
        """Returns the vector of an agent's own values."""
        return [d.encode(_get(agent, d.path)) for d in self.dimensions]

    def of_agent(self, agent: Agent) -> dict[str, Value]:
        """Returns those values that an agent has, which need not be of the space's kind."""
        values = {d.path: _get(agent, d.path) for d in self.dimensions}
        return {path: value for path, value in values.items() if value is not None}

    def apply(self, agent: Agent, values: Mapping[str, Value]) -> Agent:
        """Returns the agent with the values in place."""
        for path, value in self._in_use(values).items():
            agent = _set(agent, path.split("."), value)
        return agent

    def distributions(self, values: Mapping[str, Value] | None = None) -> dict[str, BaseDistribution]:
        """Returns all dimensions as Optuna shows them, or those of some values."""
        return {d.path: d.distribution() for d in self.dimensions if values is None or d.path in values}


def read_parameters(text: str) -> tuple[str, ...]:
    """Returns the paths in a list such as rollout_depth,evaluator.*; raises UserError where one is empty."""
    paths = tuple(path.strip() for path in text.split(","))
    if not all(paths):
        raise UserError(f"--params must name parameters, such as iterations,evaluator.merge, got {text!r}.")
    return paths


def _dimensions(declared: Declared, prefix: str) -> dict[str, Dimension]:
    dimensions: dict[str, Dimension] = {}
    for field, info in parameters_of(type(declared)):
        value = getattr(declared, field.name)
        if isinstance(value, Declared):
            dimensions |= _dimensions(value, f"{prefix}{field.name}.")
        else:
            dimensions[prefix + field.name] = Dimension(prefix + field.name, type(field.default), info)
    return dimensions


def _get(declared: Any, path: str) -> Any:
    for name in path.split("."):
        declared = getattr(declared, name, None)
    return declared


def _set(declared: Any, names: list[str], value: Any) -> Any:
    inner = value if len(names) == 1 else _set(getattr(declared, names[0]), names[1:], value)
    return declared.replace(**{names[0]: inner})
