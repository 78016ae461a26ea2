"""The order of a game's seats as a series of choices: the model of Plackett and Luce, with seats and ties.

The first place goes to one of all seats, the second to one of the others, and so on; a seat is chosen with a
probability proportional to exp(strength of its agent + advantage of the seat). With two seats this is the model of
Bradley and Terry. Seats that share a place count as all of their orders equally, so a draw of two is half a win for
each. If `ties` is set, a draw of two seats is instead a separate outcome, with a parameter for its frequency
(Davidson).

Sources: R. L. Plackett, The analysis of permutations, J. R. Stat. Soc. C 24, 1975; R. D. Luce, Individual Choice
Behavior, 1959; R. R. Davidson, On extending the Bradley-Terry model to accommodate ties, JASA 65, 1970.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy

from .distributions import Floats, Ints

PRECISION = 1e-9  # of parameters: the fit ends with a smaller step
MAX_STEPS = 100  # of the fit, which takes fewer than ten


class Games(NamedTuple):
    """Games of the same number of seats, at least two."""

    seats: Ints  # [games, seats] the agent's index
    scores: Floats  # [games, seats]; only their order counts
    clusters: Ints  # [games] equal for games that are not independent
    times: Floats | None = None  # [games] number of clusters like the game's own, equal within a cluster; None = 1

    @classmethod
    def of_two(cls, first: Ints, second: Ints, points: Floats, clusters: Ints) -> Games:
        """Returns games of two seats from the points of the first agent: 1 won, 1/2 drawn, 0 lost."""
        return cls(np.stack([first, second], axis=1), np.stack([points, 1 - points], axis=1), clusters)


class Choices(NamedTuple):
    """Choices among the same number of alternatives, in a number of games each; alternatives are sets of seats."""

    game: Ints  # [chosen] the index of a game, in ascending order
    kind: Ints  # [chosen] index of the choice
    weights: Floats  # [chosen, alternatives] frequencies of the alternatives, in shares of one choice
    agents: Ints  # [kinds, alternatives, members] agents
    seats: Ints  # [kinds, alternatives, members] seats
    share: float  # of a member in its alternative
    times: Floats | None = None  # [chosen] as in Games

    @property
    def totals(self) -> Floats:
        """The frequency [kinds, alternatives] of each alternative."""
        kinds, alternatives = self.agents.shape[:2]
        weights = self.counted(self.weights)
        columns = [np.bincount(self.kind, weights[:, a], kinds) for a in range(alternatives)]
        return np.stack(columns, axis=1)

    def counted(self, values: Floats) -> Floats:
        """Returns values of choices, [chosen, ...], multiplied by `times`."""
        return values if self.times is None else (values.T * self.times).T


def choices_of(games: Games, ties: bool = False) -> list[Choices]:
    """Returns the choices in games, in blocks with the same number of alternatives."""
    seats = games.seats
    if seats.shape[1] == 2:
        return [_draws_chosen(games) if ties else _winners_chosen(games)]
    ranks = _ranks(games.scores)
    codes = ranks @ seats.shape[1] ** np.arange(seats.shape[1])
    found: dict[int, list[tuple[Ints, tuple[int, ...], tuple[float, ...]]]] = {}
    for code in np.unique(codes).tolist():
        these = np.flatnonzero(codes == code)
        for members, weights in _choices_of_order(tuple(ranks[these[0]].tolist())):
            found.setdefault(len(members), []).append((these, members, weights))
    return [_joined(seats, found[size]) for size in sorted(found)]


def _ranks(scores: Floats) -> Ints:
    """Returns the number [games, seats] of seats with a larger score."""
    places = range(scores.shape[1])
    larger = [sum((scores[:, other] > scores[:, place]).astype(np.int64) for other in places) for place in places]
    return np.stack(larger, axis=1)


@functools.lru_cache(maxsize=10_000)
def _choices_of_order(ranks: tuple[int, ...]) -> list[tuple[tuple[int, ...], tuple[float, ...]]]:
    """Returns the choices in an order of places: the seats that were left, and how often each of them was chosen.

    Seats that share a place are chosen in every order: all sets of equally many of them come first in the same share of
    orders.
    """
    found = []
    for place in sorted(set(ranks)):
        tied = [seat for seat, rank in enumerate(ranks) if rank == place]
        after = [seat for seat, rank in enumerate(ranks) if rank > place]
        for gone in range(len(tied)):
            for chosen in itertools.combinations(tied, gone):
                open_ = [seat for seat in tied if seat not in chosen]
                weight = 1 / math.comb(len(tied), gone) / len(open_)
                members = tuple(open_ + after)
                if len(members) > 1:
                    found.append((members, tuple(weight * (seat in open_) for seat in members)))
    return found


def _joined(seats: Ints, parts: Sequence[tuple[Ints, tuple[int, ...], tuple[float, ...]]]) -> Choices:
    game = np.concatenate([these for these, _, _ in parts])
    order = np.argsort(game, kind="stable")
    agents = np.concatenate([seats[np.ix_(these, np.array(members))] for these, members, _ in parts])[order]
    places = np.concatenate([np.tile(members, (len(these), 1)) for these, members, _ in parts])[order]
    weights = np.concatenate([np.tile(weight, (len(these), 1)) for these, _, weight in parts])[order]
    kinds, kind = _different(agents, places)
    return Choices(game[order], kind, weights, agents[kinds][:, :, None], places[kinds][:, :, None], 1.0)


def _winners_chosen(games: Games) -> Choices:
    """Returns the choices of games of two seats, as from their order of places, but faster."""
    won = 0.5 + 0.5 * np.sign(games.scores[:, 0] - games.scores[:, 1])
    kinds, kind = _different(games.seats, np.zeros_like(games.seats))
    agents = games.seats[kinds]
    places = np.tile(np.arange(2), (len(kinds), 1))
    return Choices(np.arange(len(won)), kind, np.stack([won, 1 - won], 1), agents[:, :, None], places[:, :, None], 1.0)


def _draws_chosen(games: Games) -> Choices:
    """Returns the choices of games of two seats with three outcomes: the alternative with both seats is the draw."""
    seats, ahead = games.seats, np.sign(games.scores[:, 0] - games.scores[:, 1])
    weights = np.stack([ahead > 0, ahead < 0, ahead == 0], axis=1).astype(np.float64)
    members = np.array([[0, 0], [1, 1], [0, 1]])
    kinds, kind = _different(seats, np.zeros_like(seats))
    places = np.tile(members, (len(kinds), 1, 1))
    return Choices(np.arange(len(seats)), kind, weights, seats[kinds][:, members], places, 0.5)


def _different(agents: Ints, places: Ints) -> tuple[Ints, Ints]:
    """Returns the index of the first row of each kind, and each row's kind."""
    rows = np.concatenate([agents, places], axis=1).astype(np.uint64)
    factors = np.random.default_rng(0).integers(2**63, size=rows.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(
        1
    )
    mixed = rows @ factors  # in one of 10^7 cases, two of a million rows agree by chance
    _, first, kind = np.unique(mixed, return_index=True, return_inverse=True)
    return np.asarray(first, np.int64), np.asarray(kind, np.int64)


class Design:
    """The parameters of a model (strengths, advantages of seats, draws) and their factors.

    Args:
        agents: number of agents; the first parameters are their strengths.
        choices: in blocks with the same number of alternatives.
        seats: number of seats with parameters, the advantages over the first seat; 0 = none.
    """

    def __init__(self, agents: int, choices: Sequence[Choices], seats: int = 0) -> None:
        self.agents, self.choices, self.seats = agents, choices, seats
        self.draws = any(block.share < 1 for block in choices)
        self.size = agents + max(0, seats - 1) + self.draws
        self.terms = [self._terms(block) for block in choices]
        self.totals = [block.totals for block in choices]
        self._made = [row_sums(total) for total in self.totals]

    def _terms(self, block: Choices) -> Terms:
        alternatives = block.agents.shape[1]
        columns, values = [block.agents], [np.full(block.agents.shape[1:], block.share)]
        if self.seats:
            columns.append(np.where(block.seats > 0, self.agents + block.seats - 1, self.size))
            values.append(values[0])
        if block.share < 1:
            drawn = np.full((*block.agents.shape[:2], 1), self.size)
            drawn[:, -1] = self.size - 1
            columns.append(drawn)
            values.append(np.ones((alternatives, 1)))
        return Terms(np.concatenate(columns, axis=2), np.concatenate(values, axis=1))

    def probabilities(self, parameters: Floats) -> list[Floats]:
        """Returns the probabilities [kinds, alternatives] of each block."""
        return [_probabilities(terms.of(parameters)) for terms in self.terms]

    def log_likelihood(self, parameters: Floats) -> float:
        found = (
            (total * _log_probabilities(terms.of(parameters))).sum()
            for terms, total in zip(self.terms, self.totals, strict=True)
        )
        return float(sum(found))

    def slope(self, probabilities: Sequence[Floats]) -> Floats:
        """Returns the derivative [parameters] of the log-likelihood."""
        slope = np.zeros(self.size + 1)
        for terms, total, made, chance in zip(self.terms, self.totals, self._made, probabilities, strict=True):
            each = (total - made[:, None] * chance)[:, :, None] * terms.values
            slope += np.bincount(terms.columns.ravel(), each.ravel(), self.size + 1)
        return slope[:-1]

    def information(self, probabilities: Sequence[Floats], weights: Sequence[Floats] | None = None) -> Floats:
        """Returns the information [parameters, parameters] in the choices.

        Args:
            probabilities: of each block.
            weights: [kinds] numbers of choices, for each block; None = those that were made.
        """
        side = self.size + 1
        found = np.zeros(side * side)
        for number, (terms, chance) in enumerate(zip(self.terms, probabilities, strict=True)):
            made = self._made[number] if weights is None else weights[number]
            for a, b in np.ndindex(chance.shape[1], chance.shape[1]):
                both = made * chance[:, a] * ((a == b) - chance[:, b])
                for i, j in np.ndindex(terms.columns.shape[2], terms.columns.shape[2]):
                    cell = terms.columns[:, a, i] * side + terms.columns[:, b, j]
                    found += np.bincount(cell, both * (terms.values[a, i] * terms.values[b, j]), side * side)
        return np.asarray(found.reshape(side, side)[:-1, :-1], np.float64)


class Terms(NamedTuple):
    """The sums of parameters times numbers that make the alternatives of a block; a parameter after the last is 0."""

    columns: Ints  # [kinds, alternatives, terms]
    values: Floats  # [alternatives, terms]

    def of(self, parameters: Floats) -> Floats:
        """Returns the values [kinds, alternatives] of the alternatives."""
        return np.asarray((np.append(parameters, 0.0)[self.columns] * self.values).sum(axis=2), np.float64)


def row_sums(values: Floats) -> Floats:
    """Returns the sums of rows; for many short ones faster than `sum`."""
    return np.asarray(values @ np.ones(values.shape[1]), np.float64)


def _probabilities(values: Floats) -> Floats:
    if values.shape[1] == 2:  # the same, faster
        first = scipy.special.expit(values[:, 0] - values[:, 1])
        return np.stack([first, 1 - first], axis=1)
    return np.asarray(scipy.special.softmax(values, axis=1), np.float64)


def _log_probabilities(values: Floats) -> Floats:
    if values.shape[1] == 2:
        apart = values[:, 0] - values[:, 1]
        first = scipy.special.log_expit(apart)
        return np.stack([first, first - apart], axis=1)
    return np.asarray(scipy.special.log_softmax(values, axis=1), np.float64)


def fitted(design: Design, prior: float) -> Floats:
    """Returns the parameters of maximum likelihood, by Newton's method; the likelihood is concave.

    Args:
        design: of the games.
        prior: drawn games of every agent against a virtual one of strength 0; the other parameters get a share of such
            a game, so that they are finite, too.
    """
    weights = prior_weights(design, prior)

    def log_likelihood(parameters: Floats) -> float:
        drawn = weights / 2 @ (scipy.special.log_expit(parameters) + scipy.special.log_expit(-parameters))
        return design.log_likelihood(parameters) + float(drawn)

    parameters = np.zeros(design.size)
    reached = log_likelihood(parameters)
    for _ in range(MAX_STEPS):
        chances = design.probabilities(parameters)
        slope = design.slope(chances) + weights * (0.5 - scipy.special.expit(parameters))
        curvature = design.information(chances) + np.diag(prior_information(parameters, weights))
        step = np.linalg.solve(curvature, slope)
        while (likelihood := log_likelihood(parameters + step)) < reached - abs(reached) * 1e-12:
            step /= 2  # far from the maximum a whole step may overshoot
        parameters, reached = parameters + step, likelihood
        if np.abs(step).max(initial=0.0) < PRECISION:
            break
    return parameters


def prior_weights(design: Design, prior: float) -> Floats:
    """Returns the virtual games [parameters]."""
    weights = np.full(design.size, prior / 100)
    weights[: design.agents] = prior
    return weights


def prior_information(parameters: Floats, weights: Floats) -> Floats:
    """Returns the information [parameters] in the virtual games."""
    expected = scipy.special.expit(parameters)
    return np.asarray(weights * expected * (1 - expected), np.float64)
