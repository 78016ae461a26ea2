"""Pandas views of the store: matches, summaries with 95 % intervals, runs. Nothing here is stored."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...agents.registry import AGENTS, label_of
from ...arena.match import Termination
from ...core.errors import UserError
from ...core.parameters import Registry
from ...games.registry import GAMES
from ...statistics.intervals import mean_interval, median_interval, share_interval, shares_of_units
from ..outage import outlasting
from ..store.columns import Array, MatchColumns, Texts
from ..store.store import Store
from .repeats import repeats_among

# The columns of matches_frame before the game's facts.
MATCH_COLUMNS = (
    "match", "run", "game", "seat", "agent", "label", "seed", "score", "result", "points", "decisions", "nodes",
    "seat_seconds", "seat_cpu_seconds", "seconds", "termination", "seats", "failed", "repeat",
)  # fmt: skip
_RESULTS = ("draw", "loss", "win")
_COUNTS = ("wins", "draws", "losses")
LEAST_MILESTONES = 4  # shown even if never reached
SHARES = (
    *("points", "points_share", "points_share_low", "points_share_high"),
    *_COUNTS,
    *("win_rate", "win_rate_low", "win_rate_high"),
)
PLAYED = ("tournament", "play")  # kinds of runs whose games may be compared with each other
FAILED = [termination.value for termination in Termination if termination.is_failure]
WITH_RESULT = [termination.value for termination in Termination if termination.has_result]
UNFINISHED = [Termination.UNFINISHED.value]


@outlasting
def matches_frame(
    store: Store,
    run: str | None = None,
    kind: str | Collection[str] | None = PLAYED,
    game: str | None = None,
    agent: str | None = None,
    ids: bool = True,
    variants: bool = False,
    only: Collection[str] | None = None,
) -> pd.DataFrame:
    """Returns one row per match and seat, ordered by run, match and seat.

    Args:
        store: where the matches are.
        run: only this run's matches; otherwise those of all runs, each once, under the oldest run that has it.
        kind: only runs of this kind or these (tournament, study, ...; None = all); ignored if `run` is given.
        game: only this game, in any text form.
        agent: only this agent's seats, in any text form.
        ids: whether the column `match` has ids, whose texts take half of the time; otherwise it has their first 15
            digits as a number.
        variants: whether a `game` without parameters also means the games of that name with other parameters.
        only: only the matches with these ids; None = all.

    Columns in addition to the stored ones: `label` (the agent's short text form), `result` (win: the only largest
    score, draw: a shared largest score, loss; missing in single-player games and in void ones), `seats` (of the match),
    `failed` (whether this seat failed, and so lost), `repeat` (whether the match repeats an earlier one of these by
    construction and so says nothing new; see `arena/schedules/repeats.py`) and one for each fact of the game. `seconds`
    are those of the match, `seat_seconds` those of this seat's decisions, `seat_cpu_seconds` their CPU time; both are
    NaN if they were not measured, the latter always for agents that decide in Python or on several threads. Texts other
    than ids are categories.
    """
    kinds = (kind,) if isinstance(kind, str) else kind
    with store.database.reading() as connection:
        chosen = (
            [store.run(run)] if run is not None else [one for one in store.runs() if kinds is None or one.kind in kinds]
        )
        parts = [store.blocks.of_run(connection, one.id) for one in chosen]
        of_run = np.repeat(np.arange(len(parts)), [len(part.number) for part in parts])
        columns = MatchColumns.concatenated(parts)
        if len(parts) > 1:
            archived = bool((columns.number < 0).any())  # a match of the store may be in an archive, too
            first = np.sort(np.unique(columns.id if archived else columns.number, return_index=True)[1])
            columns, of_run = columns.take(first), of_run[first]
        if game is not None:
            named = [text for text in columns.game.values.tolist() if variants and text.split("(")[0] == game]
            kept = np.flatnonzero(columns.game.are([*_forms(GAMES, game), *named]))
            columns, of_run = columns.take(kept), of_run[kept]
        if only is not None:
            kept = np.flatnonzero([match in only for match in columns.ids().tolist()])
            columns, of_run = columns.take(kept), of_run[kept]
        repeated = repeats_among(store.blocks, connection, columns)
    frame = as_frame(columns, of_run, [one.id for one in chosen], ids, repeated)
    return frame if agent is None else frame[frame["agent"].isin(_forms(AGENTS, agent))].reset_index(drop=True)


def _forms(registry: Registry[Any], text: str) -> list[str]:
    """Returns the possible stored texts of a game or an agent: as typed, and with all parameters."""
    with contextlib.suppress(UserError):
        return [text, registry.make(text).full_text()]
    return [text]


def as_frame(columns: MatchColumns, of_run: Array, run_ids: list[str], ids: bool, repeated: Array) -> pd.DataFrame:
    """Returns a row per seat, see `matches_frame`; the values of its match are repeated."""
    counts = columns.seats.astype(np.int64)
    first = np.cumsum(counts) - counts
    match_of = np.repeat(np.arange(len(counts)), counts)
    single_player = np.repeat(counts == 1, counts)
    results, points = _results(columns, first, match_of, single_player)
    labels = Texts(np.array([label_of(text) for text in columns.agent.values.tolist()], str), columns.agent.codes)
    seconds = columns.seconds[match_of]
    values = {
        "match": (columns.ids() if ids else columns.short_ids())[match_of],
        "run": pd.Categorical.from_codes(of_run[match_of], run_ids),
        "game": columns.game.take(match_of).categories(),
        "seat": np.arange(len(columns.score)) - first[match_of],
        "agent": columns.agent.categories(),
        "label": labels.categories(),
        "seed": columns.seed[match_of],
        "score": columns.score,
        "result": results,
        "points": points,
        "decisions": columns.decisions,
        "nodes": columns.nodes,
        "seat_seconds": np.where(single_player & np.isnan(columns.seat_seconds), seconds, columns.seat_seconds),
        "seat_cpu_seconds": columns.seat_cpu_seconds,
        "seconds": seconds,
        "termination": columns.termination.take(match_of).categories(),
        "seats": counts[match_of],
        "failed": _failed(columns, first, match_of),
        "repeat": repeated[match_of],
    }
    if ids:
        values["match"] = pd.array(values["match"], dtype="str")
    facts = pd.DataFrame([json.loads(text) for text in columns.facts.values.tolist()])
    facts.columns = [f"{name} (fact)" if name in MATCH_COLUMNS else name for name in facts.columns]
    codes = columns.facts.codes[match_of]
    return pd.DataFrame(values | {str(name): facts[name].to_numpy()[codes] for name in facts}, copy=False)


def _results(
    columns: MatchColumns, first: Array, match_of: Array, single_player: Array
) -> tuple[pd.Categorical, npt.NDArray[np.float64]]:
    """Returns win, draw, loss or missing, and `MatchRecord.points`; the seats of a match are consecutive rows."""
    scores = columns.score
    best = scores == (np.maximum.reduceat(scores, first)[match_of] if len(first) else scores)
    sharing = np.add.reduceat(best.astype(np.int64), first)[match_of] if len(first) else best.astype(np.int64)
    shown = np.where(sharing > 1, _RESULTS.index("draw"), _RESULTS.index("win"))
    codes = np.where(best, shown, _RESULTS.index("loss"))
    missing = single_player | ~columns.termination.are(WITH_RESULT)[match_of]
    points = np.where(missing, np.nan, best / np.maximum(sharing, 1))
    return pd.Categorical.from_codes(np.where(missing, -1, codes), list(_RESULTS)), points


def _failed(columns: MatchColumns, first: Array, match_of: Array) -> npt.NDArray[np.bool_]:
    """Returns the seats that failed: those alone with the least score of their match."""
    scores = columns.score
    least: npt.NDArray[np.bool_] = scores == (np.minimum.reduceat(scores, first)[match_of] if len(first) else scores)
    return least & columns.termination.are(FAILED)[match_of]


def counted(frame: pd.DataFrame) -> pd.Series:
    """Returns a mask of the rows that count: games with a result that do not repeat others."""
    known = frame["termination"].isin(WITH_RESULT)
    return known & ~frame["repeat"] if "repeat" in frame else known


def times_of(part: pd.DataFrame) -> npt.NDArray[np.float64]:
    """Returns how many games each row stands for: more than one only in `results_frame`."""
    return part["times"].to_numpy(np.float64) if "times" in part else np.ones(len(part))


def _numbers(times: Array, repeat: Array) -> dict[str, int]:
    """Returns the number of games, and of those that repeat no earlier one by construction."""
    return {"games": int(times.sum()), "different": int(times[~repeat].sum())}


def games_in(part: pd.DataFrame) -> int:
    """Returns how many games rows of seats stand for; an agent that plays itself counts once per seat."""
    return int(times_of(part).sum())


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Returns one row per game and agent of a frame of `matches_frame`.

    Columns: game, agent, label; games (an agent that plays itself counts once per seat), different (those that repeat
    no earlier one by construction; only these count in means, shares, wins and the like); of the scores of games with a
    result: mean, half_width (of the mean's 95 % interval, Student's t), median, median_low and median_high (its 95 %
    interval), std, best; decisions_per_second (of its own seats' time on the wall clock), cpu_seconds_per_decision,
    nodes_per_decision; failures (games that it lost by failing), void (games without a result) and unfinished (limit of
    plies reached); of games of two and more seats with a result: points (1 for a win, 1/2 for a draw), points_share
    with its 95 % interval points_share_low and points_share_high, wins, draws, losses, and win_rate with its 95 %
    interval win_rate_low and win_rate_high (games of a seed as units, see `shares_of_units`); and for every milestone,
    for instance, `max_tile>=2048`, `max_tile>=2048_low` and `max_tile>=2048_high`: the share of games with a result
    that reached it and its Wilson 95 % interval.
    """
    columns = _Counted.of(frame)
    rows = [
        _summary_row(str(game), str(agent), frame, columns.taken(rows), rows, wins)
        for (game, agent), rows, wins in _with_wins(frame, ["game", "agent"])
    ]
    if not rows:
        empty = _summary_row("", "", frame, columns, np.arange(0), dict.fromkeys(SHARES))
        return pd.DataFrame(columns=list(empty)).astype(dict.fromkeys(_COUNTS, "Int64"))
    return pd.DataFrame(rows).astype(dict.fromkeys(_COUNTS, "Int64"))


