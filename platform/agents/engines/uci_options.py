"""The options that a UCI engine declares, and checks of the values that a user wants."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

from ...core.errors import UserError, nearest

MAX_OPTIONS = 10_000  # that are remembered
MAX_TOLD = 12  # names or values in a sentence
_LINE = re.compile(r"option\s+name\s+(?P<name>.+?)\s+type\s+(?P<kind>\S+)(?P<rest>.*)")
_DEFAULT = re.compile(r" default (.*?)(?= (?:min|max|var) |$)")


@runtime_checkable
class TakesOptions(Protocol):
    """An agent whose program declares options, which a text parameter sets as NAME=VALUE;NAME=VALUE."""

    takes_options: ClassVar[str]  # the name of the text parameter

    def declared_options(self) -> Mapping[str, Option]:
        """Returns what the program declares, by names in lower case; raises UserError if it does not start."""

    def option(self, name: str) -> str | None:
        """Returns the value that an option is set to; None if it is left at its default."""

    def with_options(self, values: Mapping[str, str]) -> Any:
        """Returns the agent with some options set."""

    def option_commands(self) -> list[str]:
        """Returns the set options in the program's own words."""


@dataclass(frozen=True)
class Option:
    """An option as an engine declares it."""

    name: str
    kind: str  # check | spin | combo | button | string
    low: int | None = None
    high: int | None = None
    values: tuple[str, ...] = ()  # of a combo
    default: str = ""

    def refusal(self, value: str) -> str:
        """Returns a description of the values allowed if the given one is not; "" if it is."""
        if self.kind == "check" and value.casefold() not in ("true", "false"):
            return "true or false"
        if self.kind == "combo" and self.values and value.casefold() not in map(str.casefold, self.values):
            return f"one of {_some(self.values)}"
        if self.kind == "button" and value:
            return "without a value"
        if self.kind != "spin" or self.low is None or self.high is None:
            return ""
        number = int(value) if re.fullmatch(r"[+-]?\d{1,18}", value) else None
        if number is None or not self.low <= number <= self.high:
            return f"a whole number from {self.low} to {self.high}"
        return ""


def read_option(line: str) -> Option | None:
    """Returns the option that a line of an engine declares; None if it declares none."""
    found = _LINE.match(line.strip())
    if found is None:
        return None
    rest = f" {found['rest'].strip()} "
    values = tuple(part.strip() for part in rest.split(" var ")[1:])
    default = _DEFAULT.search(rest)
    limits = _limit(rest, "min"), _limit(rest, "max")
    return Option(found["name"], found["kind"], *limits, values, default[1].strip() if default else "")


def _limit(text: str, name: str) -> int | None:
    found = re.search(rf" {name} ([+-]?\d{{1,18}}) ", text)
    return int(found[1]) if found else None


def check_options(command: str, declared: Mapping[str, Option], wanted: Iterable[tuple[str, str]]) -> None:
    """Raises UserError if an engine lacks an option or does not allow its value.

    Args:
        command: the engine, for the sentence.
        declared: its options by their names in lower case, as UCI compares them.
        wanted: names and values.
    """
    for name, value in wanted:
        option = declared.get(name.lower())
        if option is None:
            names = [each.name for each in declared.values()]
            hint = nearest(name, names) or (f"it has: {_some(sorted(names))}." if names else "it has none.")
            raise UserError(f"There is no option of the engine {command!r} named {name!r}; {hint}")
        if must := option.refusal(value):
            raise UserError(f"the option {option.name} of the engine {command!r} must be {must}, got {value!r}.")


def _some(names: Iterable[str]) -> str:
    """Returns names as a list in a sentence."""
    listed = list(names)
    return ", ".join(listed[:MAX_TOLD]) + (f" and {len(listed) - MAX_TOLD} more" if len(listed) > MAX_TOLD else "")
