"""A stored study's agent, opponents and method in plain words; also for studies of earlier versions."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from ...agents.engines.uci_options import TakesOptions
from ...agents.registry import AGENTS
from ...core.errors import UserError
from ...core.number_text import number
from ...games.registry import GAMES, game_of
from ..front.second_objective import stored_objective
from ..samplers.registry import SAMPLERS
from ..space import Space

EVALUATIONS = "evaluations"  # what candidates of a function have instead of games
NSGA2 = "nsga2"  # the sampler of fronts
TAKEN = "parameter "  # before the name of a parameter in a frame that has another column of that name


class StoredRange(NamedTuple):
    """The values of a searched parameter: numbers between two ends, or choices."""

    low: float = 0.0
    high: float = 1.0
    log: bool = False
    whole: bool = False
    choices: tuple[Any, ...] = ()

    @classmethod
    def of(cls, kind: BaseDistribution) -> StoredRange:
        if isinstance(kind, CategoricalDistribution):
            return cls(choices=tuple(kind.choices))
        assert isinstance(kind, FloatDistribution | IntDistribution)
        return cls(kind.low, kind.high, kind.log, isinstance(kind, IntDistribution))

    def distribution(self) -> BaseDistribution:
        if self.choices:
            return CategoricalDistribution(self.choices)
        if self.whole:
            return IntDistribution(int(self.low), int(self.high), log=self.log)
        return FloatDistribution(self.low, self.high, log=self.log)

    def joined(self, other: StoredRange) -> StoredRange:
        """Returns a range that holds both."""
        choices = tuple(dict.fromkeys(self.choices + other.choices))
        low, high = min(self.low, other.low), max(self.high, other.high)
        return StoredRange(low, high, self.log and other.log, self.whole and other.whole, choices)

    def __str__(self) -> str:
        if self.choices:
            return ", ".join(map(value_text, self.choices))
        return f"{number(self.low, digits=6)} to {number(self.high, digits=6)}"


def value_text(value: Any) -> str:
    """Returns a parameter's value for people; nothing for an unused one."""
    if isinstance(value, float):
        return number(value, digits=4)
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class StudyFacts:
    """What defines a study, in text; empty texts do not apply."""

    game: str
    start: str  # the agent, or the learning parameters, where the search starts
    against: tuple[str, ...]
    sampler: str  # with its parameters
    noise: str  # how often candidates play
    seed: str
    unit_games: int  # games per unit of a candidate, see Objective
    objectives: str  # of a front
    counted: str = "games"  # what candidates play, or evaluations

    @classmethod
    def of(cls, definition: Mapping[str, Any]) -> StudyFacts:
        """Reads a stored definition, which may be that of a front or of a study of learners."""
        game = str(definition.get("game", ""))
        opponents = definition.get("against") or ()
        against = (opponents,) if isinstance(opponents, str) else tuple(opponents)
        start = str(definition.get("agent") or definition.get("learning", ""))
        learners, also = "learning" in definition, definition.get("also", ())
        sampler = "tpe" if learners else str(definition.get("sampler", ""))
        noise = str(definition.get("noise") or f"fixed(games={definition.get('games', '')})")
        if "(" not in sampler:  # its parameters are stored beside it
            known = {key: definition[key] for key in ("population", "sigma", "candidates") if key in definition}
            sampler += f"({','.join(f'{key}={value}' for key, value in known.items())})" if known else ""
        return cls(
            game="\n".join(_short(one, game_of) for one in (game, *also)),
            start=_short(start, AGENTS.make),
            against=tuple(_short(agent, AGENTS.make) for agent in against),
            sampler=_short(sampler, SAMPLERS.make),
            noise=noise,
            seed=str(definition.get("seed", "")),
            unit_games=1
            if learners or sampler.startswith("duels")
            else _seats(game) * max(1, len(against)) * (1 + len(also)),
            objectives=_objectives(definition),
            counted=EVALUATIONS if "searched" in definition else "games",
        )

    @property
    def sampler_name(self) -> str:
        return self.sampler.partition("(")[0]

    def rows(self) -> dict[str, str]:
        """Returns the facts of interest to people, the most important first."""
        rows = {"game": self.game, "start": self.start, "against": "\n".join(self.against)}
        rows |= {"objectives": self.objectives}
        rows |= {"sampler": self.sampler, f"{self.counted} per candidate": self.noise, "seed": self.seed}
        return {what: text for what, text in rows.items() if text}


def used_values(row: Mapping[Any, Any], ranges: Mapping[str, StoredRange]) -> dict[str, Any]:
    """Returns a candidate's parameters from a row of a frame, in which unused ones are missing."""
    used = {str(name): value for name, value in row.items() if not pd.isna(value)}
    whole = {name: int(value) if ranges[name].whole else value for name, value in used.items()}
    return {name.removeprefix(TAKEN): value for name, value in whole.items()}


def agent_with(definition: Mapping[str, Any], values: Mapping[str, Any]) -> str:
    """Returns the text of a study's agent with some parameters; empty if this version cannot build it."""
    with contextlib.suppress(UserError, KeyError):
        agent = AGENTS.make(definition["agent"])
        return str(Space.of(agent, definition["parameters"]).apply(agent, values))
    return ""


def option_commands(agent: str) -> list[str]:
    """Returns the options of an agent's program in the program's own words; none if it takes none."""
    with contextlib.suppress(UserError):
        made = AGENTS.make(agent)
        return made.option_commands() if isinstance(made, TakesOptions) else []
    return []


def ranges_table(ranges: Mapping[str, StoredRange], definition: Mapping[str, Any]) -> pd.DataFrame:
    """Returns the searched parameters, one row each: parameter, range, scale and where the search starts."""
    start: dict[str, Any] = {}  # without parameters that the start does not use
    with contextlib.suppress(UserError, KeyError):
        agent = AGENTS.make(definition["agent"])
        start = Space.of(agent, definition["parameters"]).of_agent(agent)
    rows = [
        {
            "parameter": name,
            "range": str(kind),
            "scale": "logarithmic" if kind.log else "",
            "start": value_text(start.get(name.removeprefix(TAKEN))),
        }
        for name, kind in ranges.items()
    ]
    table = pd.DataFrame(rows, columns=["parameter", "range", "scale", "start"])
    return table.loc[:, [name for name in table if name == "parameter" or (table[name] != "").any()]]


def _objectives(definition: Mapping[str, Any]) -> str:
    if "objectives" not in definition:
        return ""
    said = f"strength, {stored_objective(definition).name}"
    if "positions" in definition:
        said += f": {definition['positions']} positions, {definition['repeats']} searches of each"
    return said


def _seats(game: str) -> int:
    with contextlib.suppress(UserError):
        return GAMES.make(game).num_seats
    return 1


def _short(text: str, make: Any) -> str:
    """Returns the short form of a declared object's text; unknown texts are unchanged."""
    with contextlib.suppress(UserError):
        return str(make(text)) if text else ""
    return text
