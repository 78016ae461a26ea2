"""Comparisons: two agents play pairs of games until a verdict, which is one sentence."""

from __future__ import annotations

import html
import json
import math
from dataclasses import dataclass
from typing import Any

import pandas as pd

from turnier.agents.agent import Agent
from turnier.agents.registry import agents_within
from turnier.arena.match import derive_seed
from turnier.arena.schedules.duel import Duel
from turnier.games.game import Game
from turnier.games.registry import GAMES
from turnier.results.store.store import Store
from turnier.runs.play import play_rounds, playing
from turnier.runs.results import RunResults
from turnier.statistics.sprt import MARGIN_ELO, MARGIN_SCORE, Verdict, elo_of_share


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
            budget: what every agent may spend per move, such as "50ms"; empty = what its parameters say.
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
        self.schedule()

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
        )

    @property
    def definition(self) -> dict[str, Any]:
        """What is stored of the run.

        Neither margin nor alpha changes which games are played, only how many: a stricter test resumes the run.
        """
        agents = tuple(agent.full_text() for agent in self.agents)
        return {"game": self.game.full_text(), "agents": agents, "seed": self.seed, "openings": self.openings}

    @property
    def run_id(self) -> str:
        return f"comparison:{derive_seed(json.dumps(self.definition)):016x}"

    def run(
        self,
        store: Store,
        *,
        executor: str = "threads",
        workers: int | None = None,
        address: str | None = None,
        progress: bool = True,
    ) -> ComparisonResults:
        """Plays what the store does not have yet, until the verdict; after a stop or a kill, the same call resumes it.

        See `playing`.
        """
        duel, name = self.schedule(), str(self.game)
        store.begin_run(self.run_id, "comparison", name, self.definition)
        total, played = duel.round_size * len(duel.orders), set()
        with playing(store, self.run_id, name, total, executor, workers, address, progress) as (pool, bar):
            pairs = 0
            for records in play_rounds(store, self.run_id, duel.rounds(), pool):
                played |= {record.spec.id for record in records}
                if duel.pairs > pairs:  # a round has ended since
                    pairs = duel.pairs
                    expected = duel.games + max(math.ceil(duel.games_left), len(duel.orders))
                    bar.expect(expected - total, "games")
                    total = expected
                    bar.note(f"{_estimate_text(duel)}, about {duel.games_left:,.0f} more games")
                bar.advance(len(records))
            bar.expect(duel.games - total, "games")
            bar.note(_estimate_text(duel))
        return ComparisonResults(store, self.run_id, self, duel, frozenset(played))


@dataclass(frozen=True, repr=False)
class ComparisonResults(RunResults):
    """The results of a comparison; its frames hold only those games of the run that led to the verdict."""

    comparison: Comparison
    duel: Duel  # as it is after these games
    played: frozenset[str]  # ids of the matches

    @property
    def verdict(self) -> Verdict:
        """Whether the first agent is stronger, weaker or equal, or that this is undecided."""
        return self.duel.test.verdict

    @property
    def estimate(self) -> dict[str, float]:
        """The first agent against the second: Elo and share of the points; single-player: the difference of means in %.

        Each with its 95 % interval.
        """
        return _estimate(self.duel)

    @property
    def sentence(self) -> str:
        """The verdict with both agents, how many games it took, and the estimate."""
        duel, (first, second) = self.duel, self.comparison.agents
        after = f"after {duel.games:,} games ({duel.pairs:,} pairs)"
        what = "its mean score differs by" if duel.single_player else "the difference is"
        measured = f"{what} {_estimate_text(duel)}"
        if self.verdict is Verdict.EQUAL:
            return f"{first} and {second} are equal at {duel.game} within {self.comparison.margin} {after}: {measured}."
        if self.verdict is not Verdict.UNDECIDED:
            return f"{first} is {self.verdict} than {second} at {duel.game} {after}: {measured}."
        if not duel.test.units:
            return f"{first} and {second} at {duel.game} are undecided {after}: an agent failed in every pair."
        left = duel.test.units_left() * len(duel.orders)
        hint = "" if math.isnan(left) else f"; a verdict takes about {left:,.0f} more games"
        return f"{first} and {second} at {duel.game} are undecided {after}: {measured}{hint}."

    def frame(self) -> pd.DataFrame:
        frame = super().frame()
        return frame[frame["match"].isin(self.played)]

    def _games(self) -> pd.DataFrame:
        return self.frame()

    def agents(self) -> pd.DataFrame:
        """Returns the two rows of the summary, the first agent first."""
        return self.summary().set_index("agent", drop=False).loc[list(self.duel.agents)]

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.sentence)}</p>" + super()._repr_html_()


def _estimate(duel: Duel) -> dict[str, float]:
    ends = dict(zip(("", "_low", "_high"), duel.test.estimate, strict=True))
    if duel.single_player:
        return {f"difference_percent{end}": 100 * (ratio - 1) for end, ratio in ends.items()}
    return {f"elo{end}": elo_of_share(share) for end, share in ends.items()} | {
        f"share{end}": share for end, share in ends.items()
    }


def _estimate_text(duel: Duel) -> str:
    name, unit = ("difference_percent", " %") if duel.single_player else ("elo", " Elo")
    estimate = _estimate(duel)
    value, low, high = (estimate[f"{name}{end}"] for end in ("", "_low", "_high"))
    if math.isnan(value):
        return "no estimate yet"
    interval = "" if math.isnan(low) else f" (95 % interval {low:+.1f} to {high:+.1f})"
    return f"{value:+.1f}{unit}{interval}"
