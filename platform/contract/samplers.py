"""The laws that every sampler keeps, listed in SAMPLER_LAWS: each takes a sampler.

In the laws it searches the unit cube for the top of a smooth hill, seen through noise.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..search.samplers.sampler import Sampler, Search, Vectors, wrong_shape
from ..search.space import Space
from .law import Law, LawBroken

START = 0.8  # in every dimension
TOP = 0.3
SIZE = 3  # dimensions
SEED = 5
GENERATIONS = 9
EVALUATIONS = 120  # of a search that must make progress
NOISE = 0.1


def worth(vectors: Vectors, noise: npt.NDArray[np.float64] | float = 0.0) -> list[float]:
    """Returns the values of vectors on the hill."""
    return [float(v) for v in 5 - ((vectors - TOP) ** 2).sum(1) + noise]


def search_of(
    sampler: Sampler, generations: int, seed: int = SEED, size: int = SIZE, noise: float = 0.0
) -> tuple[Search, list[Vectors]]:
    """Returns a search after some generations, and the vectors for which it asked."""
    search, asked = sampler.begin([START] * size, seed, Space.cube(size)), []
    rng = np.random.default_rng(seed)
    for _ in range(generations):
        asked.append(_asked(sampler, search, size))
        search.tell(worth(asked[-1], noise * rng.standard_normal(len(asked[-1]))))
    return search, asked


def _asked(sampler: Sampler, search: Search, size: int) -> Vectors:
    """Returns a generation's candidates; raises LawBroken if they are not an array [n, size]."""
    vectors = search.ask()
    if got := wrong_shape(vectors, size):
        raise LawBroken(f"ask of {sampler} must return an array of shape [n, {size}] with n from 1 up, got {got}")
    return vectors


def law_candidates_are_in_the_cube(sampler: Sampler) -> None:
    """Every candidate is a vector of numbers from 0 to 1, in any number of dimensions."""
    for size in (1, SIZE):
        for generation, vectors in enumerate(search_of(sampler, GENERATIONS, size=size)[1]):
            if not ((vectors >= 0) & (vectors <= 1)).all():  # true for nan
                got = f"from {vectors.min()} to {vectors.max()}"
                raise LawBroken(f"candidates of {sampler} must be from 0 to 1, got {got} in generation {generation}")


def law_asking_again_changes_nothing(sampler: Sampler) -> None:
    """Asking again without telling gives the same candidates, even if the caller has changed the first ones."""
    search = sampler.begin([START] * SIZE, SEED, Space.cube(SIZE))
    for generation in range(GENERATIONS):
        first = _asked(sampler, search, SIZE)
        kept = first.copy()
        first[:] = -1.0
        again = _asked(sampler, search, SIZE)
        if not np.array_equal(kept, again):
            got = f"{kept[0]} and then {again[0]} as the first of generation {generation}"
            raise LawBroken(f"ask of {sampler} must give the same candidates until tell, got {got}")
        search.tell(worth(kept))


def law_candidates_asked_ahead_stay(sampler: Sampler) -> None:
    """What a search that looks ahead asks for next does not depend on the values that are told in between."""
    search = sampler.begin([START] * SIZE, SEED, Space.cube(SIZE))
    for generation in range(GENERATIONS if search.looks_ahead else 0):
        ahead, duels, values = search.ask_ahead(), search.duelling(True), worth(_asked(sampler, search, SIZE))
        search.tell(values)
        if not np.array_equal(ahead, vectors := _asked(sampler, search, SIZE)):
            got = f"{ahead[0]} and then {vectors[0]} as the first of generation {generation + 1}"
            raise LawBroken(f"ask of {sampler} must give what ask_ahead gave before tell, got {got}")
        if duels != search.duelling():
            got = f"{duels} and then {search.duelling()} in generation {generation + 1}"
            raise LawBroken(f"as many pairs of {sampler} must duel as were said before tell, got {got}")


