"""Pandas views of the store: matches, summaries with 95 % intervals, runs. Nothing here is stored."""

from __future__ import annotations

import contextlib
import functools
import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import select

from turnier.agents.registry import AGENTS
from turnier.arena.spec import Termination
from turnier.games.errors import UserError
from turnier.games.parameters import Registry
from turnier.games.registry import GAMES
from turnier.results.schema import matches, run_matches, runs, seats
from turnier.results.store import Store
from turnier.statistics.intervals import mean_interval, median_interval, share_interval

# The columns of matches_frame before the game's facts.
MATCH_COLUMNS = (
    "match",
    "run",
    "game",
    "seat",
    "agent",
    "label",
    "seed",
    "score",
    "result",
    "decisions",
    "nodes",
    "seat_seconds",
    "seconds",
    "termination",
    "seats",
)
_RESULTS = ("wins", "draws", "losses")
# A match that its limit of plies ended has a result; after a failure the scores do not say who won.
ENDED = (Termination.NORMAL.value, Termination.LIMIT.value)


def matches_frame(
    store: Store,
    run: str | None = None,
    kind: str | None = "tournament",
    game: str | None = None,
    agent: str | None = None,
) -> pd.DataFrame:
    """Returns one row per match and seat, ordered by run, match and seat.

    Args:
        store: where the matches are.
        run: only this run's matches; else those of all runs, each once, under the oldest run that has it.
        kind: only runs of this kind (tournament, study; None = all); not read where `run` is given.
        game: only this game, in any text form.
        agent: only this agent's seats, in any text form.

    Columns besides the stored ones: `label` (the agent's short text form), `result` (win: the largest score alone,
    draw: the largest score shared, loss; missing for games of one seat and after a failure), `seats` (of the match) and
    one for each fact of the game. `seconds` are those of the match, `seat_seconds` those of this seat's decisions (NaN
    where an older version played a match of several seats).
    """
    query = (
        select(
            matches.c.id.label("match"),
            run_matches.c.run_id.label("run"),
            matches.c.game,
            seats.c.seat,
            seats.c.agent,
            matches.c.seed,
            seats.c.score,
            seats.c.decisions,
            seats.c.nodes,
            store.database.stored(seats.c.seconds).label("seat_seconds"),
            matches.c.seconds,
            matches.c.termination,
            matches.c.facts,
        )
        .join_from(run_matches, runs, runs.c.id == run_matches.c.run_id)
        .join(matches, matches.c.number == run_matches.c.match_number)
        .join(seats, seats.c.match_number == matches.c.number)
        .order_by(runs.c.created, runs.c.id, matches.c.number, seats.c.seat)
    )
    if run is not None:
        query = query.where(run_matches.c.run_id == store.run(run).id)
    elif kind is not None:
        query = query.where(runs.c.kind == kind)
    if game is not None:
        query = query.where(matches.c.game.in_(_forms(GAMES, game)))
    agents = [] if agent is None else _forms(AGENTS, agent)
    if agents:
        query = query.where(matches.c.number.in_(select(seats.c.match_number).where(seats.c.agent.in_(agents))))
    with store.database.reading() as connection:
        result = connection.execute(query)
        frame = pd.DataFrame([tuple(row) for row in result], columns=list(result.keys())).astype(
            {"seat_seconds": float}
        )
    if run is None:
        frame = frame.drop_duplicates(["match", "seat"], ignore_index=True)
    frame = _with_facts(_with_results(frame))
    if agents:
        frame = frame[frame["agent"].isin(agents)].reset_index(drop=True)
    return frame


def _forms(registry: Registry[Any], text: str) -> list[str]:
    """Returns the texts that a game or an agent may be stored as: as typed, and with every parameter."""
    with contextlib.suppress(UserError):
        return [text, registry.make(text).full_text()]
    return [text]


@functools.lru_cache(maxsize=4096)
def label(agent: str) -> str:
    """Returns the short text form of an agent; one that is unknown today keeps its stored one."""
    with contextlib.suppress(UserError):
        return str(AGENTS.make(agent))
    return agent


def _with_results(frame: pd.DataFrame) -> pd.DataFrame:
    """Adds label, result and seats; the seats of a match stand together, the first is seat 0."""
    first = np.flatnonzero(frame["seat"].to_numpy() == 0)
    sizes = np.diff(np.append(first, len(frame)))
    scores = frame["score"].to_numpy(np.float64)
    best = np.repeat(_reduce(np.maximum, scores, first), sizes) == scores
    shared = np.repeat(_reduce(np.add, best.astype(np.int64), first), sizes) > 1
    num_seats = np.repeat(sizes, sizes)
    result = np.where(best, np.where(shared, "draw", "win"), "loss").astype(object)
    result[(num_seats == 1) | ~frame["termination"].isin(ENDED).to_numpy(bool)] = None
    labels = {text: label(text) for text in frame["agent"].unique()}
    seat_seconds = frame["seat_seconds"].where(frame["seat_seconds"].notna() | (num_seats > 1), frame["seconds"])
    added = frame.assign(
        seat_seconds=seat_seconds,
        label=frame["agent"].map(labels),
        result=pd.array(result, dtype="str"),
        seats=num_seats,
    )
    return added[[*MATCH_COLUMNS, "facts"]]


def _reduce(ufunc: np.ufunc, values: Any, first: Any) -> Any:
    return ufunc.reduceat(values, first) if len(first) else values


