"""Ratings of many agents on one scale, in Elo: the model of Bradley and Terry, of Plackett and Luce for more seats.

An agent of strength r beats one of strength s with probability 1 / (1 + exp(s - r)); 1 is 400 / ln 10 = 174 Elo.

Games that share a cluster (those of one seed) are not independent, so the covariance comes from sums over clusters.
Each sum is enlarged to compensate for the fit (leverage), and intervals use Student's t with the effective number of an
agent's clusters.

Sources: R. A. Bradley and M. E. Terry, Rank analysis of incomplete block designs I, Biometrika 39, 1952; K.-Y. Liang
and S. L. Zeger, Longitudinal data analysis using generalized linear models, Biometrika 73, 1986 (clustered covariance);
R. M. Bell and D. F. McCaffrey, Bias reduction in standard errors for linear regression with multi-stage samples, Survey
Methodology 28, 2002 (leverage); A. V. Carter, K. T. Schnepel and D. G. Steigerwald, Asymptotic behavior of a t-test
robust to cluster heterogeneity, Rev. Econ. Stat. 99, 2017 (effective number of clusters).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from .distributions import Floats, Ints, t_probability, t_quantile
from .intervals import CONFIDENCE, Interval
from .plackett_luce import Choices, Design, Games, choices_of, fitted, prior_information, prior_weights, row_sums

ELO = 400 / math.log(10)
PRIOR_GAMES = 1.0  # drawn games of every agent against a virtual one of mean strength
MOST_LEVERAGE = 0.5  # of clusters whose observed variation counts; others have the variance of the model
SEATS_DIFFER = 0.05  # level of the test of a difference between seats
SAME = 1e-12  # mean square, in games, below which differences are rounding errors
MANY = 10.0**6  # degrees of freedom if the variance is that of the model


@dataclass(frozen=True)
class Ratings:
    """Strengths in Elo, with mean 0, and their covariance."""

    elo: Floats  # [agents]
    covariance: Floats  # [agents, agents], Elo²
    freedom: Floats  # [agents] degrees of freedom of Student's t
    seats: tuple[Interval, ...] = ()  # each seat's advantage in Elo over the mean seat; empty if seats do not differ
    draws: float | None = None  # the parameter of drawn games; None if a draw is half a win

    def half_widths(self) -> Floats:
        """Returns the half-widths [agents] of the 95 % intervals of the strengths relative to the mean of the field."""
        return t_quantile(0.5 + CONFIDENCE / 2, self.freedom) * np.sqrt(np.diag(self.covariance))

    def variances(self) -> Floats:
        """Returns the variances [agents, agents] of the differences of two ratings."""
        diagonal = np.diag(self.covariance)
        return np.maximum(diagonal[:, None] + diagonal[None, :] - 2 * self.covariance, 0.0)

    def freedoms(self) -> Floats:
        """Returns the degrees of freedom [agents, agents] of differences, after Satterthwaite."""
        variance = np.diag(self.covariance)
        parts = variance**2 / self.freedom
        with np.errstate(divide="ignore", invalid="ignore"):
            found = (variance[:, None] + variance) ** 2 / (parts[:, None] + parts)
        return np.asarray(np.where(np.isfinite(found), found, 1.0), np.float64)

    def differences(self) -> tuple[Floats, Floats]:
        """Returns the differences [agents, agents], row minus column, and the half-widths of their 95 % intervals."""
        half = t_quantile(0.5 + CONFIDENCE / 2, self.freedoms()) * np.sqrt(self.variances())
        return self.elo[:, None] - self.elo[None, :], half

    def superiority(self) -> Floats:
        """Returns 1 minus one-sided p-values [agents, agents] of "the row's agent is no stronger"; 0.5 to itself."""
        difference, errors = self.elo[:, None] - self.elo[None, :], np.sqrt(self.variances())
        scaled = np.divide(difference, errors, out=np.zeros_like(difference), where=errors > 0)
        return t_probability(scaled, self.freedoms())

    def evidence(self) -> Floats:
        """Returns the covariance [agents, agents] for the probability that agents are in another order.

        The rating of an agent that wins everything has a large variance, because it may be much larger; but more wins
        always make it less likely that the agents are equal. So the variance of each difference is reduced by the
        logarithm of the likelihood ratio of equal agents: it is that of a normal distribution with the same ratio.
        """
        apart = (self.elo[:, None] - self.elo) / ELO
        chance = scipy.special.expit(apart)
        ratio = np.log(2) - scipy.special.entr(chance) - scipy.special.entr(1 - chance)
        lower = np.ones_like(apart)
        np.divide(chance * (1 - chance) * apart**2, 2 * ratio, out=lower, where=np.abs(apart) > 1e-3)
        centre = np.eye(len(apart)) - 1 / len(apart)
        return np.asarray(-centre @ (self.variances() * lower) @ centre / 2, np.float64)

    def expected(self, first: Ints, second: Ints, seats: Ints) -> Floats:
        """Returns the expected shares of points [meetings] of the first agents against the second.

        Args:
            first, second: [meetings] agents.
            seats: [meetings, 2] their seats.
        """
        gains = np.array([gain.value for gain in self.seats] or [0.0] * (int(seats.max(initial=0)) + 1))
        apart = self.elo[first] - self.elo[second] + gains[seats[:, 0]] - gains[seats[:, 1]]
        if self.draws is None:
            return np.asarray(scipy.special.expit(apart / ELO), np.float64)
        half = np.exp(np.clip(apart / ELO * (2 + self.draws) / 4, -300, 300))
        return np.asarray((half + self.draws / 2) / (half + 1 / half + self.draws), np.float64)

    def anchored(self, agent: int) -> Ratings:
        """Returns the ratings relative to an agent, which is at 0 with an interval of no width."""
        shift = np.eye(len(self.elo))
        shift[:, agent] -= 1
        covariance = shift @ self.covariance @ shift.T
        freedom = self.freedoms()[:, agent]
        return Ratings(self.elo - self.elo[agent], covariance, freedom, self.seats, self.draws)

    def chosen(self, agents: Ints) -> Ratings:
        """Returns the ratings of some agents, on the same scale."""
        parts = self.elo[agents], self.covariance[np.ix_(agents, agents)], self.freedom[agents]
        return Ratings(*parts, self.seats, self.draws)


def bradley_terry(agents: int, first: Ints, second: Ints, points: Floats, clusters: Ints) -> Ratings:
    """Rates agents by games between two of them; a draw is half a win.

    Args:
        agents: number of agents.
        first: [games] an agent's index.
        second: [games] index of its opponent, another agent.
        points: [games] of the first: 1 won, 0.5 drawn, 0 lost.
        clusters: [games] equal numbers, from 0, for games that are not independent.
    """
    return rated(agents, [Games.of_two(first, second, points, clusters)])


def rated(agents: int, games: Sequence[Games], seats: bool = False, ties: bool = False) -> Ratings:
    """Rates agents by games of two and more seats.

    Every agent has also drawn PRIOR_GAMES with a virtual agent of mean strength, so that agents that won everything,
    and agents that never met, have finite ratings.

    Args:
        agents: number of agents.
        games: by number of seats.
        seats: whether to give seats advantages if they differ (a test at SEATS_DIFFER); needs games of one number of
            seats.
        ties: whether draws of two seats are a separate outcome.
    """
    blocks = _blocks(games, ties)
    model = _Model(agents, games, blocks)
    number = max((some.seats.shape[1] for some in games), default=0)
    if seats and len(games) == 1 and len(games[0].seats) and model.seats_differ(number):
        model = _Model(agents, games, blocks, number)
    return model.ratings()


def _blocks(games: Sequence[Games], ties: bool) -> list[Choices]:
    """Returns the choices of all games, with games numbered consecutively."""
    blocks, before = [], 0
    for some in games:
        for block in choices_of(some, ties):
            times = None if some.times is None else some.times[block.game]
            blocks.append(block._replace(game=block.game + before, times=times))
        before += len(some.seats)
    return blocks


class _Model:
    """A fitted model, and the variation of the sums of its clusters."""

    def __init__(self, agents: int, games: Sequence[Games], blocks: Sequence[Choices], seats: int = 0) -> None:
        self._design = Design(agents, blocks, seats)
        self._parameters = fitted(self._design, PRIOR_GAMES)
        self._chances = self._design.probabilities(self._parameters)
        self._virtual = prior_information(self._parameters, prior_weights(self._design, PRIOR_GAMES))
        self._bread = np.linalg.inv(self._design.information(self._chances) + np.diag(self._virtual))
        self._cluster, self._clusters = _numbered(games)
        self._meetings = _meetings(agents, games, self._cluster, self._clusters)  # [clusters, agents] numbers of games
        self._varied = _varied(agents, games, self._cluster, bool(seats))
        self._alike = _alike(games, self._cluster, self._clusters)  # [clusters] number of clusters like each
        leverage = self._leverage()
        self._telling = (leverage <= MOST_LEVERAGE) & (self._alike.sum() > 1)
        self._enlarged = np.where(self._telling, 1 / np.sqrt(1 - leverage * self._telling), 0.0)

    def ratings(self) -> Ratings:
        """Returns the strengths relative to their mean, with their covariance, and the effects of seats and draws."""
        design, n = self._design, self._design.agents
        covariance = self._covariance()
        draws = float(np.exp(self._parameters[-1])) if design.draws else None
        # In this unit a small difference stands for the same points as without draws.
        unit = ELO if draws is None else ELO * 2 / (2 + draws)
        centre = np.eye(n) - 1 / n
        seats: tuple[Interval, ...] = ()
        if design.seats:
            own = slice(n, n + design.seats - 1)
            beside = (np.eye(design.seats) - 1 / design.seats)[:, 1:]
            gains = unit * beside @ self._parameters[own]
            errors = unit * np.sqrt(np.diag(beside @ covariance[own, own] @ beside.T))
            half = t_quantile(0.5 + CONFIDENCE / 2, max(1, self._alike.sum() - 1)) * errors
            seats = tuple(Interval(*ends) for ends in zip(gains.tolist(), gains - half, gains + half, strict=True))
        return Ratings(
            unit * centre @ self._parameters[:n],
            unit**2 * centre @ covariance[:n, :n] @ centre,
            self._freedom(),
            seats,
            draws,
        )

    def _covariance(self) -> Floats:
        """Returns the covariance [parameters, parameters].

        For virtual games, for clusters of large leverage, and if all games ended alike, the variance is that of the
        model, not the observed one.
        """
        design = self._design
        told = self._varied & self._telling[self._cluster]
        sums = self._sums(design, told) * (self._enlarged * np.sqrt(self._alike))[:, None]
        untold = [
            np.asarray(
                np.bincount(block.kind, block.counted(row_sums(block.weights) * ~told[block.game]), len(block.agents)),
                np.float64,
            )
            for block in design.choices
        ]
        meat = (sums.T @ sums).toarray() + design.information(self._chances, untold) + np.diag(self._virtual)
        return np.asarray(self._bread @ meat @ self._bread, np.float64)

    def _sums(self, design: Design, kept: npt.NDArray[np.bool_] | None = None) -> Any:
        """Returns the sums [clusters, parameters], sparse, of the games' derivatives of the log-likelihood.

        Args:
            design: may have more parameters than were fitted; these are then 0.
            kept: [games] whether a game counts; None = all do.
        """
        found: list[tuple[Floats, Ints, Ints]] = [(np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int64))]
        for block, terms, chance in zip(design.choices, design.terms, self._chances, strict=True):
            residuals = block.weights - row_sums(block.weights)[:, None] * chance[block.kind]
            if kept is not None:
                residuals[~kept[block.game]] = 0.0
            each = residuals[:, :, None] * terms.values
            rows = np.repeat(self._cluster[block.game], each.shape[1] * each.shape[2])
            found.append((each.ravel(), rows, terms.columns[block.kind].ravel()))
        values, rows, columns = (np.concatenate(part) for part in zip(*found, strict=True))
        shape = (self._clusters, design.size + 1)
        return scipy.sparse.csr_array((values, (rows, columns)), shape=shape)[:, : design.size]

    def _leverage(self) -> Floats:
        """Returns the leverage [clusters]: the share of a cluster's variation taken by the fit, a mean over agents."""
        found = np.zeros(self._clusters)
        for block, chance in zip(self._design.choices, self._chances, strict=True):
            kinds, alternatives, _ = block.agents.shape
            taken = np.zeros(kinds)
            for a, b in np.ndindex(alternatives, alternatives):
                both = self._bread[block.agents[:, a, :, None], block.agents[:, b, None, :]].sum(axis=(1, 2))
                taken += block.share**2 * both * chance[:, a] * ((a == b) - chance[:, b])
            found += np.bincount(self._cluster[block.game], taken[block.kind] * row_sums(block.weights), self._clusters)
        return np.asarray(found / np.maximum(np.diff(self._meetings.indptr) - 1, 1), np.float64)

    def _freedom(self) -> Floats:
        """Returns the degrees of freedom [agents]: the effective number of each agent's clusters minus one."""
        met = self._meetings.multiply(self._telling[:, None]).tocsr()
        games, squares = self._alike @ met, self._alike @ met.multiply(met)
        freedom = np.maximum(games**2 / np.maximum(squares, 1) - 1, 1.0)
        return np.asarray(np.where(games > 0, freedom, MANY), np.float64)

    def seats_differ(self, seats: int) -> bool:
        """Returns whether seats differ, by a score test with the variance of clusters."""
        n = self._design.agents
        wider = Design(n, self._design.choices, seats)
        own = np.arange(n, n + seats - 1)
        others = np.setdiff1d(np.arange(wider.size), own)
        across = wider.information(self._chances)[np.ix_(own, others)] @ self._bread
        sums = self._sums(wider)
        adjusted = sums[:, own].toarray() - sums[:, others] @ across.T
        number = float(self._alike.sum())
        total = (adjusted * self._alike[:, None]).sum(axis=0)
        apart = (adjusted - total / number) * np.sqrt(self._alike)[:, None]
        freedom = number - len(own)
        if freedom < 1:
            return False
        spread = apart.T @ apart
        if np.abs(spread).max() < SAME * number:  # all clusters agree
            return bool(np.abs(total).max() > math.sqrt(SAME) * number) and 0.5 ** (number - 1) < SEATS_DIFFER
        squared = float(total @ np.linalg.lstsq(spread, total)[0]) * freedom / len(own) / number
        return bool(scipy.special.fdtrc(len(own), freedom, squared) < SEATS_DIFFER)