def law_stored_values_rebuild_the_search(sampler: Sampler) -> None:
    """Telling stored values rebuilds a search bit for bit, even if it was asked more often in between."""
    first, asked = search_of(sampler, GENERATIONS, noise=NOISE)
    second, rng = sampler.begin([START] * SIZE, SEED, Space.cube(SIZE)), np.random.default_rng(SEED)
    for generation, vectors in enumerate(asked):
        second.recommended(), second.estimate()
        again = second.ask()
        if not np.array_equal(again, vectors):
            raise LawBroken(
                f"{sampler} must ask for the same candidates with the same seed and values, got {vectors[0]} and then"
                f" {again[0]} as the first of generation {generation}; draw random numbers only from self.rng()"
            )
        second.tell(worth(vectors, NOISE * rng.standard_normal(len(vectors))))
    for what in ("recommended", "estimate", "facts"):
        one, other = getattr(first, what)(), getattr(second, what)()
        if one != other:
            got = f"{one} and then {other}"
            raise LawBroken(f"{what} of {sampler} must be the same after the same values, got {got}")
    if not np.array_equal(first.ask(), second.ask()):
        raise LawBroken(f"{sampler} must ask for the same after the same {GENERATIONS} generations, but it does not")


def law_random_numbers_are_its_own(sampler: Sampler) -> None:
    """The global generators of numpy and Python are not used, so that nothing else changes a search."""
    np.random.seed(3)
    expected = np.random.random(4)
    np.random.seed(3)
    search_of(sampler, 3)
    if not np.array_equal(np.random.random(4), expected):
        raise LawBroken(f"{sampler} must draw random numbers only from self.rng(), but it used numpy's own generator")


def law_recommendations_are_vectors(sampler: Sampler) -> None:
    """A recommendation is a list of numbers from 0 to 1; its estimate is a number once values have been told."""
    for size in (1, SIZE):
        search, _ = search_of(sampler, 2, size=size, noise=NOISE)
        vector, estimate, facts = search.recommended(), search.estimate(), search.facts()
        if not _in_cube(vector, size):
            raise LawBroken(f"recommended of {sampler} must return a list of {size} numbers from 0 to 1, got {vector}")
        if not np.isfinite(estimate):
            raise LawBroken(f"estimate of {sampler} must return a number after 2 generations, got {estimate}")
        if not all(np.isfinite(value) for value in facts.values()):
            raise LawBroken(f"facts of {sampler} must be numbers, got {facts}")


def _in_cube(vector: Sequence[float], size: int) -> bool:
    return isinstance(vector, list) and len(vector) == size and all(0 <= value <= 1 for value in vector)


def law_recommendations_get_better(sampler: Sampler) -> None:
    """After about a hundred values of a smooth hill the recommendation is better than the start, even under noise."""
    for size in (1, SIZE):
        search, evaluations, rng = sampler.begin([START] * size, SEED, Space.cube(size)), 0, np.random.default_rng(SEED)
        while evaluations < EVALUATIONS:
            vectors = _asked(sampler, search, size)
            search.tell(worth(vectors, NOISE * rng.standard_normal(len(vectors))))
            evaluations += len(vectors)
        lost, at_first = (5 - worth(np.array([vector]))[0] for vector in (search.recommended(), [START] * size))
        if not lost < at_first / 2:
            raise LawBroken(
                f"{sampler} must come nearer to the top of a smooth hill in {size} dimensions, got a recommendation"
                f" {lost:.3g} below it after {evaluations} values, from a start {at_first:.3g} below it"
            )


SAMPLER_LAWS: tuple[Law, ...] = (
    law_candidates_are_in_the_cube,
    law_asking_again_changes_nothing,
    law_candidates_asked_ahead_stay,
    law_stored_values_rebuild_the_search,
    law_random_numbers_are_its_own,
    law_recommendations_are_vectors,
    law_recommendations_get_better,
)
