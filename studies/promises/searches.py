"""Certainty: intervals of repeated searches of agents whose agreement is known or measured in a long run."""

from __future__ import annotations

import functools
import math
from typing import Any

import pandas as pd

from turnier.agents.registry import make_agent
from turnier.arena.workers.where import Where
from turnier.results.store.store import Store
from turnier.runs.certainty import Certainty
from turnier.studies.promises.games import passing_store
from turnier.studies.promises.tally import Kind, Part, Promise, Seen

AGENTS = ("random", "mc(iterations=3)")
STATES = 3  # positions of a group
LONG = {"tictactoe": (150, 250), "connect_four": (40, 500)}  # positions of a group, games


def _measured(store: Store, game: str, seed: int, states: int, games: int) -> Any:
    plan = Certainty(game, AGENTS, states=states, repeats=10, games=games, seed=seed)
    return plan.run(store, where=Where("serial", 1), progress=False)


@functools.cache
def _truth(game: str) -> pd.DataFrame:
    """Returns the groups of a long run; `random` agrees with itself exactly as often as by chance."""
    with passing_store() as store:
        groups = _measured(store, game, 12345, *LONG[game]).groups()
    groups.loc[groups["label"] == AGENTS[0], "agreement"] = 0.0
    return groups.set_index(["agent", "legal", "phase"])["agreement"]


def _agreement(game: str, games: int, unit: int, store: Store) -> dict[str, Seen]:
    results, truth = _measured(store, game, unit + 1, STATES, games), _truth(game)
    groups, seen = results.groups(), {}
    known = truth.reindex(pd.MultiIndex.from_frame(groups[["agent", "legal", "phase"]])).to_numpy(float)
    for row in results.agents().itertuples():
        own = (groups["agent"] == row.agent).to_numpy()
        mean = float(known[own].mean())  # NaN if the long run lacks one of the groups
        if not math.isnan(mean) and not math.isnan(row.agreement_low):
            seen[f"agent {row.label}"] = Seen(int(row.agreement_low <= mean <= row.agreement_high), 1)
    held = (groups["agreement_low"] <= known) & (known <= groups["agreement_high"])
    told = groups["agreement_low"].notna() & ~pd.isna(known)
    return seen | {"groups": Seen(int(held[told].sum()), int(told.sum()))} if told.any() else seen


def parts() -> list[Part]:
    """Returns the parts of this module."""
    rows = {
        **{f"agent {make_agent(name)}": Promise(f"agreement of {name}", Kind.INTERVAL) for name in AGENTS},
        "groups": Promise("agreement in a group", Kind.AT_LEAST),
    }
    found = []
    measured = (("tictactoe", 4, 60, "90.8"), ("connect_four", 4, 30, "67.9"), ("connect_four", 40, 15, "76.4"))
    for game, games, units, before in measured:
        known = {name: row._replace(before=before if "random" in name else "") for name, row in rows.items()}
        measure = functools.partial(_agreement, game, games)
        text = f"certainty, {game}, positions of {games} games"
        found.append(Part(f"certainty {game} {games}", text, units, measure, known))
    return found