def _numbered(games: Sequence[Games]) -> tuple[Ints, int]:
    """Returns every game's cluster, from 0 without gaps, and the number of clusters; blocks of games share none."""
    parts, before = [np.zeros(0, np.int64)], 0
    for some in games:
        cluster = np.unique(some.clusters, return_inverse=True)[1]
        parts.append(cluster + before)
        before += int(cluster.max(initial=-1)) + 1
    return np.concatenate(parts), before


def _alike(games: Sequence[Games], cluster: Ints, clusters: int) -> Floats:
    """Returns the number [clusters] of clusters like each."""
    alike = np.ones(clusters)
    times = [np.ones(len(some.seats)) if some.times is None else some.times for some in games]
    alike[cluster] = np.concatenate([np.zeros(0), *times])
    return alike


def _meetings(agents: int, games: Sequence[Games], cluster: Ints, clusters: int) -> Any:
    """Returns the number [clusters, agents] of seats that an agent took, sparse."""
    seats = [np.zeros(0, np.int64), *(some.seats.ravel() for some in games)]
    widths = [np.zeros(0, np.int64), *(np.full(len(some.seats), some.seats.shape[1]) for some in games)]
    rows = np.repeat(cluster, np.concatenate(widths))
    met = scipy.sparse.coo_array((np.ones(len(rows)), (rows, np.concatenate(seats))), shape=(clusters, agents)).tocsr()
    met.sum_duplicates()
    return met


