"""A dimension of a search: the values that a parameter may have, and their coordinates from 0 to 1."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...core.errors import UserError, unknown
from ...core.parameters import Parameter, format_value
from .tree import Value, part_text, value_at

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

NUMBER = r"-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?"
BORDER = 0.02  # part of a range that is near its end
OR = "|"  # between the values of a list
FEW = 10  # whole numbers that are options
MANY = 100  # whole numbers from 0 on that are searched by factors
MAX_STEPS = 1000  # of a range with steps
_RANGE = re.compile(rf"({NUMBER})\.\.({NUMBER})(?::(log|linear|{NUMBER}))?")


@dataclass(frozen=True)
class Range:
    """The values between two ends, spaced evenly or by factors, or at steps from the lower end.

    From 0 on, factors are those of the value plus 1, which suits whole numbers.
    """

    low: float
    high: float
    log: bool = False
    step: float = 0.0  # 0 = none

    @classmethod
    def read(cls, text: str, log: bool) -> Range | None:
        """Returns the range written as LOW..HIGH, with :log, :linear or :STEP, None for any other text."""
        if not (found := _RANGE.fullmatch(text)):
            return None
        low, high, scale = float(found[1]), float(found[2]), found[3]
        if scale in (None, "log", "linear"):
            return cls(low, high, scale == "log" if scale else log)
        return cls(low, high, False, float(scale))

    @property
    def steps(self) -> tuple[float, ...]:
        """The values of a range with steps; digits that rounding has added are left out."""
        count = math.floor((self.high - self.low) / self.step + 1e-9)
        return tuple(float(f"{self.low + number * self.step:.12g}") for number in range(count + 1))

    def value(self, x: float) -> float:
        """Returns the value at a coordinate in [0, 1]."""
        if not self.log:
            return self.low + x * (self.high - self.low)
        if self.low == 0:
            return min(math.expm1(x * math.log1p(self.high)), self.high)
        value = math.exp(math.log(self.low) + x * (math.log(self.high) - math.log(self.low)))
        return min(max(value, self.low), self.high)  # rounding may leave the range

    def coordinate(self, value: float) -> float:
        """Returns the coordinate of a value."""
        if self.log and self.low == 0:
            return math.log1p(value) / math.log1p(self.high)
        if self.log:
            return (math.log(value) - math.log(self.low)) / (math.log(self.high) - math.log(self.low))
        return (value - self.low) / (self.high - self.low)

    def holding(self, value: float) -> Range:
        """Returns the range, widened if the value is outside, then evenly spaced if factors would begin at 0."""
        low, high = min(self.low, value), max(self.high, value)
        return Range(low, high, self.log and low > 0, self.step)

    def inside(self, outer: Range) -> bool:
        """Returns whether it is a valid range and within another one."""
        return outer.low <= self.low < self.high <= outer.high

    def __str__(self) -> str:
        low, high, step = (repr(int(x) if x == int(x) else x) for x in (self.low, self.high, self.step))
        return f"{low}..{high}{f':{step}' if self.step else ''}"


@dataclass(frozen=True)
class Dimension:
    """One parameter that is searched: its path (such as `evaluator.merge`), type and declaration."""

    path: str
    type: type
    declared: Parameter
    limits: Range | None = None  # narrower than the legal range
    among: tuple[Value, ...] = ()  # instead: a list of values
    part: str = ""  # the kind of the agent or evaluator that it chooses; its values are then texts
    under: tuple[tuple[str, tuple[str, ...]], ...] = ()  # chosen parts that have it, by their paths
    otherwise: Value | None = None  # its value in such a part, if the start has another one

    @property
    def options(self) -> tuple[Value, ...]:
        """The values of a list, a switch (true first, as in Kutsch 2017, 7.1.2), a choice, steps or few integers."""
        if self.among:
            return self.among
        if self.type is bool:
            return (True, False)
        if self.declared.choices:
            return self.declared.choices
        if self.range.step:
            return tuple(map(self.type, self.range.steps))
        low, high = self.range.low, self.range.high
        return tuple(range(int(low), int(high) + 1)) if self.type is int and high - low < FEW else ()

    @property
    def legal(self) -> Range:
        """All values that the parameter may have: any number unless it declares a range."""
        low, high = self.declared.low, self.declared.high
        if low is None or high is None:
            return Range(-math.inf, math.inf)
        return Range(low, high, self.declared.log and low > 0)

    @property
    def has_values(self) -> bool:
        """Whether it can be searched without a range or a list: texts, files and parts cannot."""
        if self.among or self.limits or self.type is bool or self.declared.choices:
            return True
        return self.type is not str and not math.isinf(self.legal.low)

    @property
    def range(self) -> Range:
        """The range to search; raises UserError if neither the parameter's declaration nor a limit gives one."""
        if not self.has_values:
            what = "a list of values" if self.type is str else "a range"
            form = "ONE|OTHER" if self.type is str else "LOW..HIGH"
            raise UserError(f"a searched parameter must have {what}, got {self.path}; write {self.path}={form}.")
        return self.limits or self.legal

    def planned(self, start: Value, even: bool = False) -> Dimension:
        """Returns the dimension of a new study: limited to the declared search range, widened to hold the start.

        Whole numbers from 0 to 100 or more are searched by factors if they are declared so, unless `even`.
        """
        if self.limits:
            ends = self.limits
        elif self.declared.search and not self.among:
            ends = Range(*self.declared.search, self.declared.log).holding(float(start))
        else:
            return self
        many = self.type is int and self.declared.log and ends.low == 0 and ends.high >= MANY
        return replace(self, limits=replace(ends, log=ends.log or (many and not even and not ends.step)))

    @property
    def text(self) -> str:
        """The path with its limits or values, readable by `Space.of`."""
        if self.among:
            return f"{self.path}={OR.join(map(format_value, self.among))}"
        if self.limits is None:
            return self.path
        same = self.limits.step or self.limits.log == self.legal.log
        return f"{self.path}={self.limits}{'' if same else ':log' if self.limits.log else ':linear'}"

    @property
    def shown(self) -> str:
        """The range or values in words."""
        if self.limits and self.limits.step:
            return f"{self.path} in {replace(self.limits, step=0.0)} by steps of {self.limits.step:.12g}"
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
        if step := self.range.step:  # in whole steps from the old end
            low = self.range.low - step * math.floor((self.range.low - low) / step)
        elif self.type is int:
            low, high = math.floor(low), math.ceil(high)
        return replace(self, limits=Range(low, high, self.range.log, step)).text

    def start_of(self, start: object) -> Value:
        """Returns the value at which a search from an agent starts."""
        value = value_at(start, self.path)
        if value is None and self.otherwise is not None:
            return self.otherwise
        if isinstance(value, str) and self.type in (int, bool):  # of an option of an engine
            return value == "true" if self.type is bool else int(value)
        return value  # type: ignore[no-any-return]

    def nearest_part(self, text: str) -> Value:
        """Returns the searched part that a part is, or is with other parameters; itself if there is none."""
        same = [value for value in self.among if str(value).partition("(")[0] == text.partition("(")[0]]
        return text if text in self.among or not same else same[0]

    def within(self, text: str, start: Value) -> Dimension:
        """Returns the dimension with a narrower range, such as 0..50 or 16..64:16, or a list, such as 1|5|20.

        Raises UserError if the start is not in it.
        """
        if OR in text or self.is_choice:
            return self._among(text.split(OR), start)
        legal = self.legal
        limits = Range.read(text, legal.log)
        if limits and limits.low > limits.high:
            raise UserError(f"a range of {self.path} must be LOW..HIGH, got {text} with LOW above HIGH; swap them.")
        if limits is None or not limits.inside(legal) or not limits.low <= start <= limits.high:  # type: ignore[operator]
            bounds = "" if math.isinf(legal.low) else f" within {legal.low:,.12g}..{legal.high:,.12g}"
            listed = "; a list of values is written as 1|2|4" if limits is None else ""
            raise UserError(
                f"a range of {self.path} must be LOW..HIGH{bounds} and hold the start's {start}, got {text}{listed}."
            )
        if limits.log and limits.low <= 0 and (self.type is not int or limits.low < 0):
            raise UserError(f"a range of {self.path} must begin above 0 to be searched by factors, got {text}.")
        if limits.step:
            self._require_steps(limits, text, start)
        return replace(self, limits=limits)

    def _require_steps(self, limits: Range, text: str, start: Value) -> None:
        if limits.step < 0 or not 2 <= (limits.high - limits.low) / limits.step + 1 + 1e-9 < MAX_STEPS + 1:
            raise UserError(f"a range of {self.path} must have 2 to {MAX_STEPS:,} steps, got {text}; change the step.")
        if self.type is int and (limits.low % 1 or limits.step % 1):
            raise UserError(f"steps of {self.path} must be whole numbers, got {text}; round them.")
        if start not in limits.steps:
            near = min(limits.steps, key=lambda value: abs(value - float(start)))
            raise UserError(
                f"the steps of {self.path} must hold the start's {format_value(start)}, got {text}; begin elsewhere, or"
                f" start from {self.path}={near:.12g}."
            )

    def _among(self, texts: Sequence[str], start: Value) -> Dimension:
        if self.part:
            texts = [part_text(self.part, text, str(start)) for text in texts]
        known = {
            format_value(value): value for value in ((True, False) if self.type is bool else self.declared.choices)
        }
        found: list[Value] = []
        for text in texts:
            if known and text not in known:
                raise unknown(f"value of {self.path}", text, known)
            with contextlib.suppress(ValueError):
                found.append(known[text] if known else self.type(text))
        if len(found) < len(texts) or not all(map(self.declared.contains, () if known or self.part else found)):
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
        has_it = all(values.get(path, parts[0]) in parts for path, parts in self.under)
        return has_it and all(values.get(prefix + name, allowed[0]) in allowed for name, allowed in conditions)

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

    def edges(self, x: float) -> tuple[float, float]:
        """Returns the coordinates between which the value is that of x; infinite if there is no other value beyond."""
        low, high = -math.inf, math.inf
        if n := len(self.options):
            place = min(int(x * n), n - 1)
            return place / n if place else low, (place + 1) / n if place < n - 1 else high
        if self.type is not int:
            return low, high
        value, ends = round(self.range.value(x)), self.range
        below = ends.coordinate(value - 0.5) if value - 0.5 > ends.low else low
        return below, ends.coordinate(value + 0.5) if value + 0.5 < ends.high else high

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
        from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

        if self.type is bool or self.declared.choices or self.among:
            return CategoricalDistribution(self.options)
        ends = self.range if value is None else self.range.holding(float(value))
        if ends.step:
            ends = replace(ends, high=ends.steps[-1])
        if self.type is int:
            return IntDistribution(
                int(ends.low), int(ends.high), log=ends.log and ends.low > 0, step=int(ends.step) or 1
            )
        return FloatDistribution(ends.low, ends.high, log=ends.log, step=ends.step or None)