class _Counted(NamedTuple):
    """Columns of a frame as arrays: taking some rows of them is much quicker than of a frame."""

    complete: Array  # whether rows count: games with a result that do not repeat others
    times: Array
    repeat: Array
    score: Array
    decisions: Array
    nodes: Array
    seat_seconds: Array
    seat_cpu_seconds: Array
    failed: Array
    void: Array
    unfinished: Array

    @classmethod
    def of(cls, frame: pd.DataFrame) -> _Counted:
        ends = frame["termination"]
        return cls(
            counted(frame).to_numpy(bool),
            times_of(frame),
            frame["repeat"].to_numpy(bool),
            frame["score"].to_numpy(np.float64),
            frame["decisions"].to_numpy(),
            frame["nodes"].to_numpy(np.float64),
            frame["seat_seconds"].to_numpy(np.float64),
            frame["seat_cpu_seconds"].to_numpy(np.float64),
            frame["failed"].to_numpy(bool),
            ~ends.isin([*WITH_RESULT, *UNFINISHED]).to_numpy(bool),
            ends.isin([*UNFINISHED, Termination.LIMIT.value]).to_numpy(bool),
        )

    def taken(self, rows: Array) -> _Counted:
        return _Counted(*(column[rows] for column in self))

    def timed(self, seconds: Array) -> tuple[float, int]:
        """Returns the total time of the decisions with a known time, and their number."""
        known = ~np.isnan(seconds)
        return float(seconds[known].sum()), int(self.decisions[known].sum())

    def scores(self) -> npt.NDArray[np.float64]:
        """Returns the scores that count, each once per game."""
        found = self.score[self.complete]
        return np.repeat(found, self.times[self.complete].astype(np.int64))


