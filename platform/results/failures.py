"""Failures: the games that agents lost by failing, with reasons, and void games."""

from __future__ import annotations

import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..agents.registry import label_of
from ..arena.match import MatchRecord, Termination
from ..core.number_text import number
from .frames.matches import FAILED, UNFINISHED, WITH_RESULT
from .outage import outlasting
from .store import default_url
from .store.columns import Array, MatchColumns
from .store.store import Store

VOID = "void"  # the cause of games without a result
COLUMNS = ("agent", "label", "seats", "cause", "reason", "games", "share", "match")
UNKNOWN = "the reason was not stored"
MAX_REASON, SHOWN_ID = 300, 12  # characters of a reason, and of a match's id in sentences
MAX_SENTENCES = 8  # maximum number of agents with a sentence
# Causes in words, for one and for several.
_WORDS = {
    Termination.CRASHED.value: ("crashed", "crashed"),
    Termination.STALLED.value: ("stalled", "stalled"),
    Termination.TIMEOUT.value: ("too late", "too late"),
    Termination.ILLEGAL_MOVE.value: ("illegal move", "illegal moves"),
}


class Failures(NamedTuple):
    """The failures in some games; an agent that fails loses the game, a void game does not count.

    table: a row per agent, cause and reason, the most frequent first, those of void games last: agent (empty of a void
    game, as all the next ones), label, seats (in which it failed, such as "0, 1"); cause (a termination, or void),
    reason (reasons that differ in numbers are one), games, share (of the agent's games; void: of all), match (an
    example's id).
    """

    table: pd.DataFrame
    games: int
    failed: int  # games that an agent lost by failing
    void: int  # games without a result
    alone: bool = False  # whether all games that failed have one seat

    @property
    def text(self) -> str:
        """The text beside results: 15 failed (12.5 %), 3 void; empty if all games went well."""
        parts = [f"{self.failed:,} failed ({_percent(self.failed / self.games)})"] if self.failed else []
        return ", ".join(parts + [f"{self.void:,} void"] * bool(self.void))

    def sentences(self, option: str = "") -> list[str]:
        """Returns sentences for people: one for each agent that failed, and one on void games.

        `option` makes commands use the store of the games, such as " --store URL".
        """
        of_agents = self.table[self.table["cause"] != VOID]
        agents = of_agents.groupby("agent", sort=False)
        said = [self._agent_sentence(part, option) for _, part in agents][:MAX_SENTENCES]
        if agents.ngroups > MAX_SENTENCES:
            said.append(f"{agents.ngroups - MAX_SENTENCES:,} more agents failed; the dashboards list all.")
        void = self.table[self.table["cause"] == VOID]
        return said + ([_void_sentence(void)] if len(void) else [])

    def _agent_sentence(self, part: pd.DataFrame, option: str) -> str:
        first, games = part.iloc[0], int(part["games"].sum())
        several = games > 1
        total = round(first["games"] / first["share"])
        lost = ("had the least score in " if self.alone else "lost ") + ("them" if several else "it")
        causes = ", ".join(_counted(str(cause), some) for cause, some in part.groupby("cause", sort=False))
        return (
            f"{first['label']} failed in {games:,} of {total:,} games ({_percent(games / total)}) and {lost}: {causes};"
            f" turnier show {first['match'][:SHOWN_ID]}{option} shows {'one' if several else 'it'}."
        )


def _void_sentence(void: pd.DataFrame) -> str:
    games, first = int(void["games"].sum()), void.iloc[0]
    what = "games are void and do not count" if games > 1 else "game is void and does not count"
    example = f", such as {first['match'][:SHOWN_ID]}" if games > 1 else f" ({first['match'][:SHOWN_ID]})"
    return f"{games:,} {what}{example}: {_reasons(void)}; repeat the command to play anew."


def _counted(cause: str, part: pd.DataFrame) -> str:
    """Returns the number and the reasons of failures with one cause: 9 crashed (ValueError: ...)."""
    games = int(part["games"].sum())
    text = f"{games:,} {_WORDS[cause][games > 1]}"
    return text if cause == Termination.ILLEGAL_MOVE.value else f"{text} ({_reasons(part)})"


def _reasons(part: pd.DataFrame) -> str:
    """Returns the most frequent reason, and the number of others."""
    others = len(part) - 1
    return str(part["reason"].iloc[0]) + (f", and {others:,} other reason{'s' * (others > 1)}" if others else "")


