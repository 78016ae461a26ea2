"""The games of each machine in a run: their number, their speed, and whether they end there as they do elsewhere."""

from __future__ import annotations

import functools
import shlex
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from sqlalchemy import Connection, func, select

from ..agents.registry import label_of
from ..statistics.comparisons import holm
from ..statistics.distributions import t_probability
from .frames.matches import FAILED, UNFINISHED, WITH_RESULT
from .outage import outlasting
from .store.columns import Array, MatchColumns
from .store.schema import matches, run_matches
from .store.store import Store
from .verification import UNKNOWN

CLEAR = 0.01  # p-value, after Holm's correction, below which games end differently on a machine
SURELY_0 = 1e-12  # standard error of equal scores
LEAST_GAMES = 20  # of an agent on a machine, and elsewhere, needed for a p-value


@dataclass(frozen=True)
class WorkersOfRun:
    """The machines of a run.

    Attributes:
        workers: a row per machine, the most games first: worker, games, share (of all games), seconds (of all of its
            games, on the wall clock), games_per_second (of these), cpu_seconds_per_game (NaN if it is not known of
            every seat), speed (how many times faster the same agents decide than on all machines together), failed
            (games that a seat lost by failing), void, last (UTC: when its latest game was stored), last_match (its id),
            last_game, last_agents, and the largest of its residuals: standard_errors, agent and p.
        residuals: a row per machine and agent: worker, agent, label, games, difference (the mean score minus that of
            the same agent against the same others in the same seats over all machines), standard_errors (that
            difference in its own, games taken as independent) and p (two-sided, after Holm's correction over all rows;
            NaN below LEAST_GAMES).
        differing: rows of that kind, for each machine on which games end differently the clearest one: in relation to
            all machines but those in the rows before, since a wrong machine makes the right ones differ from the mean.
    """

    workers: pd.DataFrame
    residuals: pd.DataFrame
    differing: pd.DataFrame

    def sentences(self, run_id: str) -> list[str]:
        """Returns a sentence for each machine on which games end differently."""
        return [
            f"{row['worker']}: games of {row['label']} end differently there ({row['standard_errors']:+.1f} standard"
            f" errors); turnier check {shlex.quote(run_id)} --sample 5% tells which is right, and turnier runs purge"
            f" {shlex.quote(run_id)} --worker {shlex.quote(row['worker'])} deletes its games."
            for row in self.differing.to_dict("records")
        ]


@outlasting
def workers_of_run(store: Store, run_id: str) -> WorkersOfRun:
    """Reads the machines of a run and their games."""
    c, worker = matches.c, matches.c.worker
    played = select(c.number, worker.label("worker"), c.created).join(
        run_matches, run_matches.c.match_number == c.number
    )
    of_run = played.where(run_matches.c.run_id == run_id).subquery().c
    latest = select(of_run.worker, func.max(of_run.created), func.max(of_run.number)).group_by(of_run.worker)
    with store.database.reading() as connection:
        columns = store.blocks.of_run(connection, run_id)
        rows = connection.execute(select(of_run.number, of_run.worker))
        of_match: dict[int, str] = {number: name or UNKNOWN for number, name in rows}
        ends = {name or UNKNOWN: (when, number) for name, when, number in connection.execute(latest)}
        for origin in store.packed.origins(connection, run_id):
            of_match.update(dict.fromkeys(origin.numbers, origin.worker))
            end = origin.created, origin.numbers[-1]
            ends[origin.worker] = max(end, ends.get(origin.worker, end))
        what = _games(connection, store, [number for _, number in ends.values()])
    codes, names = pd.factorize(np.array([of_match.get(n, UNKNOWN) for n in columns.number.tolist()], dtype=object))
    residuals = _residuals(columns, codes, names.tolist())
    table = _played(columns, codes, names.tolist())
    table["last"] = [ends[name][0] for name in names]
    for place, field in enumerate(("last_match", "last_game", "last_agents")):
        table[field] = [what[ends[name][1]][place] for name in names]
    table = _with_largest(table, residuals).sort_values("games", ascending=False, kind="stable")
    return WorkersOfRun(table, residuals, _differing(columns, codes, names.tolist(), residuals))


def _games(connection: Connection, store: Store, numbers: list[int]) -> dict[int, tuple[str, str, list[str]]]:
    """Returns ids, games and agents of some matches, by their numbers."""
    found = store.blocks.of_matches(connection, numbers)
    agents = [label_of(text) for text in found.agent.values[found.agent.codes].tolist()]
    ends = np.cumsum(found.seats, dtype=np.int64).tolist()
    games = found.game.values[found.game.codes].tolist()
    seated = [agents[end - count : end] for end, count in zip(ends, found.seats.tolist(), strict=True)]
    return dict(zip(found.number.tolist(), zip(found.ids().tolist(), games, seated, strict=True), strict=True))


