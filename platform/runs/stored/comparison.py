"""The results of comparisons.

The verdict is a pure function of the stored games, and available at any time, even while the run is being played.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...agents.agent import Agent
from ...arena.schedules.duel import Duel
from ...arena.schedules.round_robin import Rounds
from ...core.number_text import interval, number, roughly
from ...results.failures import Failures, list_failures
from ...results.frames import matches_frame
from ...results.frames.fields import seats_beside
from ...results.frames.meetings import meetings_of
from ...results.frames.standings import Standings
from ...results.pair_outcomes import outcomes_of
from ...results.store.store import Store
from ...statistics.sprt import MINIMUM, Verdict, elo_of_share
from ..comparison import Comparison
from ..results import RunResults

KIND = Comparison.kind
POINTS = 400  # maximum, of the evidence over the games


@dataclass(frozen=True, repr=False)
class ComparisonResults(RunResults):
    """The results of a comparison; its frames hold only those games of the run that led to the verdict."""

    comparison: Comparison
    duel: Duel  # its state after these games
    played: frozenset[str]  # ids of the matches
    waiting: int = 0  # stored games of a round that has not ended

    @property
    def verdict(self) -> Verdict:
        """Whether the first agent is stronger, weaker or equal, or the comparison undecided."""
        return self.duel.test.verdict

    @property
    def estimate(self) -> dict[str, float]:
        """The first agent against the second: Elo and share of the points; single-player: the difference of means in %.

        Each has a 95 % interval, which allows for the early end.
        """
        return estimate_of(self.duel)

    @property
    def estimate_text(self) -> str:
        """The estimate for people, such as +52 Elo (95 % interval 21 to 84)."""
        return estimate_text(self.duel)

    @property
    def games_to_verdict(self) -> float:
        """The expected number of further games until a verdict if the estimate is right, regardless of the maximum."""
        if self.duel.exhausted:
            return math.nan
        return self.duel.test.units_left() * len(self.duel.orders)

    @property
    def void_pairs(self) -> int:
        """The number of pairs that do not count because they contain a void game; an agent that failed has lost."""
        return self.duel.void_pairs

    @property
    def sentence(self) -> str:
        """The verdict with both agents, the number of games, and the estimate."""
        return self.sentence_on(*map(str, self.comparison.agents))

    def sentence_on(self, first: str, second: str) -> str:
        """Returns `sentence` with other names of the agents."""
        duel = self.duel
        if not duel.pairs:
            return f"{first} and {second} at {duel.game} are undecided: no round of games has ended yet."
        void = f", {self.void_pairs:,} of them void" if self.void_pairs else ""
        different = f", {duel.different:,} different" if duel.repeated else ""
        after = f"after {duel.games:,} games{different} ({duel.pairs:,} pairs{void})"
        measured = f"{'its mean score differs by' if duel.single_player else 'the difference is'} {self.estimate_text}"
        if self.verdict is Verdict.EQUAL:
            return f"{first} and {second} are equal at {duel.game} within {self.comparison.margin} {after}: {measured}."
        if self.verdict is not Verdict.UNDECIDED:
            return f"{first} is {self.verdict} than {second} at {duel.game} {after}: {measured}."
        if duel.exhausted:
            known = f"{measured}; " if duel.test.units > 1 else ""
            return (
                f"{first} and {second} at {duel.game} are undecided {after}: {known}neither draws random numbers;"
                f" {self.comparison.cure}."
            )
        if not duel.test.units:
            return f"{first} and {second} at {duel.game} are undecided {after}: every pair has a void game."
        left = self.games_to_verdict
        hint = "" if math.isnan(left) else f"; a verdict takes about {roughly(left)} more games"
        return f"{first} and {second} at {duel.game} are undecided {after}: {measured}{hint}."

    @property
    def meaning(self) -> str:
        """The meaning of the verdict, and its certainty."""
        margin = self.comparison.margin
        seldom = f"this would be said in at most {number(100 * self.comparison.alpha)} % of such comparisons"
        if self.verdict is Verdict.EQUAL:
            return f"Neither agent is better by {margin} or more. If one were, {seldom}."
        if self.duel.exhausted:
            return "Neither is shown: every further game would repeat one of these."
        if self.verdict is Verdict.UNDECIDED:
            return (
                f"Neither is shown yet: that one agent is better, or that they differ by less than {margin}."
                " More games will show one of them; a larger margin shows equality sooner."
            )
        than = "better" if self.verdict is Verdict.STRONGER else "worse"
        return f"The first agent is {than}, be it by less than the margin of {margin}. If it were not, {seldom}."

    def notes(self) -> list[str]:
        """Returns notes on the difference: the value of seats, and the difference apart from it."""
        frame = self.frame()
        return [] if self.duel.single_player or frame.empty else seats_beside(meetings_of(frame), self.duel.agents)

    def evidence(self) -> pd.DataFrame:
        """Returns the evidence of both tests over the games.

        A row per test and number of games: test (stronger or weaker), games, evidence, and whether the test was
        evaluated then (a look); only these looks count. A test whose evidence is outside `bounds` at a look has ended.
        """
        duel, test = self.duel, self.comparison.schedule().test
        n, looks, rows = len(duel.outcomes), set(duel.looks), []
        open_tests = [Verdict.STRONGER, Verdict.WEAKER]
        low, high = test.bounds
        drawn = {round(n * (point + 1) / POINTS) for point in range(POINTS)} - {0}
        for before, units in itertools.pairwise([0, *sorted(drawn | looks)]):
            test.add(*zip(*duel.outcomes[before:units], strict=True))
            for verdict in list(open_tests):
                evidence, look = test.evidence(test.ratios[verdict]), units in looks
                rows.append((verdict.value, units * len(duel.orders), evidence, look))
                if look and units >= MINIMUM and not low < evidence < high:
                    open_tests.remove(verdict)
        return pd.DataFrame(rows, columns=["test", "games", "evidence", "look"])

    def outcomes(self) -> pd.DataFrame:
        """Returns the pairs of games by outcome, the best for the first agent first, see `outcomes_of`."""
        return outcomes_of(self.duel)

    def frame(self) -> pd.DataFrame:
        return matches_frame(self.store, run=self.id, only=self.played)

    def _games(self) -> pd.DataFrame:
        return self.frame()

    def all_failures(self) -> Failures:
        return list_failures(self.store, [self.id], only=self.played)

    def _summary(self) -> pd.DataFrame:
        """Returns one row per agent, like any run; once two pairs count, with the estimate's shares of points."""
        return self._estimated(super()._summary(), "agent")

    def standings(self, pairs: bool = True, anchor: str | Agent = "", nash: bool = False) -> Standings:
        """Returns `RunResults.standings`, with the shares of points of the estimate."""
        found = super().standings(pairs, anchor, nash)
        return found._replace(
            ratings=self._estimated(found.ratings, "agent"), pairs=self._estimated(found.pairs, "first")
        )

    def _estimated(self, rows: pd.DataFrame, column: str) -> pd.DataFrame:
        """Returns rows with the shares of points of the estimate; `column` has the agents."""
        duel = self.duel
        if not duel.single_player and not math.isnan(self.estimate["share"]):
            share, low, high = (self.estimate[f"share{end}"] for end in ("", "_low", "_high"))
            columns = ["points_share", "points_share_low", "points_share_high"]
            per_seat = 2 / duel.game.num_seats if column == "agent" else 1
            for agent, values in zip(duel.agents, ((share, low, high), (1 - share, 1 - high, 1 - low)), strict=True):
                rows.loc[rows[column] == agent, columns] = [per_seat * value for value in values]
        return rows

    def agents(self) -> pd.DataFrame:
        """Returns the two rows of the summary, the first agent first; none before the first round has ended."""
        rows = self._summary().set_index("agent", drop=False)
        return rows.loc[[agent for agent in self.duel.agents if agent in rows.index]]


