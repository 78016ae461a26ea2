"""Intervals of scores: means, medians and differences on common seeds, after few and more games."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from turnier.agents.agent import Agent
from turnier.agents.registry import make_agent
from turnier.results.store.store import Store
from turnier.statistics.comparisons import paired_difference
from turnier.statistics.intervals import mean_interval, median_interval
from turnier.studies.promises.games import LONG, bot, long_run, scores
from turnier.studies.promises.tally import Kind, Part, Promise, Seen

SIZES = (10, 20, 50, 100)  # games
FEW_GAMES = 20  # up to which rare results may be missing in means
BLOCK = 1000  # games of a unit


def _cut(values: npt.NDArray[np.float64], size: int) -> Iterator[npt.NDArray[np.float64]]:
    yield from values[: len(values) // size * size].reshape(-1, size)


def _means(game: str, agent: Agent, long: int, unit: int, store: Store) -> dict[str, Seen]:
    truth = long_run(game, agent.full_text(), long)
    mean, median = float(truth.mean()), float(np.median(truth))
    values, seen = scores(game, agent, BLOCK, "means", unit), {}
    for size in SIZES:
        found = [mean_interval(some) for some in _cut(values, size)]
        seen[f"mean of {size}"] = Seen(sum(abs(one.mean - mean) <= one.half_width for one in found), len(found))
        middle = [median_interval(some) for some in _cut(values, size)]
        seen[f"median of {size}"] = Seen(sum(one.low <= median <= one.high for one in middle), len(middle))
    return seen


def _paired(game: str, unit: int, store: Store) -> dict[str, Seen]:
    one, other = bot(1), bot(2, 0.3)
    truth = float((long_run(game, one.full_text()) - long_run(game, other.full_text())).mean())
    apart = scores(game, one, BLOCK, "paired", unit) - scores(game, other, BLOCK, "paired", unit)
    seen = {}
    for size in SIZES:
        found = [paired_difference(some.tolist()) for some in _cut(apart, size)]
        seen[f"difference of {size}"] = Seen(sum(one.low <= truth <= one.high for one in found), len(found))
    return seen


def _promises(before: str) -> Mapping[str, Promise]:
    known = zip(SIZES, before.split(), strict=True)
    kinds = {n: Kind.FEW if n <= FEW_GAMES else Kind.INTERVAL for n in SIZES}
    means = {f"mean of {n}": Promise(f"mean, {n} games", kinds[n], was) for n, was in known}
    medians = {f"median of {n}": Promise(f"median, {n} games", Kind.AT_LEAST) for n in SIZES}
    return means | medians


def parts() -> list[Part]:
    """Returns the parts of this module."""
    fields = (
        ("2048(size=2)", "random", bot(1), 2160, LONG, "89.5 92.5 94.0 94.2"),
        ("2048(size=3)", "random", bot(1), 48, LONG, "93.4 93.6 94.2 93.9"),
        ("2048(size=4)", "random", bot(1), 36, LONG // 2, "93.7 93.8 94.3 94.6"),
        ("2048(size=2)", "mc", make_agent("mc(iterations=5,score_method=2)"), 24, LONG // 4, "94.2 89.7 93.4 96.3"),
    )
    found = []
    for game, name, agent, units, long, before in fields:
        text = f"{game}, {'random moves' if name == 'random' else agent}"
        measure = functools.partial(_means, game, agent, long)
        found.append(Part(f"scores {game} {name}", text, units, measure, _promises(before), public=False))
    known = zip(SIZES, ("95.6", "95.1", "94.8", "95.1"), strict=True)
    paired = {f"difference of {n}": Promise(f"difference on {n} seeds", Kind.INTERVAL, was) for n, was in known}
    text = "2048(size=3), bots that differ"
    return [*found, Part("paired", text, 48, functools.partial(_paired, "2048(size=3)"), paired, public=False)]
