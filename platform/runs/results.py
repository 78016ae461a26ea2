"""The results of a run: its games as pandas frames, its ratings, its picture."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import pandas as pd

from ..agents.agent import Agent
from ..agents.registry import label_of
from ..core.errors import AgentsFailed, UserError
from ..results.alike_games import results_frame
from ..results.failures import Failures, list_failures, store_option
from ..results.frames.matches import matches_frame, seat_summary, summary
from ..results.frames.standings import Standings
from ..results.frames.terms import Terms, anchor_among
from ..results.other_code import OtherCode, games_by_release, other_code
from ..results.store.store import Store
from .declared.kinds import SHOWN_BY, results_of

# The columns that people look at first, in single-player games and in others.
_SUMMARY = (
    ["games", "mean", "half_width", "median", "best", "failures"],
    ["games", "points", "points_share", "points_share_low", "points_share_high", "failures"],
)
_RATINGS = (
    ["mean", "mean_low", "mean_high", "games", "superiority", "best_of_all"],
    ["elo", "elo_low", "elo_high", "games", "points", "points_share"],
)
_PAIRS = (
    ["games", "difference", "difference_low", "difference_high", "superiority", "p_holm"],
    ["games", "points", "points_share", "points_share_low", "points_share_high", "p_holm"],
)
_PAIR = ["first", "second"]
_warned: set[tuple[str, str, str]] = set()  # store, run and sentence of each warning


@dataclass(frozen=True, repr=False)
class RunResults:
    """A run in a store, finished or not; notebooks show its picture and its summary.

    If agents failed, `warn_of_failures` says so once; runs call it at their end, and notebooks when they show a run.
    """

    store: Store
    id: str  # such as tournament:1f0c2b6a90d4e57c

    @classmethod
    def find(cls, store: Store, run: str = "last") -> Self:
        """Returns the results of a stored run, finished or not, as the class of its kind; nothing is played.

        Args:
            store: the store of the run.
            run: the beginning of its id or its name; last = the newest one.

        Raises UserError if there is not exactly one such run, or if its kind is not that of this class.
        """
        stored = store.find_run(run)
        found = results_of(store, stored)
        if not isinstance(found, cls):
            raise UserError(f"{stored.id} is of kind {stored.kind}, whose results are not {cls.__name__}.")
        return found

    def frame(self) -> pd.DataFrame:
        """Returns one row per game and seat, see `turnier.results.frames.matches_frame`."""
        return matches_frame(self.store, run=self.id)

    def summary(self, full: bool = False) -> pd.DataFrame:
        """Returns one row per agent, by label: games, points or means, and failures.

        With `full`, also wins, medians, speeds and milestones, with 95 % intervals, see `frames.summary`.
        """
        return _seen(self._summary(), _SUMMARY, full)

    def seats(self) -> pd.DataFrame:
        """Returns one row per agent and seat: games and win rate."""
        return seat_summary(self._games())

    def standings(self, pairs: bool = True, anchor: str | Agent = "", nash: bool = False) -> Standings:
        """Returns ratings, results of every two agents, and notes; see `Standings`.

        Args:
            pairs: whether to compare every two agents.
            anchor: the agent whose Elo is 0; empty = that of the run, or the mean.
            nash: whether to compute Nash averages in any case; copies of agents do not change them.
        """
        frame = self._games()
        zero = anchor_among(frame, anchor) if anchor else ""
        return Standings.of(frame, pairs, terms=Terms.of_runs(self.store, [self.id], zero, nash))

    def ratings(self, anchor: str | Agent = "", nash: bool = False, full: bool = False) -> pd.DataFrame:
        """Returns the rating list, one row per agent, by label, the best first: Elo with its 95 % interval, and points.

        In single-player games, it has mean scores, and the probability that the agent is stronger than the next.

        Args:
            anchor: as in `standings`.
            nash: as in `standings`, with the Nash averages.
            full: whether to return all columns of `Standings.ratings`.
        """
        return _seen(self.standings(False, anchor, nash).ratings, _RATINGS, full, ["nash"] * nash)

    def notes(self) -> list[str]:
        """Returns notes on the rating list: whether it explains the results, the values of seats, the leader."""
        return [str(note) for note in self.standings(pairs=False).notes["note"]]

    def pairs(self, full: bool = False) -> pd.DataFrame:
        """Returns one row per two agents that met, by their labels: games, points or difference, and the p-value.

        With `full`, it has all columns of `Standings.pairs`.
        """
        found = self.standings()
        labels = [found.pairs[seat].map(label_of) for seat in _PAIR]
        pairs = found.pairs.drop(columns=_PAIR).set_index(labels)
        return pairs if full else pairs[_PAIRS[_has_points(found.ratings)]]

    def crosstable(self) -> pd.DataFrame:
        """Returns the score of each agent (row) against each other one (column), see `Standings.crosstable`."""
        return self.standings().crosstable()

    def releases(self) -> pd.DataFrame:
        """Returns the number of games by release of Turnier and its code, see `games_by_release`."""
        return games_by_release(self.store, self.id)

    def other_code(self) -> OtherCode | None:
        """Plays some games of other code again and returns the outcome; `str` makes it a sentence.

        None if this code has played all games.
        """
        return other_code(self.store, self.id)

    def failures(self) -> pd.DataFrame:
        """Returns the failures: one row per agent, cause and reason, the most frequent first.

        Columns: agent, label, seats, cause (crashed, stalled, timeout, illegal_move, or void: games without a result),
        reason, games, share (of the agent's games) and match (an example).
        """
        return self.all_failures().table

    def all_failures(self) -> Failures:
        """Returns the failures with the numbers of games; reading them takes a while in large runs."""
        return list_failures(self.store, [self.id])

    def warnings(self, found: Failures | None = None) -> list[str]:
        """Returns reasons to doubt these results: a sentence per agent that failed, and one on void games.

        `found` is what `all_failures` has returned, if that is known.
        """
        return (found or self.all_failures()).sentences(store_option(self.store))

    def warn_of_failures(self) -> None:
        """Warns of each of `warnings` once in a process."""
        for sentence in self.warnings():
            known = (self.store.url, self.id, sentence)
            if known not in _warned:
                _warned.add(known)
                warnings.warn(sentence, AgentsFailed, stacklevel=3)

    def plot(self) -> Any:
        """Returns the run's main picture, as notebooks show it offline; None if nothing is stored yet."""
        return self._notebook().picture_of(self)

    def table(self) -> pd.DataFrame:
        """Returns the run's main table, as notebooks show it: one row per agent or the like, the best first."""
        found: pd.DataFrame = self._notebook().table_of(self)
        return found

    def _games(self) -> pd.DataFrame:
        return results_frame(self.store, self.id)

    def _summary(self) -> pd.DataFrame:
        return summary(self._games())

    def _notebook(self) -> Any:
        """The module that shows results in notebooks; it is on a higher floor, and registered by the package."""
        return importlib.import_module(SHOWN_BY["notebook"])

    def _repr_html_(self) -> str:
        """Shows the run in a notebook; without packages that draw, there is no picture."""
        self.warn_of_failures()
        shown: str = self._notebook().html_of(self)
        return shown

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id})"


def _seen(
    frame: pd.DataFrame, shown: tuple[list[str], list[str]], full: bool, more: Sequence[str] = ()
) -> pd.DataFrame:
    """Returns rows of agents by label, with the columns of their number of seats and `more`, or with all."""
    found = frame.set_index("label")
    return found if full else found[[*shown[_has_points(frame)], *more]]


def _has_points(frame: pd.DataFrame) -> bool:
    return bool(frame["points"].notna().any() or frame.empty)
