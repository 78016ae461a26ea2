"""The games of a run, a row for each: agents, scores, length and end; chosen by agents, result and order."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from turnier.agents.registry import make_agent
from turnier.core.errors import UserError, unknown
from turnier.core.number_text import counted, number
from turnier.dashboards.agent_names import distinct
from turnier.dashboards.links import match_address
from turnier.dashboards.tables import MAIN, Column, Table
from turnier.results.failures import SHOWN_ID, VOID, cause_text
from turnier.results.frames.matches import UNFINISHED, WITH_RESULT
from turnier.results.match_list import full_ids
from turnier.results.store.store import Store

ORDERS = ("latest", "longest", "shortest", "largest score", "smallest score")
RESULTS = ("won", "drawn", "lost", "failed")
_OF_AGENT = {"won": "win", "drawn": "draw", "lost": "loss"}


class Chosen(NamedTuple):
    """Games to list: of these agents (full texts), with this result of the first of them, in this order; of a game."""

    agents: Sequence[str] = ()
    result: str = ""
    order: str = ORDERS[0]
    game: str = ""


def agents_of(frame: pd.DataFrame) -> Mapping[str, str]:
    """Returns the names of a run's agents by full text."""
    pairs = frame[["agent", "label"]].drop_duplicates()
    names = distinct(pairs["label"].astype(str))
    return {str(agent): names[str(label)] for agent, label in pairs.itertuples(index=False)}


def full_texts(asked: Iterable[str], names: Mapping[str, str]) -> tuple[str, ...]:
    """Returns the full texts of agents that are named by any text form or by name, each once.

    Raises UserError if one is not among `names`, see `agents_of`.
    """
    texts = {name: text for text, name in names.items()} | {text: text for text in names}
    found = {}
    for one in asked:
        text = texts.get(one, "")
        with contextlib.suppress(UserError):
            text = text or make_agent(one).full_text()
        if text not in names:
            raise unknown("agent", one, list(names.values()))
        found[text] = one
    return tuple(found)


def matching(frame: pd.DataFrame, chosen: Chosen) -> pd.DataFrame:
    """Returns a row for each game that was chosen, in order: match, moves, score, termination, seed, failed, void."""
    kept = frame[frame["game"] == chosen.game] if chosen.game else frame
    for agent in chosen.agents:
        having = frame.loc[frame["agent"] == agent, "match"]
        kept = kept[kept["match"].isin(having)]
    void = ~kept["termination"].isin([*WITH_RESULT, *UNFINISHED])  # nobody's fault, and so without a seat that failed
    kept = kept.assign(bad=kept["failed"] | void, void=void)
    if chosen.result == "failed":
        failed = kept["bad"] & (kept["agent"] == chosen.agents[0] if chosen.agents else True)
        kept = kept[kept["match"].isin(kept.loc[failed, "match"])]
    elif chosen.result and chosen.agents:
        own = (kept["agent"] == chosen.agents[0]) & (kept["result"] == _OF_AGENT[chosen.result])
        kept = kept[kept["match"].isin(kept.loc[own, "match"])]
    rows = kept.groupby("match", sort=False).agg(
        moves=("decisions", "sum"), score=("score", "max"), termination=("termination", "first"),
        seed=("seed", "first"), failed=("bad", "any"), void=("void", "any"),
    ).reset_index()  # fmt: skip
    if chosen.order == ORDERS[0]:
        return rows[::-1].reset_index(drop=True)
    by = "moves" if chosen.order in ORDERS[1:3] else "score"
    return rows.sort_values(by, ascending=chosen.order.startswith(("short", "small")), kind="stable", ignore_index=True)


def games_table(
    store: Store, run: str, frame: pd.DataFrame, rows: pd.DataFrame, found: int, short: bool = False
) -> Table:
    """Returns the games of some rows of `matching` with links to the board.

    `found` is the number of all games that match; a short table has no ids.
    """
    names, ids = agents_of(frame), full_ids(store, rows["match"].tolist())
    seats = frame[frame["match"].isin(rows["match"])].sort_values(["match", "seat"], kind="stable")
    texts = {
        match: " : ".join(f"{number(s)} {names[str(a)]}" for s, a in part[["score", "agent"]].itertuples(index=False))
        for match, part in seats.groupby("match", sort=False)
    }
    known = rows[rows["match"].isin(ids.keys())]
    shown = known.assign(
        game=known["match"].map(texts),
        end=[
            VOID if void else cause_text(str(end)) if bad else str(end)
            for end, bad, void in zip(known["termination"], known["failed"], known["void"], strict=True)
        ],
        full_id=[ids[match] for match in known["match"]],
        id=[ids[match][:SHOWN_ID] for match in known["match"]],
        board=[match_address(run, ids[match]) for match in known["match"]],
        seed=known["seed"].astype(str),
    )
    columns = [
        Column("game", "score and agent of each seat", key=True),
        Column("moves", "moves", importance=MAIN),
        Column("end"),
        *([] if short else [Column("seed"), Column("id", "match")]),
        Column("board", link=True),
    ]
    note = f"{len(rows):,} of {found:,} games." if len(rows) < found else f"{counted(found, 'game')}."
    return Table("Games", shown.reset_index(drop=True), columns, note)