def shown_milestones(table: pd.DataFrame) -> list[str]:
    """Returns the columns of milestones in a game's rows of `summary`: the lowest ones, and all reached ones."""
    known = [c for c in table if ">=" in c and not c.endswith(("_low", "_high")) and table[c].notna().any()]
    return [column for i, column in enumerate(known) if i < LEAST_MILESTONES or table[column].max() > 0]


def _summary_row(
    game: str, agent: str, frame: pd.DataFrame, part: _Counted, rows: Array, wins: Mapping[str, Any]
) -> dict[str, Any]:
    scores = np.sort(part.scores())  # sums must not depend on the order of playing
    mean, half_width = mean_interval(scores)
    decisions = int(part.decisions.sum())
    (seconds, timed), (cpu_seconds, cpu_timed) = map(part.timed, (part.seat_seconds, part.seat_cpu_seconds))
    row: dict[str, Any] = {
        "game": game,
        "agent": agent,
        "label": label_of(agent),
        **_numbers(part.times, part.repeat),
        "mean": mean,
        "half_width": half_width,
        **dict(zip(("median", "median_low", "median_high"), median_interval(scores), strict=True)),
        "std": float(np.std(scores, ddof=1)) if len(scores) > 1 else math.nan,
        "best": float(scores.max()) if len(scores) else math.nan,
        "decisions_per_second": timed / seconds if seconds > 0 else math.nan,
        "cpu_seconds_per_decision": cpu_seconds / cpu_timed if cpu_timed else math.nan,
        "nodes_per_decision": float(np.nansum(part.nodes)) / decisions if decisions else math.nan,
        "failures": int(part.times[part.failed].sum()),
        "void": int(part.times[part.void].sum()),
        "unfinished": int(part.times[part.unfinished].sum()),
    }
    row |= wins
    for fact, thresholds in _milestones(game).items():
        complete = frame.iloc[rows[part.complete]]
        known = complete[complete[fact].notna()] if fact in frame else complete.iloc[:0].assign(**{fact: math.nan})
        for threshold in thresholds:
            row |= _share(f"{fact}>={threshold}", games_in(known[known[fact] >= threshold]), games_in(known))
    return row


