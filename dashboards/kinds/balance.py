"""Searches for balance: the variants of a game, and the verdict on the one that the search proposes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pandas as pd

from turnier.dashboards.kinds.games import GAMES
from turnier.dashboards.sections import Copy, Drawing, Head, Section, Text
from turnier.dashboards.tables import MAIN, Column, Table
from turnier.results.frames import json_rows
from turnier.runs.results import RunResults
from turnier.search.balance.results import BalanceResults

BEGIN = 'turnier tune "go(size=5,komi=0.5)" "mcts(iterations=100)" --parameters komi=0.5..24.5:4 --balance 5'


class Data(NamedTuple):
    """The data of a search for balance."""

    sentence: str
    equal: float  # in %
    variants: pd.DataFrame
    held_out: pd.DataFrame


def _results(results: RunResults) -> BalanceResults:
    return results if isinstance(results, BalanceResults) else BalanceResults.find(results.store, results.id)


def read(results: RunResults) -> Data:
    found = _results(results)
    return Data(found.sentence, 100 * found.balance.equal, found.variants(), found.held_out())


def head(results: RunResults) -> Head:
    """Returns the verdict."""
    return Head(_results(results).sentence)


def sections(data: Data) -> Iterator[Section]:
    about = "First seat: its share of the points, the same agent in all seats; 95 % intervals."
    share = Column("first", "first seat", "%", 100, low="first_low", high="first_high", short=True, importance=MAIN)
    if data.variants["first"].isna().all():
        yield Text("No round has been played yet.")
        return
    if len(data.held_out):
        named = [Column("which", "variant", key=True), Column("variant", "game"), share, Column("verdict"), GAMES]
        yield Table("Held-out games", data.held_out, named, about)
        yield Copy(str(data.held_out["variant"].iloc[0]), "the proposed variant")
    columns = [Column("variant", key=True), share, Column("rounds"), GAMES]
    yield Table("The search", data.variants, columns, f"{about} The proposed variant is the first.")
    yield Drawing("games.balance.shares", (data.variants, data.equal))


def to_json(data: Data) -> Any:
    return {
        "verdict": data.sentence,
        "variants": json_rows(data.variants),
        "held_out": json_rows(data.held_out),
    }
