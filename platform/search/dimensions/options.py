"""The options of engines as dimensions: those that an engine declares in its handshake, and those in stored paths.

Paths of a new study get the ranges and values that the engine declares, and its start their values, so that neither
needs the engine to be read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ...core.errors import UserError, unknown
from ...core.parameters import Parameter
from .dimension import OR, Dimension, Range
from .tree import owner_of, with_values

if TYPE_CHECKING:
    from ...agents.agent import Agent
    from ...agents.engines.uci_options import Option

SPENT = ("hash", "threads", "multipv", "ponder", "move overhead", "nodestime")  # resources, which no `*` searches
MEANING = "an option of the engine"


def typed_option(path: str, limits: str) -> Dimension:
    """Returns the dimension of an option of which only the range or values in a path are known."""
    found = Range.read(limits, False)
    texts = tuple(limits.split(OR))
    if found:
        return Dimension(path, int, Parameter(MEANING, low=found.low, high=found.high))
    if set(texts) <= {"true", "false"}:
        return Dimension(path, bool, Parameter(MEANING))
    try:
        numbers = [int(text) for text in texts]
    except ValueError:
        return Dimension(path, str, Parameter(MEANING, choices=texts))
    return Dimension(path, int, Parameter(MEANING, low=min(numbers), high=max(numbers)))


def with_options_declared(agent: Agent, paths: Sequence[str]) -> tuple[Agent, tuple[str, ...]]:
    """Returns a start and paths in which the options to search have their values and ranges, from the engines.

    Raises UserError for an option that an engine does not declare or that cannot be searched, or for a range or value
    that it does not allow.
    """
    texts: list[str] = []
    for text in paths:
        path, _, limits = text.partition("=")
        if not (owner := owner_of(agent, path)):
            texts.append(text)
            continue
        engine, name = owner
        prefix, declared = path[: len(path) - len(name)], engine.declared_options()
        searched = {option.name.lower(): option for option in declared.values() if _has_values(option)}
        chosen = [searched[name.lower()]] if name.lower() in searched else []
        if name == "*":
            chosen = [option for key, option in searched.items() if key not in SPENT and not key.startswith("uci_")]
        if not chosen:
            raise unknown("option to search of the engine", name, [option.name for option in searched.values()])
        for option in chosen:
            value = engine.option(option.name)
            value = option.default if value is None else value
            agent = with_values(agent, {prefix + option.name: value})
            dimension = _dimension(prefix + option.name, option)
            start = dimension.start_of(agent)
            dimension = dimension.within(limits, start) if limits else dimension
            texts.append(dimension.text)
    return agent, tuple(texts)


def _has_values(option: Option) -> bool:
    return option.kind == "check" or (option.kind == "spin" and option.low != option.high) or len(option.values) > 1


def _dimension(path: str, option: Option) -> Dimension:
    if option.kind == "spin":
        if option.low is None or option.high is None:
            raise UserError(f"the engine must declare min and max of {option.name}, but it does not; search another.")
        dimension = Dimension(path, int, Parameter(MEANING, low=option.low, high=option.high))
        return replace(dimension, limits=dimension.legal)
    kind = bool if option.kind == "check" else str
    dimension = Dimension(path, kind, Parameter(MEANING, choices=option.values))
    return replace(dimension, among=dimension.options)
