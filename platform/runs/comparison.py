"""Comparisons: two agents play pairs of games until a verdict, which is one sentence.

The verdict is a pure function of the stored games: it can be given for a run at any time, even while it is being
played.
"""

from __future__ import annotations

import html
import itertools
import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from turnier.agents.agent import Agent
from turnier.agents.registry import agents_within
from turnier.arena.match import MatchRecord, derive_seed
from turnier.arena.randomness import one_game, repeats_one_game
from turnier.arena.schedules.duel import Duel
from turnier.arena.schedules.round_robin import plies_for_openings
from turnier.arena.workers.executor import Executor
from turnier.arena.workers.where import Where
from turnier.core.errors import UserError
from turnier.core.number_text import interval, number
from turnier.games.game import Game
from turnier.games.registry import GAMES
from turnier.results.failures import Failures, list_failures
from turnier.results.frames import matches_frame
from turnier.results.frames.fields import seats_beside
from turnier.results.frames.meetings import meetings_of
from turnier.results.frames.standings import Standings
from turnier.results.pair_outcomes import outcomes_of
from turnier.results.store.annotations import SETTINGS
from turnier.results.store.store import Run, Store
from turnier.runs.play import play_rounds, playing
from turnier.runs.results import RunResults
from turnier.statistics.sprt import MARGIN_ELO, MARGIN_SCORE, MINIMUM, Verdict, elo_of_share

KIND = "comparison"
OWN_SEEDS = "own_seeds"  # in definitions of comparisons that play no seeds of tournaments
POINTS = 400  # at most, of the evidence over the games
MANY_OPENINGS = 1000  # that are proposed to agents that draw no random numbers


