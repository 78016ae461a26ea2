"""What `turnier compare` does: play pairs of games until a verdict, and say it in one sentence."""

from __future__ import annotations

import json
import math

import pandas as pd

from turnier.agents.registry import agents_within
from turnier.arena.match import derive_seed
from turnier.arena.schedules.duel import Duel
from turnier.arena.workers.executor import Executor
from turnier.games.registry import GAMES
from turnier.results.frames.matches import matches_frame, summary
from turnier.results.store.store import Store
from turnier.runs.bar import run_bar
from turnier.runs.play import play_rounds
from turnier.statistics.sprt import MARGIN_ELO, MARGIN_SCORE, Verdict, elo_of_share


class Comparison:
    """A duel as the command line asks for it; the margin in Elo, alone in % of the second agent's mean score."""

    def __init__(
        self,
        game: str,
        agents: tuple[str, str],
        seed: int,
        margin: float | None,
        alpha: float,
        games: int,
        first_round: int,
        openings: int,
        budget: str = "",
    ) -> None:
        made = GAMES.make(game)
        playing = agents_within(agents, budget)
        alone = made.num_seats == 1
        shown = (100 * MARGIN_SCORE if alone else MARGIN_ELO) if margin is None else margin
        self.duel = Duel(made, playing, seed, shown / 100 if alone else shown, alpha, games, first_round, openings)
        self.names = tuple(str(agent) for agent in playing)
        self.margin = f"{shown:g} % of its mean score" if alone else f"{shown:g} Elo"
        self.alpha = alpha
        # Neither margin nor alpha changes which games are played, only how many: a stricter test goes on with the run.
        self._definition = {"game": made.full_text(), "agents": self.duel.agents, "seed": seed, "openings": openings}
        self.run_id = f"comparison:{derive_seed(json.dumps(self._definition)):016x}"
        self._played: set[str] = set()

    def play(self, store: Store, executor: Executor) -> None:
        """Plays what the store does not have yet, until the verdict."""
        duel, name = self.duel, str(self.duel.game)
        store.begin_run(self.run_id, "comparison", name, self._definition)
        total = duel.round_size * len(duel.orders)
        with run_bar(store, self.run_id, name, total) as bar:
            pairs = 0
            for records in play_rounds(store, self.run_id, duel.rounds(), executor):
                self._played |= {record.spec.id for record in records}
                if duel.pairs > pairs:  # a round has ended since
                    pairs = duel.pairs
                    expected = duel.games + max(math.ceil(duel.games_left), len(duel.orders))
                    bar.expect(expected - total, "games")
                    total = expected
                    bar.note(f"{self.estimate_text}, about {duel.games_left:,.0f} more games")
                bar.advance(len(records))
            bar.expect(duel.games - total, "games")
            bar.note(self.estimate_text)

    @property
    def estimate(self) -> dict[str, float]:
        """The first agent against the second: Elo and share of the points, or alone the difference of mean scores in %.

        Each with its 95 % interval.
        """
        ends = dict(zip(("", "_low", "_high"), self.duel.test.estimate, strict=True))
        if self.duel.single_player:
            return {f"difference_percent{end}": 100 * (ratio - 1) for end, ratio in ends.items()}
        return {f"elo{end}": elo_of_share(share) for end, share in ends.items()} | {
            f"share{end}": share for end, share in ends.items()
        }

    @property
    def estimate_text(self) -> str:
        name, unit = ("difference_percent", " %") if self.duel.single_player else ("elo", " Elo")
        value, low, high = (self.estimate[f"{name}{end}"] for end in ("", "_low", "_high"))
        if math.isnan(value):
            return "no estimate yet"
        interval = "" if math.isnan(low) else f" (95 % interval {low:+.1f} to {high:+.1f})"
        return f"{value:+.1f}{unit}{interval}"

    @property
    def sentence(self) -> str:
        duel, (first, second) = self.duel, self.names
        verdict = duel.test.verdict
        after = f"after {duel.games:,} games ({duel.pairs:,} pairs)"
        what = "its mean score differs by" if duel.single_player else "the difference is"
        measured = f"{what} {self.estimate_text}"
        if verdict is Verdict.EQUAL:
            return f"{first} and {second} are equal at {duel.game} within {self.margin} {after}: {measured}."
        if verdict is not Verdict.UNDECIDED:
            return f"{first} is {verdict} than {second} at {duel.game} {after}: {measured}."
        if not duel.test.units:
            return f"{first} and {second} at {duel.game} are undecided {after}: an agent failed in every pair."
        left = duel.test.units_left() * len(duel.orders)
        hint = "" if math.isnan(left) else f"; it takes about {left:,.0f} more, see --games"
        return f"{first} and {second} at {duel.game} are undecided {after}: {measured}{hint}."

    def table(self, store: Store) -> pd.DataFrame:
        """Returns the rows of `tables.summary` of the games of this comparison, the first agent first."""
        frame = matches_frame(store, run=self.run_id)
        rows = summary(frame[frame["match"].isin(self._played)]).set_index("agent", drop=False)
        return rows.loc[list(self.duel.agents)]