def _played(columns: MatchColumns, worker: Array, names: list[str]) -> pd.DataFrame:
    """Returns the counting columns of `workers`; `worker` has the index of each match's machine among the names."""
    count = functools.partial(np.bincount, minlength=len(names))
    of_seat = np.repeat(worker, columns.seats.astype(np.int64))
    games, seconds = count(worker), count(worker, columns.seconds)
    cpu = count(of_seat, columns.seat_cpu_seconds)
    decided = np.where(np.isnan(columns.seat_seconds), 0, columns.decisions)
    spent = np.nan_to_num(columns.seat_seconds)
    agents = columns.agent.codes
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.bincount(agents, spent) / np.bincount(agents, decided)
        usual = count(of_seat, decided * np.nan_to_num(each[agents])) if len(agents) else count(of_seat)
        return pd.DataFrame(
            {
                "worker": names,
                "games": games,
                "share": games / max(1, games.sum()),
                "seconds": seconds,
                "games_per_second": games / seconds,
                "cpu_seconds_per_game": cpu / games,
                "speed": usual / count(of_seat, spent),
                "failed": count(worker, columns.termination.are(FAILED)).astype(np.int64),
                "void": count(worker, ~columns.termination.are([*WITH_RESULT, *UNFINISHED])).astype(np.int64),
            }
        )


def _residuals(columns: MatchColumns, worker: Array, names: list[str]) -> pd.DataFrame:
    """Returns `residuals`: scores are compared within the same seat of the same agents at the same game."""
    counted = np.repeat(columns.termination.are(WITH_RESULT), columns.seats.astype(np.int64))
    of_seat = np.repeat(worker, columns.seats.astype(np.int64))[counted]
    agent, known = columns.agent.codes[counted].astype(np.int64), max(1, len(columns.agent.values))
    pair, pairs = pd.factorize(of_seat * known + agent)
    away, spread = _away(_places(columns)[counted], of_seat, columns.score[counted])
    games, total = np.bincount(pair), np.bincount(pair, away)
    error = np.sqrt(np.bincount(pair, spread))
    z = np.divide(total, error, out=np.zeros(len(pairs)), where=error > SURELY_0)
    elsewhere = np.bincount(agent, minlength=known)[pairs % known] - games
    p = np.where(np.minimum(games, elsewhere) < LEAST_GAMES, np.nan, 2 * t_probability(-np.abs(z), games - 1))
    texts = columns.agent.values[pairs % known].tolist() if len(pairs) else []
    table = {
        "worker": [names[index] for index in pairs // known],
        "agent": texts,
        "label": [label_of(text) for text in texts],
        "games": games,
        "difference": total / games,
        "standard_errors": z,
        "p": holm(p.tolist()),
    }
    return pd.DataFrame(table)


def _away(place: Array, worker: Array, score: Array) -> tuple[Array, Array]:
    """Returns the deviation of each score from the mean of its place, and its part of the variance of their sum.

    The sum over a machine's n of all N scores of a place, as part of the sum over all, which is 0, has the variance n
    (1 - n / N) of one of them.
    """
    count = np.bincount(place)
    away = score - (np.bincount(place, score) / np.maximum(count, 1))[place]
    variance = np.bincount(place, away**2) / np.maximum(count - 1, 1)
    here = pd.factorize(place * (int(worker.max(initial=0)) + 1) + worker)[0]
    return away, variance[place] * (1 - np.bincount(here)[here] / count[place])


def _places(columns: MatchColumns) -> npt.NDArray[np.int64]:
    """Returns a number for each seat: one for every game, agents in all seats, and seat."""
    counts = columns.seats.astype(np.int64)
    first, known = np.cumsum(counts) - counts, len(columns.agent.values) + 1
    lineup = columns.game.codes.astype(np.int64)
    for seat in range(int(counts.max(initial=0))):
        agent = np.full(len(counts), known - 1, np.int64)
        agent[counts > seat] = columns.agent.codes[first[counts > seat] + seat]
        lineup = pd.factorize(lineup * known + agent)[0]
    match = np.repeat(np.arange(len(counts)), counts)
    seat_of = np.arange(len(match)) - first[match]
    return np.asarray(pd.factorize(lineup[match] * (int(counts.max(initial=0)) + 1) + seat_of)[0], np.int64)


def _differing(columns: MatchColumns, worker: Array, names: list[str], residuals: pd.DataFrame) -> pd.DataFrame:
    """Returns `differing`: machines are found and left out one by one, the smaller of two that differ equally."""
    rows, left = [], residuals
    while len(clear := left[left["p"] < CLEAR]):
        far = clear.assign(far=clear["standard_errors"].abs().round(3))
        rows.append(far.sort_values(["far", "games"], ascending=[False, True], kind="stable").head(1))
        out = [names.index(name) for name in pd.concat(rows)["worker"]]
        kept = np.flatnonzero(~np.isin(worker, out))
        codes, others = pd.factorize(np.array(names, dtype=object)[worker[kept]])
        left = _residuals(columns.take(kept), codes, others.tolist())
    return pd.concat([residuals.head(0), *rows])[list(residuals.columns)]


def _with_largest(table: pd.DataFrame, residuals: pd.DataFrame) -> pd.DataFrame:
    """Adds to each machine its largest residual."""
    order = residuals["standard_errors"].abs().sort_values(ascending=False, kind="stable").index
    largest = residuals.loc[order].drop_duplicates("worker")[["worker", "standard_errors", "agent", "p"]]
    return table.merge(largest, on="worker", how="left")