def _with_facts(frame: pd.DataFrame) -> pd.DataFrame:
    """Replaces the column of JSON texts by one column per fact; equal texts are read once."""
    codes, texts = pd.factorize(frame["facts"])
    facts = pd.DataFrame([json.loads(text) for text in texts], index=range(len(texts)))
    facts.columns = [f"{name} (fact)" if name in frame else name for name in facts.columns]
    return pd.concat([frame.drop(columns="facts"), facts.take(codes).set_index(frame.index)], axis=1)


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Returns one row per game and agent of a frame that `matches_frame` made.

    Columns: game, agent, label; games (an agent that plays itself counts once a seat); mean, half_width (of the mean's
    95 % interval, Student's t), median, median_low and median_high (its 95 % interval), std, best;
    decisions_per_second (of its own seats' time), nodes_per_decision; failures (illegal actions, errors) and unfinished
    (limit of plies reached); for games of two and more seats wins, draws, losses, win_rate, win_rate_low and
    win_rate_high (Wilson 95 %, of the games with a result); and for every milestone, for instance, `max_tile>=2048`,
    `max_tile>=2048_low` and `max_tile>=2048_high`: the share of games that reached it and its Wilson 95 % interval.
    """
    rows = [_summary_row(str(game), str(agent), part) for (game, agent), part in frame.groupby(["game", "agent"])]
    table = pd.DataFrame(rows) if rows else pd.DataFrame(columns=list(_summary_row("", "", frame)))
    return table.astype(dict.fromkeys(_RESULTS, "Int64"))


def _summary_row(game: str, agent: str, part: pd.DataFrame) -> dict[str, Any]:
    scores = np.sort(part["score"].to_numpy(np.float64))  # sums must not depend on the order of playing
    n = len(scores)
    mean, half_width = mean_interval(scores.tolist())
    timed = part[part["seat_seconds"].notna()]
    seconds, decisions = float(timed["seat_seconds"].sum()), int(part["decisions"].sum())
    row: dict[str, Any] = {
        "game": game,
        "agent": agent,
        "label": label(agent),
        "games": n,
        "mean": mean,
        "half_width": half_width,
        **dict(zip(("median", "median_low", "median_high"), median_interval(scores.tolist()), strict=True)),
        "std": float(np.std(scores, ddof=1)) if n > 1 else math.nan,
        "best": float(scores.max()) if n else math.nan,
        "decisions_per_second": float(timed["decisions"].sum()) / seconds if seconds > 0 else math.nan,
        "nodes_per_decision": float(part["nodes"].sum()) / decisions if decisions else math.nan,
        "failures": int((~part["termination"].isin(ENDED)).sum()),
        "unfinished": int((part["termination"] == Termination.LIMIT.value).sum()),
    }
    row |= _wins(part)
    for fact, thresholds in _milestones(game).items():
        values = part[fact].dropna() if fact in part else pd.Series(dtype=float)
        for threshold in thresholds:
            row |= _share(f"{fact}>={threshold}", int((values >= threshold).sum()), len(values))
    return row


def _wins(part: pd.DataFrame) -> dict[str, Any]:
    wins, draws, losses = counts = [int((part["result"] == result).sum()) for result in ("win", "draw", "loss")]
    shown = dict(zip(_RESULTS, counts if (part["seats"] > 1).any() else [None] * 3, strict=True))
    return shown | _share("win_rate", wins, wins + draws + losses)


def seat_summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Returns one row per game, agent and seat of the games with several seats in a frame of `matches_frame`.

    Columns: game, agent, label, seat, games, wins, draws, losses, win_rate, win_rate_low and win_rate_high (Wilson
    95 %, of the games with a result): what moving first or last is worth to an agent.
    """
    several = frame[frame["seats"] > 1]
    rows = [
        {"game": game, "agent": agent, "label": label(agent), "seat": int(seat), "games": len(part), **_wins(part)}
        for (game, agent, seat), part in several.groupby(["game", "agent", "seat"])
    ]
    columns = ["game", "agent", "label", "seat", "games", *_RESULTS, "win_rate", "win_rate_low", "win_rate_high"]
    return pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(_RESULTS, "Int64"))


def _share(name: str, hits: int, n: int) -> dict[str, float]:
    return dict(zip((name, f"{name}_low", f"{name}_high"), share_interval(hits, n), strict=True))


def _milestones(game: str) -> Mapping[str, tuple[int, ...]]:
    with contextlib.suppress(UserError):
        return GAMES.make(game).milestones if game else {}
    return {}


def runs_frame(store: Store) -> pd.DataFrame:
    """Returns one row per run, the oldest first: run, kind, name, created (UTC), matches, environment, definition."""
    counts = store.match_counts()
    rows = [
        {
            "run": run.id,
            "kind": run.kind,
            "name": run.name,
            "created": run.created,
            "matches": counts.get(run.id, 0),
            **{key: run.environment.get(key) for key in ("turnier", "python", "machine", "cpus")},
            "definition": run.definition,
        }
        for run in store.runs()
    ]
    columns = ["run", "kind", "name", "created", "matches", "turnier", "python", "machine", "cpus", "definition"]
    return pd.DataFrame(rows, columns=columns).assign(created=lambda f: pd.to_datetime(f["created"], utc=True))


def to_json(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Returns the rows as plain dicts for json.dumps, with None where there is no number."""
    return [{str(key): _plain(value) for key, value in row.items()} for row in table.to_dict("records")]


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, pd.Timestamp):
        return None if pd.isna(value) else value.isoformat()
    if value is pd.NaT or value is pd.NA or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return value