def _varied(agents: int, games: Sequence[Games], cluster: Ints, seats: bool) -> npt.NDArray[np.bool_]:
    """Returns [games] whether the clusters of a game's agents, with `seats` in the same seats, differ in mean results.

    If no cluster differs, the observed variance is 0, as in games that the stronger agent begins and always wins.
    """
    mark = np.random.default_rng(0).normal(size=agents)  # tells agents apart
    found, before = [np.zeros(0, bool)], 0
    for some in games:
        own = cluster[before : before + len(some.seats)]
        before += len(some.seats)
        outcome = np.zeros(len(own))
        for one, other in itertools.permutations(range(some.seats.shape[1]), 2):
            outcome += mark[some.seats[:, one]] * np.sign(some.scores[:, one] - some.scores[:, other])
        alike = some.seats if seats else np.sort(some.seats, axis=1)
        field = np.unique(mark[alike] @ (np.arange(some.seats.shape[1]) + 1.0), return_inverse=True)[1]
        number = int(own.max(initial=0)) + 1
        cells, cell = np.unique(field * number + own, return_inverse=True)
        means = np.bincount(cell, outcome) / np.bincount(cell) if len(cell) else outcome
        fields = int(field.max(initial=-1)) + 1
        least, most = np.full(fields, np.inf), np.full(fields, -np.inf)
        np.minimum.at(least, cells // number, means)
        np.maximum.at(most, cells // number, means)
        found.append((most > least + 1e-9)[field])
    return np.concatenate(found)
