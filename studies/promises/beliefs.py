"""Probabilities: are claims of 90 % true nine times in ten? Fields whose order is known."""

from __future__ import annotations

import functools
from collections.abc import Iterable

import numpy as np

from turnier.results.store.store import Store
from turnier.studies.promises.games import bots
from turnier.studies.promises.tally import Kind, Part, Promise, Seen
from turnier.studies.promises.tournaments import tournament

BINS = ((0.5, 0.7), (0.7, 0.85), (0.85, 0.95), (0.95, 0.99), (0.99, 1.0))
AGENTS = 8
FRESH = 1000  # the first unit: the prior of `ranks.beliefs` was chosen on the games of earlier ones


def _in_bins(name: str, said: Iterable[tuple[float, bool]]) -> dict[str, Seen]:
    """Returns by bin how often claims are true; unlikely claims are negated."""
    turned = [(p, true) if p >= 0.5 else (1 - p, not true) for p, true in said]
    seen = {}
    for low, high in BINS:
        inside = [(p, true) for p, true in turned if low <= p < high or p == high == 1]
        seen[f"{name} {low:g}"] = Seen(sum(true for _, true in inside), len(inside), sum(p for p, _ in inside))
    return {name: one for name, one in seen.items() if one.n}


def _field(game: str, low: float, high: float, games: int, unit: int, store: Store) -> dict[str, Seen]:
    """Plays a field of bots with `first` between two; the lower it is, the stronger they are."""
    unit += FRESH
    firsts = np.random.default_rng([7, unit]).uniform(low, high, AGENTS).round(6).tolist()
    agents = bots(unit, firsts)
    strength = {agent.full_text(): -first for agent, first in zip(agents, firsts, strict=True)}
    standings = tournament(store, game, agents, unit, games=games).standings()
    table, pairs = standings.ratings, standings.pairs
    known = zip(pairs["first"], pairs["second"], pairs["superiority"], strict=True)
    better = [(float(p), strength[first] > strength[second]) for first, second, p in known]
    strongest = max(strength, key=strength.__getitem__)
    best = zip(table["best_of_all"], table["agent"], strict=True)
    return _in_bins("better", better) | _of_best([(float(p), agent == strongest) for p, agent in best])


def _of_best(said: list[tuple[float, bool]]) -> dict[str, Seen]:
    """Returns how often the leader is the best of all, beside the stated probability."""
    likely, true = max(said)
    name = "best 0.5" if likely >= 0.5 else "best"
    return {name: Seen(int(true), 1, likely)}


def _promises(before: dict[str, str]) -> dict[str, Promise]:
    better = {}
    for low, high in BINS:
        text = f"better with {100 * low:g} to {100 * high:g} %"
        better[f"better {low:g}"] = Promise(text, Kind.OF_FIELD, before.get(f"{low:g}", ""))
    best = {
        "best": Promise("the likeliest best, said to be under 50 %", Kind.OF_FIELD),
        "best 0.5": Promise("the likeliest best, said to be over 50 %", Kind.OF_FIELD),
    }
    return better | best


def parts() -> list[Part]:
    """Returns the parts of this module."""
    fields = (
        ("yavalath", "wide", 0.1, 0.4, 40, {"0.85": "86.0 of 90.4", "0.95": "94.0 of 97.3"}),
        ("yavalath", "close", 0.1, 0.16, 40, {"0.85": "64 of 90.3", "0.95": "70 of 97.2", "0.99": "79 of 99.6"}),
        ("2048(size=4)", "wide", 0.1, 0.6, 50, {"0.85": "85.3 of 90.6", "0.95": "94.8 of 97.3"}),
        ("2048(size=4)", "close", 0.1, 0.25, 50, {"0.95": "69 of 97.1"}),
    )
    return [
        Part(
            f"{game} {name}",
            f"{game}, {name} field of {AGENTS}, {games} games of a group",
            240,
            functools.partial(_field, game, low, high, games),
            _promises(before),
        )
        for game, name, low, high, games, before in fields
    ]
