"""Search spaces from agents' own parameter declarations: from vectors in the unit cube to agents and back."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from ..agents.agent import Agent
from ..core.errors import UserError, unknown
from ..core.number_text import number
from ..core.parameters import Declared, Parameter, format_value, parameters_of

Value = float | int | bool | str
_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?"
BORDER = 0.02  # part of a range that is near its end
OR = "|"  # between the values of a list
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(?::(log|linear))?")


@dataclass(frozen=True)
class Range:
    """The values between two ends, spaced evenly or by factors."""

    low: float
    high: float
    log: bool = False

    @classmethod
    def read(cls, text: str, log: bool) -> Range | None:
        """Returns the range written as LOW..HIGH, LOW..HIGH:log or LOW..HIGH:linear, None for any other text."""
        found = _RANGE.fullmatch(text)
        return cls(float(found[1]), float(found[2]), found[3] == "log" if found[3] else log) if found else None

    def value(self, x: float) -> float:
        """Returns the value at a coordinate in [0, 1]."""
        if not self.log:
            return self.low + x * (self.high - self.low)
        value = math.exp(math.log(self.low) + x * (math.log(self.high) - math.log(self.low)))
        return min(max(value, self.low), self.high)  # rounding may leave the range

    def coordinate(self, value: float) -> float:
        """Returns the coordinate of a value."""
        if self.log:
            return (math.log(value) - math.log(self.low)) / (math.log(self.high) - math.log(self.low))
        return (value - self.low) / (self.high - self.low)

    def holding(self, value: float) -> Range:
        """Returns the range, widened if the value is outside, then evenly spaced if factors would begin at 0."""
        low, high = min(self.low, value), max(self.high, value)
        return Range(low, high, self.log and low > 0)

    def inside(self, outer: Range) -> bool:
        """Returns whether it is a valid range and within another one."""
        return outer.low <= self.low < self.high <= outer.high

    def __str__(self) -> str:
        low, high = (repr(int(end) if end == int(end) else end) for end in (self.low, self.high))
        return f"{low}..{high}"


@dataclass(frozen=True)
class Dimension:
    """One parameter that is searched: its path (such as `evaluator.merge`), type and declaration."""

    path: str
    type: type
    declared: Parameter
    limits: Range | None = None  # narrower than the legal range
    among: tuple[Value, ...] = ()  # instead: a list of values

    @property
    def options(self) -> tuple[Value, ...]:
        """The values of a list, a switch (true first, as in Kutsch 2017, 7.1.2), a choice or a small integer range."""
        if self.among:
            return self.among
        if self.type is bool:
            return (True, False)
        if self.declared.choices:
            return self.declared.choices
        low, high = self.range.low, self.range.high
        return tuple(range(int(low), int(high) + 1)) if self.type is int and high - low < 10 else ()

    @property
    def legal(self) -> Range:
        """All values that the parameter may have: any number unless it declares a range."""
        low, high = self.declared.low, self.declared.high
        if low is None or high is None:
            return Range(-math.inf, math.inf)
        return Range(low, high, self.declared.log and low > 0)

    @property
    def range(self) -> Range:
        """The range to search; raises UserError if neither the parameter's declaration nor a limit gives one."""
        if self.limits is None and (self.type is str or math.isinf(self.legal.low)):
            raise UserError(f"a searched parameter must have a range, got {self.path}; write {self.path}=LOW..HIGH.")
        return self.limits or self.legal

    def planned(self, start: Value) -> Dimension:
        """Returns the dimension of a new study: limited to the declared search range, widened to hold the start."""
        if self.limits or self.among or self.declared.search is None:
            return self
        return replace(self, limits=Range(*self.declared.search, self.declared.log).holding(float(start)))

    @property
    def text(self) -> str:
        """The path with its limits or values, readable by `Space.of`."""
        if self.among:
            return f"{self.path}={OR.join(map(format_value, self.among))}"
        if self.limits is None:
            return self.path
        scale = "" if self.limits.log == self.legal.log else ":log" if self.limits.log else ":linear"
        return f"{self.path}={self.limits}{scale}"

    @property
    def shown(self) -> str:
        """The range or values in words."""
        if self.options and (self.among or self.type is not int):
            return f"{self.path} among {', '.join(map(format_value, self.options))}"
        return f"{self.path} in {self.range}{' by factors' * self.range.log}"

    def wider(self, value: Value) -> str:
        """Returns the path with wider limits if the value is at an end that is not the legal one, else nothing."""
        if self.among or not isinstance(value, int | float) or isinstance(value, bool) or self.range == self.legal:
            return ""
        x, legal, (low, high) = self.range.coordinate(value), self.legal, (self.range.low, self.range.high)
        least = 1.0 if self.type is int and self.range.log else legal.low
        below, above = (low / 10, high * 10) if self.range.log else (2 * low - high, 2 * high - low)
        if x <= BORDER and low > legal.low:
            low = max(below, least)
        elif x >= 1 - BORDER and high < legal.high:
            high = min(above, legal.high)
        else:
            return ""
        if self.type is int:
            low, high = math.floor(low), math.ceil(high)
        return replace(self, limits=Range(low, high, self.range.log)).text

    def within(self, text: str, start: Value) -> Dimension:
        """Returns the dimension with a narrower range, such as 0..50, or a list of values, such as 1|5|20.

        Raises UserError if the start is not in it.
        """
        if OR in text or self.type is bool or self.declared.choices:
            return self._among(text.split(OR), start)
        legal = self.legal
        limits = Range.read(text, legal.log)
        if limits and limits.low > limits.high:
            raise UserError(f"a range of {self.path} must be LOW..HIGH, got {text} with LOW above HIGH; swap them.")
        if limits is None or not limits.inside(legal) or not limits.low <= start <= limits.high:  # type: ignore[operator]
            bounds = "" if math.isinf(legal.low) else f" within {legal.low:,.12g}..{legal.high:,.12g}"
            raise UserError(
                f"a range of {self.path} must be LOW..HIGH{bounds} and hold the start's {start}, got {text}."
            )
        if limits.log and limits.low <= 0:
            raise UserError(f"a range of {self.path} must begin above 0 to be searched by factors, got {text}.")
        return replace(self, limits=limits)

    def _among(self, texts: Sequence[str], start: Value) -> Dimension:
        known = {
            format_value(value): value for value in ((True, False) if self.type is bool else self.declared.choices)
        }
        found: list[Value] = []
        for text in texts:
            if known and text not in known:
                raise unknown(f"value of {self.path}", text, known)
            with contextlib.suppress(ValueError):
                found.append(known[text] if known else self.type(text))
        if len(found) < len(texts) or not all(map(self.declared.contains, () if known else found)):
            possible = self.declared.range_text() or "of its type"
            raise UserError(f"the values of {self.path} must be {possible}, got {OR.join(texts)}.")
        if len(set(found)) < max(2, len(found)) or start not in found:
            raise UserError(
                f"a list of values of {self.path} must have two or more that differ, the start's {format_value(start)}"
                f" among them, got {OR.join(texts)}."
            )
        return replace(self, among=tuple(found))

    def matters(self, values: Mapping[str, Value]) -> bool:
        """Returns whether the parameter is used given values of others, which may include unsearched ones."""
        prefix = self.path[: self.path.rfind(".") + 1]
        conditions = self.declared.when.items()
        return all(values.get(prefix + name, allowed[0]) in allowed for name, allowed in conditions)

    def decode(self, x: float) -> Value:
        """Returns the value for a coordinate in [0, 1]; options share the interval evenly."""
        if self.options:
            return self.options[min(int(x * len(self.options)), len(self.options) - 1)]
        value = self.range.value(x)
        return round(value) if self.type is int else value

    def encode(self, value: Value) -> float:
        """Returns the coordinate of a value, the middle of its interval for options."""
        if self.options:
            return (self.options.index(value) + 0.5) / len(self.options)
        return self.range.coordinate(float(value))

    @property
    def is_choice(self) -> bool:
        """Whether its values have no order."""
        return self.type in (bool, str)

    def rounded(self, x: float, u: float) -> float:
        """Returns the coordinate of one of the two neighbouring values of a coordinate, the upper one if u is large.

        With u drawn evenly from 0 to 1, values at the coordinates have the mean that x asks for. Values that are no
        whole numbers and no list stay as they are.
        """
        if n := len(self.options):
            return (min(max(math.floor(x * n - 0.5 + u), 0), n - 1) + 0.5) / n
        if self.type is not int:
            return x
        low, high = math.ceil(self.range.low), math.floor(self.range.high)
        return self.encode(min(max(math.floor(self.range.value(x) + u), low), high))

    def distribution(self, value: Value | None = None) -> BaseDistribution:
        """Returns the dimension in Optuna's form, wide enough for a value.

        Ranges of whole numbers in studies of earlier versions may end at fractions, which rounded values may exceed.
        """
        if self.type is bool or self.declared.choices or self.among:
            return CategoricalDistribution(self.options)
        ends = self.range if value is None else self.range.holding(float(value))
        if self.type is int:
            return IntDistribution(int(ends.low), int(ends.high), log=ends.log)
        return FloatDistribution(ends.low, ends.high, log=ends.log)


