"""What a study can be expected to find, and to show, with so many games: said before it plays any."""

from __future__ import annotations

import math
import statistics
import time
from typing import NamedTuple

from ...arena.play import play_matches
from ...core.number_text import duration, number
from ...statistics.distributions import normal_quantile
from ...statistics.sprt import elo_of_share, share_of_elo
from ...statistics.superiority import ALPHA
from ..definition import StudyDefinition
from ..noise import NOISES
from ..objective import Objective
from ..samplers.duels import Duels
from ..samplers.registry import SAMPLERS

MISSED, POWER_OF_GAMES = 100.0, 2 / 3  # see `missed_elo`
POWER = 0.8  # probability with which a gain is shown
LOOKS = 1.12  # times as many units as without looks, measured in docs/results/verdicts.md
GAINS = (10.0, 20.0, 50.0)  # in Elo, or in percent, of which a plan says how many games show them
UNITS, SECONDS = 24, 5.0  # of the start's games to measure, at most


class Sample(NamedTuple):
    """Games of the start, played to plan."""

    games: int
    seconds: float  # per game
    mean: float  # of units
    deviation: float  # of units


def missed_elo(parameters: int, games: int) -> float:
    """Returns the Elo that duels lack to the best, on average, after this many games.

    Fitted to surfaces of 2 to 24 parameters after 300 to 10,000 games (`studies/benchmark/forecasts.py`): two of three
    studies lack between half and twice as much. How far the start is from the best hardly matters.
    """
    return float(MISSED * parameters / games**POWER_OF_GAMES)


def smallest_gain(units: float, deviation: float) -> float:
    """Returns the mean difference that a verdict shows in four of five studies.

    Args:
        units: held-out units of the challenger.
        deviation: standard deviation of the difference to the reference in one unit.
    """
    return (normal_quantile(1 - ALPHA) + normal_quantile(POWER)) * deviation * math.sqrt(LOOKS / units)


def measured(objective: Objective, agent: str) -> Sample:
    """Plays some units of the start, until they have taken a few seconds."""
    values, seconds, games, begun = list[float](), 0.0, 0, time.monotonic()
    while len(values) < UNITS and (len(values) < 2 or time.monotonic() - begun < SECONDS):
        unit = objective.idle_unit(agent, 0, len(values))
        records = {record.spec.id: record for record in play_matches(list(unit.specs))}
        if values:  # the first games compile
            seconds, games = seconds + sum(record.seconds for record in records.values()), games + len(records)
        values.append(objective.value(unit, records))
    return Sample(games, seconds / games, statistics.fmean(values), statistics.stdev(values))


class Forecast:
    """The forecast of a study that has not begun.

    Args:
        definition: of the study.
        parameters: number of searched ones.
        budget: games of the search.
        held_out: maximum games of the verdict.
        sample: games of the start, if some were played.
    """

    def __init__(
        self, definition: StudyDefinition, parameters: int, budget: int, held_out: int, sample: Sample | None = None
    ) -> None:
        self.objective = definition.objective
        self.parameters, self.budget, self.held_out, self.sample = parameters, budget, held_out, sample
        sampler, candidate = SAMPLERS.make(definition.sampler), NOISES.make(definition.noise).max_games(0, 1)
        self.duels = isinstance(sampler, Duels)
        self.warning = sampler.warning(budget // (candidate * self.objective.unit_games))
        self._playing = 1 if self.objective.is_free(definition.agent) else 2

    @property
    def _deviation(self) -> float | None:
        """The standard deviation of the difference in one unit; None if it is unknown. Without a sample, no draws."""
        fair = 1 / self.objective.game.num_seats
        usual = math.sqrt(fair * (1 - fair) / self.objective.unit_games)
        known = self.sample if self.sample and self.sample.deviation > 0 and self.sample.mean else None
        if self.objective.single_player:
            return math.sqrt(2) * known.deviation / abs(known.mean) if known else None
        return math.sqrt(self._playing) * (known.deviation if known else usual)

    def _gain_text(self, difference: float) -> str:
        """Returns a difference as text: in percent of the mean score, in Elo, or in percentage points."""
        if self.objective.single_player:
            return f"{number(100 * difference, digits=2)} %"
        if self.objective.game.num_seats == 2:
            return f"{number(elo_of_share(min(0.5 + difference, 0.999)), digits=2)} Elo"
        return f"{number(100 * difference, digits=2)} percentage points"

    def games_for(self, difference: float) -> int | None:
        """Returns the held-out games in which a difference of units is shown in four of five studies."""
        if self._deviation is None:
            return None
        units = (smallest_gain(1, self._deviation) / difference) ** 2
        return math.ceil(units) * self._playing * self.objective.unit_games

    def sentence(self) -> str:
        """Returns what the search should find and the verdict can show; empty if neither can be said."""
        said = []
        if self.duels:
            missed = number(missed_elo(self.parameters, self.budget), digits=2)
            count = f"{self.parameters} parameter{'s' * (self.parameters > 1)}"
            said.append(f"{self.budget:,} games of duels should miss about {missed} Elo of what {count} can gain")
        if self._deviation is not None:
            units = self.held_out / (self._playing * self.objective.unit_games)
            least = self._gain_text(smallest_gain(units, self._deviation))
            said.append(f"{self.held_out:,} held-out games show a gain of {least} in four of five studies")
        return " ".join(filter(None, ["; ".join(said) + "." if said else "", self.warning]))

    def sentences(self, workers: int) -> list[str]:
        """Returns the whole plan, a line each, for a number of workers."""
        said = [line] if (line := self.sentence()) else []
        if self.sample:
            total = self.budget + self.held_out
            lasts = duration(total * self.sample.seconds / workers, digits=2)
            said.append(
                f"A game of the start takes {duration(self.sample.seconds, digits=2)} ({self.sample.games} games were"
                f" measured): {total:,} games take about {lasts} on {workers:,} worker{'s' * (workers > 1)}."
            )
        two = self.objective.game.num_seats == 2
        steps = {gain: share_of_elo(gain) - 0.5 if two else gain / 100 for gain in GAINS}
        needed = {gain: self.games_for(step) for gain, step in steps.items()}
        texts = [f"{games:,} for {self._gain_text(steps[gain])}" for gain, games in needed.items() if games]
        if texts:
            said.append(
                f"Held-out games with which four of five studies show a gain: {', '.join(texts)} (--verify says how"
                f" many, as a share of the {self.budget:,} games of the search)."
            )
        return said