class Comparison:
    """Two agents that play pairs of games until a sequential test decides which is stronger, or that they are equal."""

    def __init__(
        self,
        first: str | Agent,
        second: str | Agent,
        *,
        game: str | Game,
        margin: float | None = None,
        alpha: float = 0.05,
        games: int = 10_000,
        seed: int = 1,
        openings: int = 0,
        budget: str = "",
        first_round: int = 32,
    ) -> None:
        """Plans a comparison; raises UserError where it cannot be played.

        Args:
            first: the agent that the verdict is about.
            second: the agent that it is compared with.
            game: such as "yavalath" or "2048(size=3)".
            margin: the difference that counts as equal: in Elo (default 20), in single-player games in % of the second
                agent's mean score (default 5).
            alpha: maximum probability of a wrong verdict.
            games: maximum.
            seed: the same seed gives the same games, whatever the number of workers.
            openings: start from random openings of at most this many plies.
            budget: what every agent may spend per move, such as "50ms"; empty = as its parameters say.
            first_round: minimum pairs of games between two tests.
        """
        self.game: Game = GAMES.make(game)
        self.agents = agents_within((first, second), budget)
        self.seed, self.alpha, self.openings = seed, alpha, openings
        single_player = self.game.num_seats == 1
        shown = (100 * MARGIN_SCORE if single_player else MARGIN_ELO) if margin is None else margin
        self.margin = f"{shown:g} % of its mean score" if single_player else f"{shown:g} Elo"
        self._margin = shown / 100 if single_player else shown
        self._games, self._first_round = games, first_round
        self.settings = {"margin": shown, "alpha": alpha, "games": games, "first_round": first_round}
        self._own_seeds = True
        self.schedule()

    @classmethod
    def of_run(cls, store: Store, run: Run) -> Self:
        """Returns a stored comparison with the settings that it was last played with; the defaults if unknown."""
        settings = json.loads(store.annotations.get(run.id, SETTINGS) or "{}")
        first, second = run.definition["agents"]
        fixed = {key: run.definition[key] for key in ("game", "seed", "openings")}
        comparison = cls(first, second, **fixed, **settings)
        comparison._own_seeds = OWN_SEEDS in run.definition
        return comparison

    def _has_begun(self, store: Store) -> bool:
        """Whether a store has it; one that began when its seeds were those of a tournament resumes with them."""
        known = {run.id for run in store.runs()}
        if self.run_id not in known:
            self._own_seeds = False
            self._own_seeds = self.run_id not in known
        return self.run_id in known

    def schedule(self) -> Duel:
        """Returns the schedule before its first round."""
        return Duel(
            self.game,
            self.agents,
            self.seed,
            self._margin,
            self.alpha,
            self._games,
            self._first_round,
            self.openings,
            self._own_seeds,
        )

    @property
    def cure(self) -> str:
        """What to do where every seed gives the same game."""
        plies = plies_for_openings(self.game, MANY_OPENINGS)
        if not self.openings:
            return f"start from positions that differ: --openings {plies}"
        return f"start from more positions: --openings {max(plies, self.openings + 1)}"

    @property
    def definition(self) -> dict[str, Any]:
        """What is stored of the run.

        The settings do not change which games are played, only how many: a stricter test resumes the run.
        """
        agents = tuple(agent.full_text() for agent in self.agents)
        fixed = {"game": self.game.full_text(), "agents": agents, "seed": self.seed, "openings": self.openings}
        return fixed | {OWN_SEEDS: True} if self._own_seeds else fixed

    @property
    def run_id(self) -> str:
        return f"{KIND}:{derive_seed(json.dumps(self.definition)):016x}"

    def run(
        self,
        store: Store,
        *,
        where: Where | Executor = Where(),
        progress: bool = True,
    ) -> ComparisonResults:
        """Plays what the store does not have yet, until the verdict; after a stop or a kill, the same call resumes it.

        See `playing`.
        """
        if not (self._has_begun(store) or self.openings) and repeats_one_game(self.game, self.agents):
            raise one_game(self.game, self.agents, self.cure)
        duel, name = self.schedule(), str(self.game)
        total, played = duel.round_size * len(duel.orders), set()

        def begin() -> None:
            store.begin_run(self.run_id, KIND, name, self.definition)
            store.annotations.set(self.run_id, SETTINGS, json.dumps(self.settings))

        with playing(store, self.run_id, name, total, where, progress, begin) as (pool, bar):
            pairs = 0
            for records in play_rounds(store, self.run_id, duel.rounds(), pool):
                played |= {record.spec.id for record in records}
                if duel.pairs > pairs:  # a round has ended since
                    pairs = duel.pairs
                    left = duel.games_left
                    known = not math.isnan(left)
                    expected = duel.games + max(math.ceil(left) if known else 0, len(duel.orders))
                    bar.expect(expected - total, "games")
                    total = expected
                    more = f", about {left:,.0f} more games" if known else ""
                    bar.note(f"{self._results(store, duel).estimate_text}{more}")
                bar.advance(len(records))
            bar.expect(duel.games - total, "games")
            bar.note(self._results(store, duel).estimate_text)
        results = self._results(store, duel, played)
        results.warn_of_failures()
        return results

    def stored_results(self, store: Store) -> ComparisonResults:
        """Returns what the games in the store say, without playing any: the state after the last complete round."""
        self._has_begun(store)
        stored = {record.spec.id: record for some in store.records_of_run(self.run_id) for record in some}
        duel, played, waiting = self.schedule(), set(), 0
        rounds = duel.rounds()
        specs = next(rounds, None)
        while specs is not None:
            records: list[MatchRecord] = [stored[spec.id] for spec in specs if spec.id in stored]
            if len(records) < len(specs):
                waiting = len(records)
                break
            played |= {record.spec.id for record in records}
            try:
                specs = rounds.send(records)
            except StopIteration:
                break
        return self._results(store, duel, played, waiting)

    def _results(self, store: Store, duel: Duel, played: Iterable[str] = (), waiting: int = 0) -> ComparisonResults:
        return ComparisonResults(store, self.run_id, self, duel, frozenset(played), waiting)