def store_option(store: Store) -> str:
    """Returns the option with which commands use this store; nothing for the default store."""
    return "" if store.database.is_at(default_url()) else f" --store {shlex.quote(store.shown_url)}"


def cause_text(cause: str) -> str:
    """Returns a cause in words."""
    return _WORDS[cause][0] if cause in _WORDS else cause


def failure_of(record: MatchRecord) -> str:
    """Returns who failed in a match, how and why, or why it is void, in a sentence; empty if all went well."""
    if (seat := record.failed_seat) is None:
        done = record.termination.has_result or str(record.termination) in UNFINISHED
        return "" if done else f"Void: {reason_of(record.error)}."
    agent, cause = record.spec.agents[seat], cause_text(str(record.termination))
    return f"Seat {seat}, {label_of(agent)}, failed here and lost ({cause}): {reason_of(record.error, agent)}."


def _percent(share: float) -> str:
    return f"{number(100 * share)} %"


@outlasting
def list_failures(
    store: Store, runs: Sequence[str], games: Collection[str] = (), only: Collection[str] | None = None
) -> Failures:
    """Returns the failures in some runs; a game of several runs counts once.

    Args:
        store: where the games are.
        runs: ids.
        games: full texts of games (rules); empty = all.
        only: ids of matches; None = all.
    """
    number, played, parts = 0, Counter[str](), list[MatchColumns]()
    for columns in _columns(store, runs):
        if games:
            columns = columns.take(np.flatnonzero(columns.game.are(list(games))))
        if only is not None:
            columns = columns.take(np.flatnonzero(np.isin(columns.ids(), list(only))))
        number += len(columns.number)
        counts = np.bincount(columns.agent.codes, minlength=len(columns.agent.values))
        played.update(dict(zip(columns.agent.values.tolist(), counts.tolist(), strict=True)))
        parts.append(columns.take(np.flatnonzero(np.logical_or(*_masks(columns)))))
    wrong = MatchColumns.concatenated(parts).in_order()
    failed, void = _masks(wrong)
    alone = bool((wrong.seats[failed] == 1).all()) and bool(failed.any())
    table = _table(store, wrong, number, played)
    return Failures(table, number, int(failed.sum()), int(void.sum()), alone)


@outlasting
def failed_matches(store: Store, run: str, limit: int = 100) -> dict[str, str]:
    """Returns the latest matches of a run that failed or are void: id -> the agent, the cause and the reason."""
    parts = [columns.take(np.flatnonzero(np.logical_or(*_masks(columns)))) for columns in _columns(store, [run])]
    wrong = MatchColumns.concatenated(parts).in_order()
    latest = np.arange(len(wrong.number))[-limit:][::-1]
    texts = {}
    for agent, _, cause, reason, match in _failures(store, wrong.take(latest)):
        texts[match] = " · ".join([*[label_of(agent)] * bool(agent), cause_text(cause), reason])
    return texts


@outlasting
def failures_text(store: Store, run: str) -> str:
    """Returns `Failures.text` of a run, without reading reasons."""
    counts = [(len(failed), failed.sum(), void.sum()) for failed, void in map(_masks, _columns(store, [run]))]
    games, failed, void = (int(sum(some)) for some in zip((0, 0, 0), *counts, strict=True))
    return Failures(pd.DataFrame(), games, failed, void).text


def _masks(columns: MatchColumns) -> tuple[Array, Array]:
    """Returns masks of the matches lost by failing, and of void ones."""
    return columns.termination.are(FAILED), ~columns.termination.are([*WITH_RESULT, *UNFINISHED])


def _columns(store: Store, runs: Sequence[str]) -> Iterator[MatchColumns]:
    """Yields the matches of some runs, each once: those of one run a part at a time."""
    with store.database.reading() as connection:
        if len(runs) == 1:
            yield from store.blocks.parts_of_run(connection, runs[0])
        else:
            columns = MatchColumns.concatenated([store.blocks.of_run(connection, run) for run in runs])
            yield columns.take(np.unique(columns.number, return_index=True)[1])