def estimate_of(duel: Duel) -> dict[str, float]:
    """Returns `ComparisonResults.estimate` of a duel."""
    value, *between = duel.test.estimate
    ends = dict(zip(("", "_low", "_high"), (value, *between[:: duel.test.sign]), strict=True))
    if duel.single_player:
        return {f"difference_percent{end}": 100 * duel.test.sign * (ratio - 1) for end, ratio in ends.items()}
    ends = {end: float(np.clip(share, 0, 1)) for end, share in ends.items()}
    return {f"elo{end}": elo_of_share(share) for end, share in ends.items()} | {
        f"share{end}": share for end, share in ends.items()
    }


def estimate_text(duel: Duel) -> str:
    """Returns the estimate of a duel for people, such as +52 Elo (95 % interval 21 to 84)."""
    name, unit = ("difference_percent", " %") if duel.single_player else ("elo", " Elo")
    estimate = estimate_of(duel)
    value, low, high = (estimate[f"{name}{end}"] for end in ("", "_low", "_high"))
    if math.isnan(value):
        return "no estimate yet"
    half = (high - low) / 2 if math.isfinite(high - low) else math.nan
    between = interval(low, high)
    return number(value, half, signed=True) + unit + (f" (95 % interval {between})" if between else "")


def stored_results(store: Store, comparison: Comparison) -> ComparisonResults:
    """Returns the results of a comparison from the games in a store, without playing any."""
    duel, run_id = comparison.schedule(), comparison.run_id
    return ComparisonResults(store, run_id, comparison, duel, *replayed(store, run_id, duel.rounds()))


def replayed(store: Store, run_id: str, rounds: Rounds) -> tuple[frozenset[str], int]:
    """Replays a schedule with a run's stored games until they end.

    Returns the ids of the games of all complete rounds, and the number of those of the next round.
    """
    stored = {record.spec.id: record for some in store.records_of_run(run_id) for record in some}
    played: set[str] = set()
    specs = next(rounds, None)
    while specs is not None:
        ids = {spec.id for spec in specs}
        if waiting := ids - stored.keys():
            return frozenset(played), len(ids) - len(waiting)
        played |= ids
        try:
            specs = rounds.send([stored[spec.id] for spec in specs])
        except StopIteration:
            break
    return frozenset(played), 0