@dataclass(frozen=True)
class Space:
    """The searched parameters of an agent, in order."""

    dimensions: tuple[Dimension, ...]

    @classmethod
    def of(cls, agent: Agent, paths: Sequence[str]) -> Space:
        """Returns the space of the named parameters.

        A path names a parameter (`iterations`), a nested one (`evaluator.merge`), or all of a nested agent or evaluator
        (`evaluator.*`); for a single parameter it may narrow the range (`rollout_depth=0..50`), set the scale
        (`exploration=0.01..10:log`), or list the values (`final=max|robust`). Without limits all legal values are
        searched; `planned` adds limits to new studies. Raises UserError, with the closest name, for a path that does
        not exist.
        """
        known = _dimensions(agent, "")
        searched: list[Dimension] = []
        for text in paths:
            path, _, limits = text.partition("=")
            if path.endswith(".*"):
                named = [d for name, d in known.items() if name.startswith(path[:-1])]
            else:
                named = [known[path]] if path in known else []
            if not known:
                raise UserError(f"{agent.name} has no parameters to search; choose another agent.")
            if not named:
                raise unknown(f"parameter to search in {agent.name}", path, known)
            if limits:
                named = [dimension.within(limits, _get(agent, dimension.path)) for dimension in named]
            searched += [d for d in named if d not in searched]
        return cls(tuple(searched))

    @classmethod
    def cube(cls, size: int) -> Space:
        """Returns a space of numbers from 0 to 1, x1, x2 and so on, which are their own coordinates."""
        declared = Parameter("a number", low=0.0, high=1.0)
        return cls(tuple(Dimension(f"x{number + 1}", float, declared) for number in range(size)))

    @classmethod
    def planned(cls, agent: Agent, paths: Sequence[str]) -> tuple[str, ...]:
        """Returns paths that fix a new study's search against later declarations: search ranges become limits."""
        texts: list[str] = []
        for path in paths:
            named = cls.of(agent, [path]).dimensions
            planned = [dimension.planned(_get(agent, dimension.path)) for dimension in named]
            texts += [path] if planned == list(named) else [dimension.text for dimension in planned]
        return tuple(texts)

    @classmethod
    def once(cls, agent: Agent, paths: Sequence[str]) -> tuple[str, ...]:
        """Returns paths without those that others make more exact: a single parameter beats `.*`, a range beats none.

        New studies are planned from them; stored paths of earlier versions may name a parameter twice.
        """
        alone = {path.partition("=")[0] for path in paths}
        ranged = {path.partition("=")[0] for path in paths if "=" in path}
        texts: list[str] = []
        for path in paths:
            named = cls.of(agent, [path]).dimensions
            better = alone if ".*" in path else () if "=" in path else ranged
            left = [d for d in named if d.path not in better]
            texts += [path] if len(left) == len(named) else [d.text for d in left]
        return tuple(texts)

    def require_clear(self) -> None:
        """Raises UserError if a new study must refuse it: two ranges of a parameter, or fractions as ends."""
        seen: dict[str, Dimension] = {}
        for d in self.dimensions:
            if seen.setdefault(d.path, d) != d:
                raise UserError(
                    f"a parameter must have one range, got {seen[d.path].text} and {d.text}; leave one of them out."
                )
            if d.limits is not None and d.type is int and (d.limits.low % 1 or d.limits.high % 1):
                raise UserError(f"a range of {d.path} must end at whole numbers, got {d.limits}; round them.")

    @property
    def size(self) -> int:
        return len(self.dimensions)

    def decode(self, vector: Sequence[float]) -> dict[str, Value]:
        """Returns the values in use, without parameters that the other values leave unused."""
        values = {d.path: d.decode(float(x)) for d, x in zip(self.dimensions, vector, strict=True)}
        return self._in_use(values)

    def _in_use(self, values: Mapping[str, Value]) -> dict[str, Value]:
        return {d.path: values[d.path] for d in self.dimensions if d.path in values and d.matters(values)}

    def encode(self, agent: Agent) -> list[float]:
        """Returns the vector of an agent's own values."""
        return [d.encode(_get(agent, d.path)) for d in self.dimensions]

    def of_agent(self, agent: Agent) -> dict[str, Value]:
        """Returns the values that an agent, perhaps of another kind than the space's, has and uses."""
        known = {path: _get(agent, path) for path in _dimensions(agent, "")}
        return {d.path: known[d.path] for d in self.dimensions if d.path in known and d.matters(known)}

    def widened(self, values: Mapping[str, Value]) -> tuple[str, tuple[str, ...]]:
        """Returns the values at ends of ranges that could be wider, as text, and the space's paths with wider ranges.

        The text is empty if there are none.
        """
        last = {d.path: d for d in self.dimensions}  # of a parameter named twice, the range counts
        wider = {path: d.wider(values[path]) if path in values else "" for path, d in last.items()}
        found = [d for path, d in last.items() if wider[path]]
        places = " and ".join(f"{d.path} {number(float(values[d.path]))} of {d.range}" for d in found)
        return places, tuple(wider[path] or d.text for path, d in last.items())

    def apply(self, agent: Agent, values: Mapping[str, Value]) -> Agent:
        """Returns the agent with the values in place."""
        changed: Agent = _with(agent, self._in_use(values))
        return changed

    def described(self, start: Agent) -> str:
        """Returns the searched ranges and the start in words: rollout_depth in 0..50 from 5, final among ..."""
        return ", ".join(f"{d.shown} from {format_value(_get(start, d.path))}" for d in self.dimensions)

    def distributions(self, values: Mapping[str, Value] | None = None) -> dict[str, BaseDistribution]:
        """Returns all dimensions in Optuna's form, or those of some values."""
        if values is None:
            return {d.path: d.distribution() for d in self.dimensions}
        return {d.path: d.distribution(values[d.path]) for d in self.dimensions if d.path in values}


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


def _with(declared: Any, values: Mapping[str, Value]) -> Any:
    """Returns a declared object with its values at some paths replaced."""
    changes: dict[str, Any] = {}
    inner: dict[str, dict[str, Value]] = {}
    for path, value in values.items():
        name, _, rest = path.partition(".")
        if rest:
            inner.setdefault(name, {})[rest] = value
        else:
            changes[name] = value
    changes |= {name: _with(getattr(declared, name), own) for name, own in inner.items()}
    return declared.replace(**changes)
