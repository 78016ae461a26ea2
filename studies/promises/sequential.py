"""Procedures that stop by their results, and their estimates: comparisons, verdicts of studies, adaptive
tournaments."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from turnier.agents.agent import Agent
from turnier.arena.play import play_matches
from turnier.arena.schedules.duel import Duel
from turnier.games.registry import GAMES
from turnier.results.store.store import Store
from turnier.search.verdict import gain
from turnier.statistics.sprt import Verdict, elo_of_share
from turnier.statistics.superiority import MAX_ROUNDS, MIN_UNITS, Superiority
from turnier.studies.promises.games import bot, bots, equal_bots, long_run, scores, true_share
from turnier.studies.promises.tally import Kind, Part, Promise, Seen
from turnier.studies.promises.tournaments import held, tournament
from turnier.studies.verdicts import CHALLENGERS, REFERENCES, simulate_study

BETTER, WORSE = 0.0, 0.5  # how often the proposed agent and the start of a study play the first legal action
HELD_OUT = 1200  # maximum games of a study
_NAMED = ("start", "proposed")


def _truth(game: str, first: float) -> float:
    """Returns the compared value: the share of points of a bot of that strength, or the ratio of its mean score."""
    single = GAMES.make(game).num_seats == 1
    if not first:
        return 1.0 if single else 0.5
    if not single:
        return true_share(game, first)
    one, other = (long_run(game, bot(i, f).full_text()) for i, f in ((1, first), (2, 0.0)))
    return float(one.mean() / other.mean())


def _compared(game: str, first: float, options: dict[str, Any], unit: int, store: Store) -> dict[str, Seen]:
    truth, made = _truth(game, first), GAMES.make(game)
    agents = bot(2 * unit + 1000, first), bot(2 * unit + 1001)
    duel = Duel(made, agents, unit, own_seeds=True, **options)
    rounds = duel.rounds()
    specs = next(rounds, None)
    while specs is not None:
        try:
            specs = rounds.send(play_matches(specs))
        except StopIteration:
            break
    shown, test = duel.test.estimate, duel.test
    right = {Verdict.STRONGER: truth > test.middle, Verdict.WEAKER: truth < test.middle}
    right |= {Verdict.EQUAL: test.low < truth < test.high, Verdict.UNDECIDED: True}
    inside = Seen(int(shown.low <= truth <= shown.high), 1)
    apart = 100 * (shown.value - truth) if made.num_seats == 1 else elo_of_share(shown.value) - elo_of_share(truth)
    outward = apart if truth >= test.middle else -apart
    seen = {"wrong": Seen(int(not right[test.verdict]), 1), "interval": inside}
    if first:
        seen["shown"] = Seen(outward, 1)
    return seen | ({"claimed": inside} if test.verdict in (Verdict.STRONGER, Verdict.WEAKER) else {})


class _HeldOut:
    """Games on common seeds of the finalists of a study, for `simulate_study`."""

    def __init__(self, game: str, agents: dict[str, Agent], unit: int) -> None:
        self._game, self._agents, self._unit = game, agents, unit
        self.values: dict[str, list[float]] = {label: [] for label in agents}

    def play(self, label: str, units: int) -> npt.NDArray[np.float64]:
        known = self.values[label]
        new = scores(self._game, self._agents[label], units, "held out", self._unit, start=len(known))
        known += new.tolist()
        return new


def _equal_study(game: str, unit: int, store: Store) -> dict[str, Seen]:
    labels = [*REFERENCES, *CHALLENGERS]
    held_out = _HeldOut(game, dict(zip(labels, equal_bots(unit, len(labels)), strict=True)), unit)
    better = simulate_study(held_out.play, CHALLENGERS, REFERENCES, HELD_OUT).better
    return {"better": Seen(int(better is not None), 1)}


def _improving_study(game: str, unit: int, store: Store) -> dict[str, Seen]:
    start, proposed = bots(unit, (WORSE, BETTER))
    held_out = _HeldOut(game, dict(zip(_NAMED, (start, proposed), strict=True)), unit)
    test = Superiority(_NAMED[1:], _NAMED[:1], min(MAX_ROUNDS, HELD_OUT // (MIN_UNITS * len(_NAMED))))
    ended = simulate_study(held_out.play, _NAMED[1:], _NAMED[:1], HELD_OUT, test)
    means = [float(long_run(game, bot(1, first).full_text()).mean()) for first in (BETTER, WORSE)]
    truth = 100 * (means[0] / means[1] - 1)
    own, other = (held_out.values[name][: ended.units] for name in ("proposed", "start"))
    value, low, high, _ = gain(own, other, scores=True, critical=test.critical["proposed"][ended.units])
    seen = {"gain": Seen(int(low <= truth <= high), 1), "shown": Seen(value - truth, 1)}
    return seen | ({"gain found": seen["gain"], "shown found": seen["shown"]} if ended.better else {})


def _adaptive(game: str, firsts: Sequence[float], options: dict[str, Any], unit: int, store: Store) -> dict[str, Seen]:
    agents = bots(unit, firsts)
    results = tournament(store, game, agents, unit, format="adaptive", **options)
    adaptive, top = results.adaptive, options["top"]
    assert adaptive is not None
    said = adaptive.certainty >= 0.95
    equal = len(set(firsts)) == 1
    true = [agents[i].full_text() for i in np.argsort(firsts)[:top]]  # the lower the stronger
    seen = {"certain": Seen(int(said and (equal or adaptive.leaders() != true)), 1)}
    return seen | ({"elo": held(results.ratings(full=True), "elo", 0.0)} if equal else {})


def _comparisons() -> list[Part]:
    duels: tuple[tuple[str, float, dict[str, Any], int, str, dict[str, str]], ...] = (
        ("tictactoe", 0.0, {}, 150, "equal", {"wrong": "2.4", "interval": "96.3"}),
        ("tictactoe", 0.0, {"margin": 100.0}, 240, "equal, margin 100 Elo", {"wrong": "0.6", "interval": "97.6"}),
        ("connect_four", 0.05, {}, 270, "half a margin apart", {"interval": "93.4", "claimed": "86.3", "shown": "1.5"}),
        ("yavalath", 0.12, {}, 120, "a margin apart", {"wrong": "1.9", "interval": "92.4", "shown": "5.9"}),
        ("yavalath", 0.3, {}, 180, "far apart", {"wrong": "0", "interval": "96.4", "shown": "14.3"}),
        ("yavalath(players=3)", 0.0, {}, 48, "equal", {"wrong": "2.6", "interval": "96.3"}),
        ("2048(size=2)", 0.0, {}, 90, "equal", {"wrong": "4.7", "interval": "92.6"}),
        ("2048(size=3)", 0.0, {"margin": 0.2}, 180, "equal, margin 20 %", {"wrong": "2.3"}),
        ("2048(size=4)", 0.3, {}, 120, "a margin apart", {"wrong": "0", "interval": "91.8", "shown": "1.3"}),
    )
    found = []
    for game, first, options, units, told, before in duels:
        unit = "percentage points" if GAMES.make(game).num_seats == 1 else "Elo"
        rows = {
            "wrong": Promise("wrong verdict", Kind.AT_MOST),
            "interval": Promise("interval", Kind.AT_LEAST),
            "claimed": Promise("interval if one is better", Kind.AT_LEAST),
            "shown": Promise(f"difference shown too large, {unit}", Kind.SHOWN),
        }
        rows = {name: row._replace(before=before.get(name, "")) for name, row in rows.items()}
        kept = {name: row for name, row in rows.items() if first or name in ("wrong", "interval")}
        measure = functools.partial(_compared, game, first, options)
        found.append(Part(f"compare {game} {told}", f"compare, {game}, {told}", units, measure, kept, public=False))
    return found


def _studies() -> list[Part]:
    equal = {"better": Promise("recommends one of them", Kind.AT_MOST)}
    improving = {
        "gain": Promise("interval of the gain", Kind.AT_LEAST, "90.8"),
        "gain found": Promise("interval of the gain if it recommends", Kind.AT_LEAST, "89.0"),
        "shown": Promise("gain shown too large, percentage points", Kind.SHOWN),
        "shown found": Promise("gain shown too large if it recommends, percentage points", Kind.SHOWN, "6.4"),
    }
    game, text = "2048(size=4)", "study, 2048(size=4)"
    return [
        Part("study equal", f"{text}, 6 equal finalists", 120, functools.partial(_equal_study, game), equal, False),
        Part("study gain", f"{text}, a better one", 400, functools.partial(_improving_study, game), improving, False),
    ]


def _adaptives() -> list[Part]:
    certain = Promise("a wrong order called 95 % certain", Kind.AT_MOST)
    fields: tuple[tuple[tuple[float, ...], dict[str, Any], int, str, str, str], ...] = (
        ((0.0,) * 4, {"games": 1000, "top": 1}, 72, "4 equal bots", "13.5", "71.6"),
        ((0.0,) * 8, {"games": 1000, "top": 1}, 18, "8 equal bots", "0.3", "73.3"),
        ((0.0,) * 6, {"games": 1000, "top": 3}, 15, "6 equal bots, 3 places", "", "61.1"),
        ((0.10, 0.13, 0.2, 0.3), {"games": 1000, "top": 1}, 48, "4 close bots", "10.5", ""),
        ((0.10, 0.2, 0.3, 0.4), {"games": 1000, "top": 1}, 24, "4 bots far apart", "2.3", ""),
    )
    found = []
    for firsts, options, units, told, wrong, elo in fields:
        rows = {"certain": certain._replace(before=wrong)}
        if not any(firsts):
            rows["elo"] = Promise("Elo", Kind.AT_LEAST, elo)
        game = "yavalath" if any(firsts) else "tictactoe"
        measure = functools.partial(_adaptive, game, firsts, options)
        found.append(Part(f"adaptive {told}", f"adaptive, {game}, {told}, 1,000 games", units, measure, rows))
    return found


def parts() -> list[Part]:
    """Returns the parts of this module."""
    return [*_comparisons(), *_studies(), *_adaptives()]