def _wins(frame: pd.DataFrame, group: Array, number: int) -> list[dict[str, Any]]:
    """Returns the columns SHARES of each of a number of groups of rows of seats.

    Args:
        frame: rows of seats.
        group: [rows] the number of each row's group.
        number: of groups.
    """
    kept = frame["points"].notna().to_numpy(bool) & ~frame["repeat"].to_numpy(bool)
    of, points, times = group[kept], frame["points"].to_numpy(np.float64)[kept], times_of(frame)[kept]
    ends = [(frame["result"] == end).to_numpy(np.float64)[kept] for end in ("win", "draw", "loss")]
    several = np.bincount(group, frame["seats"].to_numpy() > 1, number) > 0
    seeds = pd.factorize(frame["seed"].to_numpy()[kept])[0]
    counts = [np.bincount(of, end * times, number) for end in ends]
    columns: list[list[Any]] = [np.where(several, np.bincount(of, points * times, number), math.nan).tolist()]
    columns += [part.tolist() for part in shares_of_units(points, seeds, of, number, times)]
    columns += [[int(n) if any_ else None for n, any_ in zip(count, several, strict=True)] for count in counts]
    columns += [
        part.tolist() for part in shares_of_units(ends[0], seeds, of, number, times)
    ]  # games of a seed vary together
    return [dict(zip(SHARES, row, strict=True)) for row in zip(*columns, strict=True)]


def _with_wins(frame: pd.DataFrame, keys: list[str]) -> Iterator[tuple[tuple[Any, ...], Array, dict[str, Any]]]:
    """Yields the groups of rows of seats with equal keys, in order: the keys, the rows' numbers, and `_wins`."""
    grouped = frame.groupby(keys, observed=True)
    group = grouped.ngroup().to_numpy()
    rows = np.split(np.argsort(group, kind="stable"), np.cumsum(np.bincount(group, minlength=grouped.ngroups))[:-1])
    first = frame[keys].iloc[[some[0] for some in rows if len(some)]].itertuples(index=False, name=None)
    yield from zip(first, rows, _wins(frame, group, grouped.ngroups), strict=False)


def win_share(part: pd.DataFrame) -> dict[str, Any]:
    """Returns columns of `summary` for rows of seats: games, different, points, wins and the like with intervals."""
    numbers = _numbers(times_of(part), part["repeat"].to_numpy(bool))
    return numbers | _wins(part.assign(seats=2), np.zeros(len(part), np.int64), 1)[0]


def seat_summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Returns one row per game, agent and seat of the games with several seats in a frame of `matches_frame`.

    Columns: game, agent, label, seat, and games, different, points, wins, draws and losses of `summary`: the advantage
    of moving first or last.
    """
    several = frame[frame["seats"] > 1]
    times, repeat = times_of(several), several["repeat"].to_numpy(bool)
    rows = [
        {"game": game, "agent": agent, "label": label_of(agent), "seat": int(seat)}
        | _numbers(times[rows], repeat[rows])
        | wins
        for (game, agent, seat), rows, wins in _with_wins(several, ["game", "agent", "seat"])
    ]
    columns = ["game", "agent", "label", "seat", "games", "different", *SHARES]
    return pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(_COUNTS, "Int64"))


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


def json_rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Returns the rows of a table as plain dicts for json.dumps, with None for missing numbers."""
    return [{str(key): _plain(value) for key, value in row.items()} for row in table.to_dict("records")]


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, pd.Timestamp):
        return None if pd.isna(value) else value.isoformat()
    if value is pd.NaT or value is pd.NA or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return value