def _table(store: Store, wrong: MatchColumns, number: int, played: Mapping[str, int]) -> pd.DataFrame:
    """Returns the table of the failed and void matches among `number`; `played` is the seats played by each agent."""
    kinds: dict[tuple[str, str, str], list[tuple[int, str, str]]] = defaultdict(list)
    for agent, seat, cause, reason, match in _failures(store, wrong):
        kinds[agent, cause, re.sub(r"[0-9]+", "0", reason)].append((seat, reason, match))
    rows = []
    for (agent, cause, _), found in kinds.items():
        _, reason, match = found[0]
        seats = "" if cause == VOID else ", ".join(map(str, sorted({seat for seat, *_ in found})))
        share = len(found) / (number if cause == VOID else played[agent])
        rows.append((agent, label_of(agent) if agent else "", seats, cause, reason, len(found), share, match))
    rows.sort(key=lambda row: (row[3] == VOID, -row[5], row[0], row[3], row[4]))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _failures(store: Store, wrong: MatchColumns) -> Iterator[tuple[str, int, str, str, str]]:
    """Yields agent, seat, cause, reason and id of each match that failed or is void."""
    errors = _errors(store, wrong.number)
    failed, _ = _masks(wrong)
    codes, ends = wrong.termination.codes, np.cumsum(wrong.seats, dtype=np.int64)
    for i, (key, match) in enumerate(zip(wrong.number.tolist(), wrong.ids().tolist(), strict=True)):
        first = int(ends[i] - wrong.seats[i])
        seat = int(wrong.score[first : ends[i]].argmin())  # the seat that fails has the least score
        agent = str(wrong.agent.values[wrong.agent.codes[first + seat]]) if failed[i] else ""
        cause = str(wrong.termination.values[codes[i]]) if failed[i] else VOID
        yield agent, seat, cause, reason_of(errors.get(key, ""), agent), match


def _errors(store: Store, numbers: Array) -> dict[int, str]:
    """Returns the sentences of matches by their numbers."""
    with store.database.reading() as connection:
        found = store.blocks.values(connection, numbers.tolist(), ("error",))
    return {number: str(error) for number, (error,) in found.items()}


def reason_of(error: str, agent: str = "") -> str:
    """Returns the first sentence of a match's error, without the seat and the agent at its beginning."""
    text = next((line.strip() for line in error.splitlines() if line.strip()), "")
    text = re.sub(r"^seat \d+, ", "", text)
    for name in (agent, label_of(agent)) if agent else ():
        text = text.removeprefix(f"{name}: ")
    text = re.split(r"(?<=[.!?]) +(?=[A-Z])", text)[0].rstrip(".")
    return (text if len(text) <= MAX_REASON else f"{text[:MAX_REASON]} ...") or UNKNOWN


def failed_candidates(failures: Failures, tried: Mapping[str, Mapping[str, Any]], option: str = "") -> str:
    """Returns a sentence on the candidates that failed; empty if none did.

    Args:
        failures: of the search's games.
        tried: the parameters of all candidates, by their agent's text.
        option: the option that makes commands use the store, such as " --store URL".
    """
    table = failures.table[failures.table["agent"].isin(tried)]
    if not len(table):
        return ""
    agents, games, first = set(table["agent"]), int(table["games"].sum()), table.iloc[0]
    where = in_common([tried[agent] for agent in agents], [tried[text] for text in tried if text not in agents])
    lost = "game, which it lost" if games == 1 else "games, which they lost"
    return (
        f"{len(agents):,} of {len(tried):,} candidates failed in {games:,} {lost}{f', all with {where}' * bool(where)},"
        f" such as: {first['reason']}; turnier show {first['match'][:SHOWN_ID]}{option} shows one."
    )


def in_common(failed: Sequence[Mapping[str, Any]], others: Sequence[Mapping[str, Any]]) -> str:
    """Returns what only failed candidates have in common, such as `depth from 8 on`; empty if there is nothing."""
    for name in failed[0] if others else ():
        mine = [values[name] for values in failed if name in values]
        rest = [values[name] for values in others if name in values]
        if len(mine) < len(failed) or not rest:
            continue
        if isinstance(mine[0], bool | str):
            if len(set(mine)) == 1 and mine[0] not in rest:
                return f"{name}={str(mine[0]).lower() if isinstance(mine[0], bool) else mine[0]}"
        elif min(mine) > max(rest):
            return f"{name} from {number(min(mine))} on"
        elif max(mine) < min(rest):
            return f"{name} up to {number(max(mine))}"
    return ""