@dataclass(frozen=True, repr=False)
class ComparisonResults(RunResults):
    """The results of a comparison; its frames hold only those games of the run that led to the verdict."""

    comparison: Comparison
    duel: Duel  # as it is after these games
    played: frozenset[str]  # ids of the matches
    waiting: int = 0  # stored games of a round that has not ended

    @classmethod
    def find(cls, store: Store, run: str) -> ComparisonResults:
        """Returns the results of the stored comparison whose id begins with the text, as it was last played."""
        found = store.find_run(run)
        if found.kind != KIND:
            raise UserError(f"a verdict needs a comparison, got the {found.kind} {found.id}; name a comparison.")
        return Comparison.of_run(store, found).stored_results(store)

    @property
    def verdict(self) -> Verdict:
        """Whether the first agent is stronger, weaker or equal, or whether this is undecided."""
        return self.duel.test.verdict

    @property
    def estimate(self) -> dict[str, float]:
        """The first agent against the second: Elo and share of the points; single-player: the difference of means in %.

        Each with its 95 % interval, which allows for the early end.
        """
        return _estimate(self.duel)

    @property
    def estimate_text(self) -> str:
        """The estimate for people, such as +52 Elo (95 % interval 21 to 84)."""
        name, unit = ("difference_percent", " %") if self.duel.single_player else ("elo", " Elo")
        estimate = self.estimate
        value, low, high = (estimate[f"{name}{end}"] for end in ("", "_low", "_high"))
        if math.isnan(value):
            return "no estimate yet"
        half = (high - low) / 2 if math.isfinite(high - low) else math.nan
        between = interval(low, high)
        return number(value, half, signed=True) + unit + (f" (95 % interval {between})" if between else "")

    @property
    def games_to_verdict(self) -> float:
        """The expected number of further games up to a verdict if the estimate is right, whatever the maximum."""
        if self.duel.exhausted:
            return math.nan
        return self.duel.test.units_left() * len(self.duel.orders)

    @property
    def void_pairs(self) -> int:
        """The number of pairs that do not count, because a game of theirs is void; an agent that failed has lost."""
        return self.duel.void_pairs

    @property
    def sentence(self) -> str:
        """The verdict with both agents, how many games it took, and the estimate."""
        duel, (first, second) = self.duel, self.comparison.agents
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
        hint = "" if math.isnan(left) else f"; a verdict takes about {left:,.0f} more games"
        return f"{first} and {second} at {duel.game} are undecided {after}: {measured}{hint}."

    @property
    def meaning(self) -> str:
        """What the verdict says, and how sure it is."""
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
        """Returns what to know of the difference: what seats are worth, and what it is beside that."""
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

    def _failures(self) -> Failures:
        return list_failures(self.store, [self.id], only=self.played)

    def summary(self) -> pd.DataFrame:
        """Returns one row per agent, as of any run; once two pairs count, with the shares of points of the estimate."""
        return self._estimated(super().summary(), "agent")

    def standings(self, pairs: bool = True, anchor: str | Agent = "", nash: bool = False) -> Standings:
        """Returns what `RunResults.standings` returns, with the shares of points of the estimate."""
        found = super().standings(pairs, anchor, nash)
        return found._replace(
            ratings=self._estimated(found.ratings, "agent"), pairs=self._estimated(found.pairs, "first")
        )

    def _estimated(self, rows: pd.DataFrame, column: str) -> pd.DataFrame:
        """Returns rows whose shares of points are those of the estimate; `column` has the agents."""
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
        rows = self.summary().set_index("agent", drop=False)
        return rows.loc[[agent for agent in self.duel.agents if agent in rows.index]]

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.sentence)}</p>" + super()._repr_html_()


def _estimate(duel: Duel) -> dict[str, float]:
    value, *between = duel.test.estimate
    ends = dict(zip(("", "_low", "_high"), (value, *between[:: duel.test.sign]), strict=True))
    if duel.single_player:
        return {f"difference_percent{end}": 100 * duel.test.sign * (ratio - 1) for end, ratio in ends.items()}
    ends = {end: float(np.clip(share, 0, 1)) for end, share in ends.items()}
    return {f"elo{end}": elo_of_share(share) for end, share in ends.items()} | {
        f"share{end}": share for end, share in ends.items()
    }
