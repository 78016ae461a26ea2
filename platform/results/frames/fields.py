"""The agents of a game, rated: strengths, the fit of one rating per agent to the results, and notes on both."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...core.number_text import number, percent_sure, plus_minus
from ...statistics.distributions import Floats, Ints
from ...statistics.fit import Fit, fit_of
from ...statistics.nash import Nash, nash_average
from ...statistics.ranks import Beliefs, Ranks, beliefs, rank_intervals
from ...statistics.ratings import Ratings, rated
from .meetings import Meetings

USUAL = 200.0  # Elo, the standard deviation of strengths in a usual field; averaged over, see `ranks.beliefs`


@dataclass(frozen=True)
class RatedField:
    """The agents of a game of several seats after their meetings."""

    met: Meetings
    ratings: Ratings
    asked: bool = False  # whether Nash averages are wanted even if ratings explain the results

    @classmethod
    def of(cls, met: Meetings, nash: bool = False) -> RatedField:
        """Rates agents, with draws as an outcome of their own if only that explains the results."""
        found = cls(met, rated(len(met.agents), [met.games], seats=True), nash)
        if found.fit.holds or not _drawn(met):
            return found
        other = cls(met, rated(len(met.agents), [met.games], seats=True, ties=True), nash)
        return other if other.fit.holds else found

    @classmethod
    def like(cls, whole: RatedField, met: Meetings) -> RatedField:
        """Rates agents in some of the games of a field, with draws as in all of them."""
        ties = whole.ratings.draws is not None and _drawn(met)
        return cls(met, rated(len(met.agents), [met.games], seats=True, ties=ties))

    @functools.cached_property
    def fit(self) -> Fit:
        """Returns how well one rating per agent explains the results."""
        met, expected = self.met, self.ratings.expected(self.met.first, self.met.second, self.met.seats)
        return fit_of(len(met.agents), met.first, met.second, met.points, expected, met.clusters, met.times)

    @functools.cached_property
    def nash(self) -> Nash | None:
        """Returns Nash averages; None unless they are asked for, or one rating does not explain the results."""
        return _nash(self.met, self.ratings) if self.asked or not self.fit.holds else None

    def order(self) -> Ints:
        """Returns the agents, the strongest first; equal ones keep their order."""
        return np.argsort(-self.ratings.elo, kind="stable")

    @functools.cached_property
    def ranks(self) -> Ranks:
        """Returns the possible places of agents."""
        return rank_intervals(self.ratings.elo, self.ratings.covariance, self.ratings.freedom)

    @functools.cached_property
    def beliefs(self) -> Beliefs:
        """Returns the probabilities that agents are better than others, and best of all."""
        return beliefs(self.ratings.elo, self.ratings.evidence(), self.ratings.freedom, USUAL)


def _drawn(met: Meetings) -> bool:
    return met.games.seats.shape[1] == 2 and bool((met.points == 0.5).any())


def _nash(met: Meetings, ratings: Ratings) -> Nash:
    """Returns Nash averages of the agents' scores against each other, those expected by ratings if two never met."""
    n = len(met.agents)
    everyone = np.indices((n, n)).reshape(2, -1)
    shares = ratings.expected(everyone[0], everyone[1], np.zeros((n * n, 2), np.int64)).reshape(n, n)
    errors = np.zeros((n, n))
    ends = np.concatenate([met.first, met.second]), np.concatenate([met.second, met.first])
    cell, points = ends[0] * n + ends[1], np.concatenate([met.points, 1 - met.points])
    times = np.tile(met.times, 2)
    games = np.bincount(cell, times, n * n).reshape(n, n)
    won = np.bincount(cell, times * points, n * n).reshape(n, n)
    played = games > 0
    np.divide(won, games, out=shares, where=played)
    clusters = int(met.clusters.max(initial=0)) + 1
    units, unit = np.unique(cell * clusters + np.tile(met.clusters, 2), return_inverse=True)
    apart, alike = np.bincount(unit, points - shares.ravel()[cell]), np.ones(len(units))
    alike[unit] = times
    squares = np.bincount(units // clusters, alike * apart**2, n * n).reshape(n, n)
    np.divide(np.sqrt(squares + 0.25), games, out=errors, where=played)  # never 0, even if all games ended alike
    return nash_average(shares, errors)


class Note(NamedTuple):
    """A sentence below a rating list."""

    about: str  # fit, seats, draws, leader or choice
    text: str


def notes_on(field: RatedField, labels: list[str]) -> list[Note]:
    """Returns notes on a rating list: its fit to the results, and the worth of seats and draws."""
    texts = {
        "fit": _fit_text(field.fit, labels),
        "seats": seats_text(field.ratings),
        "draws": _draws_text(field.ratings),
    }
    return [Note(about, text) for about, text in texts.items() if text]


def _fit_text(fit: Fit, labels: list[str]) -> str:
    if fit.holds:
        return ""
    worst = "; ".join(
        f"{labels[pair.first]} has {_percent(pair.seen)} against {labels[pair.second]}, expected"
        f" {_percent(pair.expected)}"
        for pair in fit.worst
    )
    p = "p < 0.001" if fit.p < 0.001 else f"p = {number(fit.p, digits=1)}"
    return (
        f"One rating per agent does not explain these results ({p}){f': {worst}' if worst else ''}."
        f" {_percent(fit.cyclic)} of the differences between agents are circular."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def seats_text(ratings: Ratings) -> str:
    """Returns the worth of seats relative to each other; empty if they do not differ."""
    gains = ratings.seats
    if not gains:
        return ""
    if len(gains) == 2:
        gain = 2 * gains[0].value
        half = 2 * (gains[0].high - gains[0].value)
        return f"The first seat is worth {plus_minus(gain, half, ' Elo', signed=True)} more than the second."
    parts = [plus_minus(gain.value, gain.high - gain.value, signed=True) for gain in gains]
    return f"Seats are worth, beside their mean, in turn: {', '.join(parts)} Elo."


def seats_beside(met: Meetings, agents: Sequence[str]) -> list[str]:
    """Returns the worth of seats and the difference of two agents apart from it; nothing if seats do not differ."""
    if len(met.agents) < 2:
        return []
    ratings = RatedField.of(met).ratings
    if not ratings.seats:
        return []
    first, second = (met.agents.index(agent) for agent in agents)
    difference, half = (part[first, second] for part in ratings.differences())
    apart = plus_minus(difference, half, " Elo", signed=True)
    said = f"Apart from the seats, the difference is {apart}, with an interval as if the games had been planned."
    return [f"{seats_text(ratings)} {said}"]


def _draws_text(ratings: Ratings) -> str:
    if ratings.draws is None:
        return ""
    share = ratings.draws / (2 + ratings.draws)
    return f"Draws are rated as an outcome of their own, {_percent(share)} between equal agents, which fits better."


def leader_note(names: list[str], best: Floats, ranks: Ranks, order: Ints) -> Note:
    """Returns the leader, its probability to be the best, and the number of others that may be.

    Args:
        names: of the agents.
        best: [agents] their probabilities to be the best.
        ranks: of the agents.
        order: the agents, the leader first.
    """
    likely = f"is the best of these with a probability of {percent_sure(best[order[0]])} %"
    return Note("leader", f"{names[order[0]]} leads and {likely}; {contenders(ranks.low[order])}.")


def contenders(lowest: Ints) -> str:
    """Returns how many others may be the best, given the agents' best possible places, the leader's first.

    Those places are right for all agents at once with 95 % probability.
    """
    others = int((lowest[1:] == 1).sum())
    if not others:
        return "all others are ruled out with 95 % confidence"
    return f"{'one other' if others == 1 else f'{others} others'} cannot be ruled out with 95 % confidence"
