"""The results of races: several agents compared with one base, the best first.

Like the verdict of a comparison, they are a pure function of the stored games.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from ...agents.registry import label_of
from ...arena.schedules.race import Race as Duels
from ...arena.schedules.race import Standing
from ...core.number_text import number, roughly
from ...results.failures import Failures, list_failures
from ...results.frames import matches_frame
from ...results.store.store import Store
from ..comparison import Race, cure_of
from ..results import RunResults
from .comparison import estimate_of, estimate_text, replayed


@dataclass(frozen=True, repr=False)
class RaceResults(RunResults):
    """The results of a race; its frames hold only those games of the run that led to the verdict."""

    race: Race
    duels: Duels  # its state after these games
    played: frozenset[str]  # ids of the matches
    waiting: int = 0  # stored games of a round that has not ended

    @cached_property
    def order(self) -> list[int]:
        """The indices of the agents: those that are better first, then the undecided; each by the estimate."""
        standings, tests = self.duels.standings, [duel.test for duel in self.duels.duels]
        values = [(test.mean[0] if test.units else -math.inf) for test in tests]
        first = (Standing.BETTER, Standing.UNDECIDED)
        ranks = [first.index(each) if each in first else len(first) for each in standings]
        return sorted(range(len(values)), key=lambda index: (ranks[index], -values[index]))

    @property
    def best(self) -> str | None:
        """The agent with the largest estimate of those that are better than the base; None if none is."""
        first = self.order[0]
        return str(self.race.agents[first]) if self.duels.standings[first] is Standing.BETTER else None

    def agents(self) -> pd.DataFrame:
        """Returns a row per agent, the best first.

        Columns: agent, label, standing, ahead (the label of the agent that it is behind), the estimate with the ends
        of its interval (elo and share; in games of one seat difference_percent), games, different, pairs (that count),
        and games_left (expected until its own verdict; NaN if unknown, 0 if it plays no further games).
        """
        rows, standings = [], self.duels.standings
        labels = [label_of(agent.full_text()) for agent in self.race.agents]
        for index in self.order:
            duel, ahead = self.duels.duels[index], self.duels.ahead.get(index)
            left = duel.test.units_left() * len(duel.orders) if standings[index] is Standing.UNDECIDED else 0.0
            row: dict[str, object] = {"agent": duel.agents[0], "label": labels[index]}
            row |= {"standing": standings[index].value, "ahead": "" if ahead is None else labels[ahead]}
            row |= {**estimate_of(duel), "games": duel.games, "different": duel.different, "pairs": duel.test.units}
            rows.append(row | {"games_left": math.nan if duel.exhausted else left})
        return pd.DataFrame(rows)

    @property
    def sentence(self) -> str:
        """The best agent with its estimate, which others are better, and what is undecided."""
        return self.sentence_on([str(agent) for agent in self.race.agents], str(self.race.base))

    def sentence_on(self, labels: list[str], base: str) -> str:
        """Returns `sentence` with other names of the agents and their base."""
        duels = self.duels
        at, games = f"{base} at {self.race.game}", f"after {duels.games:,} games"
        if not duels.games:
            return f"{_listed(labels)} and their base {at} are undecided: no round of games has ended yet."
        groups = {standing: [i for i in self.order if duels.standings[i] is standing] for standing in Standing}
        better, undecided = groups[Standing.BETTER], groups[Standing.UNDECIDED]
        if better:
            best, *others = better
            said = f"{labels[best]} is better than {at} {games}: {estimate_text(duels.duels[best])}"
            if others:
                said += f"; {_listed([labels[i] for i in others])} {'is' if len(others) == 1 else 'are'} better, too"
            if undecided:
                said += f"; undecided: {_listed([labels[i] for i in undecided])}"
        elif undecided:
            said = f"None of {len(labels)} agents is shown to be better than {at} {games}; undecided: "
            said += _listed([f"{labels[i]} ({estimate_text(duels.duels[i])})" for i in undecided])
        else:
            return f"None of {len(labels)} agents is better than {at} by {self.race.margin} or more {games}."
        left = self.games_to_verdict
        if undecided and not math.isnan(left):
            said += f"; a verdict takes about {roughly(left)} more games"
        elif undecided:
            said += f"; further games would repeat these: {cure_of(self.race.game, self.race.openings)}"
        return f"{said}."

    @property
    def games_to_verdict(self) -> float:
        """The expected number of further games of all undecided agents, regardless of the maximum; NaN if unknown."""
        return float(self.agents()["games_left"].sum(skipna=False))

    @property
    def meaning(self) -> str:
        """The meaning of the verdict, and its certainty."""
        seldom = f"in at most {number(100 * self.race.alpha)} % of such races"
        if self.best:
            luck = f"An agent that is no better than the base is called better {seldom}."
            several = self.duels.standings.count(Standing.BETTER) > 1
            return f"{luck} Which of the better ones is the best is not tested." if several else luck
        return f"An agent that is better by {self.race.margin} is called {Standing.NOT_BETTER} in at most 5 % of races."

    def frame(self) -> pd.DataFrame:
        return matches_frame(self.store, run=self.id, only=self.played)

    def _games(self) -> pd.DataFrame:
        return self.frame()

    def all_failures(self) -> Failures:
        return list_failures(self.store, [self.id], only=self.played)


def _listed(texts: list[str]) -> str:
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def stored_race(store: Store, race: Race) -> RaceResults:
    """Returns the results of a race from the games in a store, without playing any."""
    duels, run_id = race.schedule(), race.run_id
    return RaceResults(store, run_id, race, duels, *replayed(store, run_id, duels.rounds()))
