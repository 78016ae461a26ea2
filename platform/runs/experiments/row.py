"""Rows of experiments: what is measured of which agents, and the published figure beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from ...agents.registry import AGENTS
from ...core.errors import unknown
from ...games.registry import GAMES
from ...results.frames.measures import SEARCH_MEASURES, match_measures

# Fields in the definitions of all stored rows; other fields are stored only if they differ from their defaults.
_ALWAYS_STORED = ("label", "game", "agents", "games", "measure", "published", "x", "openings")


@dataclass(frozen=True)
class Row:
    """One measured figure of matches: agents at a game, in all roles; the first agent is measured.

    With `states` it is a figure of searches: the agent repeatedly searches positions from the collector's games. Then
    there may be several agents, one per number of legal actions from two on, the last for all larger numbers.
    """

    label: str
    game: str
    agents: tuple[str, ...]
    games: int  # rounded up to whole sets of seat orders and openings; of certainty: the collector's
    measure: str = "win_rate"  # a name of MATCH_MEASURES, or of SEARCH_MEASURES
    published: float | None = None  # in the measure's unit
    x: float | None = None  # place on the plot's axis, if rows are points of a curve
    openings: int = 0  # plies; see schedules.round_robin.openings
    series: str = ""  # rows of the same series are one line of the plot
    states: int = 0  # positions per group; 0 = a row of matches
    repeats: int = 0  # searches per position
    collector: str = ""  # the agent whose games positions come from; empty = arena.positions.COLLECTOR
    legal: int = 0  # only positions with this number of legal actions; 0 = all
    phases: tuple[int, ...] = ()  # only positions from the first to the second of these phases; empty = all
    moves: tuple[int, ...] = ()  # in place of groups: `states` positions from the first move to the second, exclusive
    published_games: int = 0  # or trainings, behind the published figure; 0 = without chance, or unknown
    setting: str = ""  # of runs.published: how ours differs from what was published; empty = not at all
    reason: str = ""  # of the setting, a few words
    trainings: tuple[str, ...] = ()  # the first agent, trained with other seeds: the figure is a mean over trainings
    extended: bool = False  # has more games than planned if a statement about it needs them

    def definition(self) -> dict[str, Any]:
        """Returns the row as it is stored; fields that earlier versions lacked are stored only if used."""
        defaults = {field.name: field.default for field in fields(self)}
        return {k: value for k, value in asdict(self).items() if k in _ALWAYS_STORED or value != defaults[k]}

    @classmethod
    def from_definition(cls, definition: dict[str, Any]) -> Row:
        values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in definition.items()}
        return cls(**values | _pinned(values, stored=True))

    def __post_init__(self) -> None:
        for name, texts in _pinned(vars(self), stored=False).items():
            object.__setattr__(self, name, texts)

    @property
    def measured(self) -> tuple[str, ...]:
        """The agents whose figure is measured: the first one, of several trainings one each."""
        return self.agents[0], *self.trainings


def _pinned(values: Mapping[str, Any], stored: bool) -> dict[str, Any]:
    """Returns the fields of a row that name agents, so that later defaults cannot change them."""
    found: dict[str, Any] = {
        name: tuple(AGENTS.pinned(text, stored) for text in values[name])
        for name in ("agents", "trainings")
        if name in values
    }
    return found | ({"collector": AGENTS.pinned(values["collector"], stored)} if values.get("collector") else {})


@dataclass(frozen=True)
class Measurement:
    """A measured value with its 95 % interval; games counts games (or searches), seconds is the time of one."""

    value: float
    low: float
    high: float
    games: int
    seconds: float


def unit(row: Row) -> str:
    """Returns the unit of a row's figure; raises UserError if its measure is unknown."""
    measures = SEARCH_MEASURES if row.states else match_measures(GAMES.make(row.game))
    units = {name: kind.unit for name, kind in measures.items()}
    if row.measure not in units:
        raise unknown("measure", row.measure, units)
    return units[row.measure]
