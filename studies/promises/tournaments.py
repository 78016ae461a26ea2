"""Tournaments: intervals of points, differences and Elo, places, stars, fit, and the worth of seats."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from turnier.agents.agent import Agent
from turnier.arena.workers.where import Where
from turnier.games.registry import GAMES
from turnier.results.frames.fields import RatedField
from turnier.results.frames.meetings import meetings_of
from turnier.results.store.store import Store
from turnier.runs.stored.tournament import TournamentResults
from turnier.runs.tournament import Tournament
from turnier.statistics.ratings import Ratings
from turnier.studies.promises.games import bot, bots, equal_bots, long_run, passing_store
from turnier.studies.promises.tally import Kind, Part, Promise, Seen

LONG = 4000  # games of a group in a long run, whose ratings are the truth


def tournament(store: Store, game: str, agents: Sequence[Agent], unit: int, **options: Any) -> TournamentResults:
    """Plays one tournament, in this thread."""
    made = Tournament(game, agents, seed=unit + 1, **options)
    return made.run(store, where=Where("serial", 1), progress=False)


def held(table: pd.DataFrame, name: str, truth: Any) -> Seen:
    """Returns how often the intervals of a column hold the truth; rows without an interval do not count."""
    low, high = (table[f"{name}_{end}"].to_numpy(np.float64) for end in ("low", "high"))
    return Seen(int(((low <= truth) & (truth <= high)).sum()), int((~np.isnan(low)).sum()))


def _equal(game: str, count: int, options: Mapping[str, Any], unit: int, store: Store) -> dict[str, Seen]:
    agents = equal_bots(unit, count)
    results = tournament(store, game, agents, unit, **options)
    standings, seats = results.standings(), GAMES.make(game).num_seats
    table, pairs = standings.ratings, standings.pairs
    beside = results.ratings(anchor=agents[0], full=True)
    beside = beside[beside["elo"] != 0]
    return {
        "points": held(table, "points_share", 1 / seats),
        "crosstable": held(pairs, "points_share", 0.5),
        "difference": held(pairs, "difference", 0.0),
        "elo": held(table, "elo", 0.0),
        "elo difference": held(beside, "elo", 0.0),
        **_claims(table, pairs),
        "fit": Seen(int(table["fit_p"].iloc[0] < 0.05), 1),
    }


def _claims(table: pd.DataFrame, pairs: pd.DataFrame) -> dict[str, Seen]:
    """Returns the claims on the order of equal agents."""
    everywhere = (table["rank_low"] == 1).all() and (table["rank_high"] == len(table)).all()
    return {
        "places": Seen(int(everywhere), 1),
        "p": Seen(int((pairs["p"] < 0.05).sum()), len(pairs)),
        "stars": Seen(int((pairs["p_holm"] < 0.05).any()), 1),
    }


def _nash(game: str, count: int, options: Mapping[str, Any], unit: int, store: Store) -> dict[str, Seen]:
    table = tournament(store, game, equal_bots(unit, count), unit, **options).ratings(nash=True, full=True)
    return {"nash": held(table, "nash", 0.5)}


@functools.cache
def _long_ratings(game: str, firsts: tuple[float, ...]) -> Ratings:
    """Returns the ratings of bots of that strength, in that order, after a long run of the same groups."""
    agents = bots(0, firsts)
    with passing_store() as store:
        met = meetings_of(tournament(store, game, agents, 0, games=LONG).frame())
    place = np.array([met.agents.index(agent.full_text()) for agent in agents])
    return RatedField.of(met).ratings.chosen(place)


def _unequal(
    game: str, firsts: tuple[float, ...], options: Mapping[str, Any], unit: int, store: Store
) -> dict[str, Seen]:
    truth, agents = _long_ratings(game, firsts).elo, bots(unit + 1, firsts)
    table = tournament(store, game, agents, unit, **options).ratings(full=True)
    place = {agent.full_text(): i for i, agent in enumerate(agents)}
    order = np.array([place[agent] for agent in table["agent"]])
    true_rank = 1 + np.argsort(np.argsort(-truth))[order]
    inside = (table["rank_low"] <= true_rank) & (true_rank <= table["rank_high"])
    return {"elo": held(table, "elo", truth[order]), "places": Seen(int(inside.all()), 1)}


def _seats(game: str, count: int, options: Mapping[str, Any], unit: int, store: Store) -> dict[str, Seen]:
    truth = [gain.value for gain in _long_ratings(game, (0.0,) * count).seats]
    frame = tournament(store, game, equal_bots(unit, count), unit, **options).frame()
    gains = RatedField.of(meetings_of(frame)).ratings.seats  # none if they do not differ
    found = zip(gains, truth, strict=False)
    held = [gain.low <= true <= gain.high for gain, true in found]
    return {"seat": Seen(sum(held), len(held))} if held else {}


def _scored(game: str, count: int, options: Mapping[str, Any], unit: int, store: Store) -> dict[str, Seen]:
    standings = tournament(store, game, equal_bots(unit, count), unit, **options).standings()
    table, pairs = standings.ratings, standings.pairs
    return {
        "mean": held(table, "mean", float(long_run(game, bot(1).full_text()).mean())),
        "difference": held(pairs, "difference", 0.0),
        **_claims(table, pairs),
    }


_TEXTS = {
    "points": Promise("points share in the list", Kind.AT_LEAST),
    "crosstable": Promise("points share of two", Kind.AT_LEAST),
    "difference": Promise("difference of two", Kind.INTERVAL),
    "elo": Promise("Elo", Kind.INTERVAL),
    "elo difference": Promise("difference in Elo", Kind.INTERVAL),
    "places": Promise("places of all at once", Kind.AT_LEAST),
    "p": Promise("p < 0.05 for two", Kind.AT_MOST),
    "stars": Promise("any star", Kind.AT_MOST),
    "fit": Promise("one rating said not to explain the results", Kind.AT_MOST),
}


_MEAN = Promise("mean in the list", Kind.FEW)


def _promises(before: str, wide: Sequence[str] = ()) -> dict[str, Promise]:
    """Returns the rows of a field of equal agents; `before` has figures as `name=figure`, commas between."""
    known = dict(item.split("=") for item in before.split(",") if item)
    rows = {name: row._replace(before=known.get(name, "")) for name, row in _TEXTS.items()}
    return {name: row._replace(kind=Kind.AT_LEAST) if name in wide else row for name, row in rows.items()}


# game, agents, options, units, earlier figures, and the words for it
_FIELDS: tuple[tuple[str, int, dict[str, Any], int, str, str], ...] = (
    ("tictactoe", 10, {"games": 20}, 60, "points=92.1,crosstable=96.3,difference=95.1,p=1.4,stars=0", ""),
    ("tictactoe", 10, {"games": 100}, 36, "points=91.5,crosstable=96.1,p=4.4,stars=5.0", ""),
    ("tictactoe", 6, {"games": 20}, 120, "", ""),
    ("tictactoe", 6, {"games": 4}, 240, "", ""),
    ("tictactoe", 6, {"games": 15, "exactly": True}, 60, "difference=92.9", ", exactly"),
    ("yavalath(players=3)", 5, {"games": 12}, 60, "", ""),
    (
        *("yavalath(players=3)", 5, {"games": 60}, 24),
        *("points=91.3,crosstable=91.4,difference=91.5,elo=88.8,p=7.1,stars=6.3", ""),
    ),
    (
        *("spe_ed(players=3)", 6, {"games": 24}, 42),
        *("points=41.9,crosstable=54.1,difference=60.7,elo=48.3,p=34.9,stars=83.3", ""),
    ),
    (
        *("spe_ed(players=4)", 5, {"games": 40}, 96),
        *("points=76.8,crosstable=81.3,difference=79.1,elo=74.8,p=18.9,stars=31.3", ""),
    ),
    (
        *("spe_ed(players=4)", 4, {"games": 40}, 60),
        *("points=94.7,crosstable=96.7,difference=95.4,elo=97.2,stars=2.5", ""),
    ),
    ("tictactoe", 8, {"games": 20, "format": "swiss"}, 48, "difference=95.9,elo=90.8", ", Swiss"),
    ("tictactoe", 16, {"games": 40, "format": "swiss", "rounds": 4}, 15, "elo=85.2", ", Swiss of 4 rounds"),
    ("tictactoe", 8, {"games": 20, "format": "gauntlet"}, 36, "elo=95.8", ", gauntlet"),
)


def parts() -> list[Part]:
    """Returns the parts of this module."""
    found = []
    for game, count, options, units, before, told in _FIELDS:
        text = f"{game}, {count} equal bots, {options['games']} games of a group{told}"
        chosen = options.get("format") == "swiss"
        wide = ("elo",) if chosen else ("difference", "elo", "elo difference") if options["games"] == 4 else ()
        promises = _promises(before, wide)
        if told:  # promises that the format does not affect are left out
            kept = ("points", "difference", "elo", "places", "stars") if chosen else ("points", "difference", "elo")
            promises = {name: promises[name] for name in kept}
        for name in ("places", "stars") if chosen else ():
            promises[name] = promises[name]._replace(kind=Kind.NONE)
        measure = functools.partial(_equal, game, count, options)
        found.append(Part(f"{game} {count} {options['games']}{told}", text, units, measure, promises))
    field = (0.1, 0.15, 0.2, 0.25, 0.3, 0.4)
    unequal = {"elo": _TEXTS["elo"], "places": _TEXTS["places"]}
    for games, units in ((8, 90), (40, 60)):
        text = f"yavalath, 6 bots of different strength, {games} games of a group"
        measure = functools.partial(_unequal, "yavalath", field, {"games": games})
        found.append(Part(f"yavalath unequal {games}", text, units, measure, unequal))
    six = "tictactoe", 6, {"games": 20}
    nash = {"nash": Promise("Nash average", Kind.AT_LEAST)}
    seat = {"seat": Promise("what a seat is worth", Kind.INTERVAL)}
    text = "tictactoe, 6 equal bots, 20 games of a group"
    found.append(Part("nash", text, 24, functools.partial(_nash, *six), nash))
    found.append(Part("seats", text, 72, functools.partial(_seats, *six), seat, public=False))
    three = "yavalath(players=3)", 4, {"games": 300}
    text = "yavalath(players=3), 4 equal bots, 300 games of a group"
    found.append(Part("seats of three", text, 40, functools.partial(_seats, *three), seat, public=False))
    for game, p, stars in (("2048(size=2)", "4.6", "3.0"), ("2048(size=3)", "4.5", "1.7")):
        text, known = f"{game}, 10 equal bots, 20 games each", _promises(f"p={p},stars={stars}")
        rows = {name: known[name] for name in ("difference", "places", "p", "stars")}
        measure = functools.partial(_scored, game, 10, {"games": 20})
        found.append(Part(f"list of {game}", text, 72, measure, {"mean": _MEAN, **rows}))
    return found
