"""Looks through a store row by row for damaged and missing rows; repair writes the sound ones into a new file."""

from __future__ import annotations

import contextlib
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, MetaData, Row, Table, func, inspect, select, text

from ...core.errors import MALFORMED, UserError
from ..databases.logs import size_of_log
from ..databases.sqlite import lacks_its_log
from ..databases.urls import parse, shown, sqlite_file
from ..integrity.checksums import MARKS, checksum, mark_of
from ..integrity.totals import Total, content, difference
from ..packed.inspection import PackedLook
from ..store.columns import MATCH_FIELDS, SEAT_FIELDS, MatchColumns, each_once
from ..store.progress import LIVE
from ..store.schema import (
    CODE_OF_SQLITE,
    OLDEST_VERSION,
    SCHEMA_VERSION,
    locks,
    match_columns,
    matches,
    metadata,
    packed_games,
    positions,
    require_version,
    run_matches,
    run_progress,
    run_totals,
    run_votes,
    runs,
    seats,
    version,
    votes,
)
from .damaged_file import reading_unchecked
from .lenient_reader import UNREADABLE, LenientReader
from .links import INDEX, Copies, sound_links
from .row_checks import differing, wrong_games, wrong_row, wrong_searched, wrong_vote

Rows = Sequence[Row[Any]]
Keep = Callable[[Table, Rows], object]
OnGames = Callable[[int, int], object]
_AGAIN = "removed; its run's command plays it again"
_SEARCHED = "removed; its run's command searches it again"
_COUNTED = "the existing rows are counted again"
_LINKED = "linked again when its command is repeated"
_REMADE = "made again from its games"
_ABSURD = 1000  # a version that only damage explains
_GONE = "removed"
_match_fields = itemgetter(*map(list(matches.c.keys()).index, MATCH_FIELDS))
_seat_fields = itemgetter(*map(list(seats.c.keys()).index, SEAT_FIELDS))
_BEGUN = "removed; its command begins it again, with its stored games"


class Finding(NamedTuple):
    """Some damage, and what a repair does about it."""

    where: str
    wrong: str
    repair: str


def inspect_store(url: str, on_games: OnGames = lambda done, total: None) -> list[Finding]:
    """Returns all damage in a store; `on_games` is called with the numbers of inspected games and of all."""
    require_present(url)
    with reading_unchecked(url) as connection:
        return [*missing_log(url), *Inspection(connection, on_games=on_games).run()]


def require_present(url: str) -> None:
    """Raises UserError for a store of an earlier or later version; one due to damage is left for the inspection."""
    with reading_unchecked(url) as connection, contextlib.suppress(*UNREADABLE):
        found = [row.version for row in LenientReader(connection).all(version)]
        if len(found) == 1 and isinstance(found[0], int) and OLDEST_VERSION <= found[0] < _ABSURD:
            require_version(found, "the store", shown(parse(url)))


def missing_log(url: str) -> list[Finding]:
    """Returns a finding if a store is a copy of one in use, without its log."""
    path = sqlite_file(url)
    if path is None or not path.exists():
        return []
    had_log = size_of_log(path) > 0
    with reading_unchecked(url) as connection, contextlib.suppress(*UNREADABLE):
        if lacks_its_log(path, connection.connection.driver_connection, had_log):
            return [Finding(f"file {path.name}-wal", "it is missing, with the newest content", "lost")]
    return []


class Inspection:
    """One look at everything; `run` returns the findings and passes sound rows to `keep`, referenced ones first."""

    def __init__(
        self, connection: Connection, keep: Keep | None = None, on_games: OnGames = lambda done, total: None
    ) -> None:
        self.connection, self.on_games, self._keeps = connection, on_games, keep is not None
        self.keep: Keep = keep or (lambda table, rows: None)
        self.reader = LenientReader(connection)
        self.found: list[Finding] = []
        self.running: dict[str, float] = {}  # heartbeats of the drivers that are running, as they say
        self._runs: set[str] = set()
        self._differing: set[str] = set()  # runs whose copies differ from the rows
        self._numbers: list[npt.NDArray[np.int64]] = []  # of sound games, ascending, and the marks of their ids
        self._marks: list[npt.NDArray[np.int64]] = []
        self._totals: dict[tuple[str, str], Total] = {}  # by run and table

    def run(self) -> list[Finding]:
        try:
            self._tables = set(inspect(self.connection).get_table_names())
        except UNREADABLE as failure:
            raise UserError(
                f"a store must have a list of its tables, but it is damaged: {_cause(failure)}; restore it from a copy."
            ) from None
        if not {runs.name, matches.name} & self._tables:
            raise UserError(
                "a store must have Turnier's tables, but this database has none; name another with --store."
            )
        self._look_at_structure()
        self._look_at_runs()
        self._packed = PackedLook(self.reader, self._runs)
        if packed_games.name in self._tables:
            self._packed.look(lambda row: self.keep(packed_games, [row]), partial(self._note, repair=_AGAIN))
        self._look_at_games()
        self._look_at_searches()
        self._look_at_what_belongs_to_runs()
        self._look_at_other_tables()
        for table, places in self.reader.unreadable.items():
            self._note(f"table {table}", f"{places} places cannot be read", "their rows are lost")
        return self.found

    def _note(self, where: str, wrong: str, repair: str) -> None:
        self.found.append(Finding(where, wrong, repair))

    def _look_at_structure(self) -> None:
        if self.reader.is_sqlite:
            try:
                said = [row[0] for row in self.connection.execute(text("PRAGMA integrity_check(100)"))]
            except UNREADABLE as failure:
                said = [_cause(failure)]
            for line in dict.fromkeys(
                part for what in said for part in str(what).splitlines() if part != "ok" and "***" not in part
            ):
                self._note("file", line, "its readable rows are written into a new file")
            with contextlib.suppress(*UNREADABLE):
                for kind, name in self.connection.execute(text(CODE_OF_SQLITE)):
                    self._note(f"{kind} {name}", "it could change what is stored or shown", "left out")
        if version.name in self._tables and [row.version for row in self._all(version)] != [SCHEMA_VERSION]:
            self._note(f"table {version.name}", "its version is not that of the other tables", "written again")
        for table in metadata.sorted_tables:
            if table.name not in self._tables:
                self._note(f"table {table.name}", "it is missing", "made again, empty")

    def _all(self, table: Table, source: str = "") -> list[Row[Any]]:
        return self.reader.all(table, source) if table.name in self._tables else []

    def _look_at_runs(self) -> None:
        rows, sound = self._all(runs), []
        for row in rows:
            if wrong := wrong_row(runs, row):
                self._note(f"run {_shown(row.id)}", wrong, _BEGUN)
            else:
                sound.append(row)
        self._runs = {row.id for row in sound}
        self.keep(runs, sound)
        for row in self._all(run_totals):
            if wrong := wrong_row(run_totals, row):
                self._note(f"totals of {_shown(row.run_id)}", wrong, _COUNTED)
            else:
                self._totals[row.run_id, row.name] = Total(row._mapping["count"], row._mapping["sum"])
        for run in sorted({run for run, _ in self._totals} - {row.id for row in rows}):
            self._note(f"run {_shown(run)}", "its row is missing", _BEGUN)

    def _count(self, run: str, table: Table, found: Total, cure: str) -> bool:
        """Compares rows of a run with its total; returns whether they seem to be complete."""
        known = self._totals.get((run, table.name))
        if known is None:
            self._note(f"run {_shown(run)}", f"its number of rows in {table.name} is missing", _COUNTED)
        if known is None or known == found:
            return True
        self._note(f"run {_shown(run)}", f"{difference(known, found)} in {table.name}", cure)
        return False

    def _look_at_games(self) -> None:
        copies = self._copies()
        ids: set[str] = set()
        twice = self._marks_stored_twice()
        done = sum(total.rows for total in self._packed.totals.values())
        total = done + self._number_of_games()
        for numbers, rows in self.reader.by_number(matches, "number") if matches.name in self._tables else ():
            of_match: dict[int, list[Row[Any]]] = defaultdict(list)
            if rows and seats.name in self._tables:
                with_rows = range(numbers[0], max(row.number for row in rows) + 1)
                for seat in self.reader.between(seats, "match_number", with_rows):
                    of_match[seat.match_number].append(seat)
            sound = []
            own = [of_match.pop(row.number, []) for row in rows]
            packed = self._packed.has([row.id for row in rows])
            for row, row_seats, wrong, too in zip(rows, own, wrong_games(rows, own), packed, strict=True):
                wrong = wrong or ("it is stored twice" if too or row.id in ids else "")
                if wrong:
                    self._note(f"game {_shown(row.id)}", wrong, _AGAIN)
                    continue
                if twice is None or mark_of(row.id) in twice:
                    ids.add(row.id)
                sound.append((row, row_seats))
            if of_match:
                self._note("table seats", f"{len(of_match)} games that have seats are missing", _GONE)
            self._look_at_copies_of(sound, copies)
            self._numbers.append(np.array([row.number for row, _ in sound], np.int64))
            self._marks.append(np.array([mark_of(row.id) for row, _ in sound], np.int64))
            self.keep(matches, [row for row, _ in sound])
            self.keep(seats, [seat for _, row_seats in sound for seat in row_seats])
            done += len(rows)
            self.on_games(done, max(done, total))
        for run in sorted(self._differing):
            self._note(f"columns of {run}", "they differ from the rows", _REMADE)
        self._look_at_links(copies)

    def _number_of_games(self) -> int:
        try:
            return int(self.connection.scalar(select(func.count()).select_from(matches)) or 0)
        except UNREADABLE:
            return 0

    def _marks_stored_twice(self) -> set[int] | None:
        """Returns the marks of ids that several games may have; None if that is unknown."""
        try:
            rows = self.connection.execute(text(f"SELECT id FROM {matches.name}"))
            marks, counts = np.unique(np.fromiter((mark_of(row[0]) for row in rows), np.int64), return_counts=True)
        except (*UNREADABLE, *MALFORMED):
            return None
        return set(marks[counts > 1].tolist())

    def _look_at_copies_of(self, sound: list[tuple[Row[Any], list[Row[Any]]]], copies: Copies) -> None:
        """Compares games with their copies."""
        numbers = np.array([row.number for row, _ in sound], np.int64)
        for run, copy in ((run, block) for run, blocks in copies.blocks.items() for block in blocks):
            first, end = np.searchsorted(copy.number, (numbers[0], numbers[-1] + 1)) if len(numbers) else (0, 0)
            both, mine, other = np.intersect1d(numbers, copy.number[first:end], return_indices=True)
            if len(both):
                chosen = [sound[i] for i in mine]
                columns = MatchColumns.from_rows(
                    [_match_fields(row) for row, _ in chosen],
                    [_seat_fields(seat) for _, some in chosen for seat in some],
                )
                if len(differing(columns, copy.take(first + other))):
                    self._differing.add(run)

    def _copies(self) -> Copies:
        rows = self._all(match_columns)
        for _ in [row for row in rows if row.run_id not in self._runs]:
            self._note("table match_columns", "a block belongs to no run", _GONE)
        copies = Copies(row for row in rows if row.run_id in self._runs)
        for run, wrong in copies.wrong.items():
            self._note(f"columns of {run}", wrong, _REMADE)
        return copies

    def _look_at_links(self, copies: Copies) -> None:
        """Looks at the links between runs and games."""
        if run_matches.name not in self._tables:
            return
        numbers, marks = (np.concatenate([np.empty(0, np.int64), *some]) for some in (self._numbers, self._marks))
        links = sound_links(self.reader, self._runs, numbers)
        if links.wrong:
            self._note("table run_matches", f"links to damaged games or runs: {links.wrong:,}", _GONE)
        kept: dict[str, set[int]] = {}
        for run, mine in sorted(links.of_run.items()):
            copied = copies.numbers(run)
            if run not in copies.wrong and not (run in copies.blocks and np.array_equal(each_once(copied), mine)):
                wrong = f"{len(copied)} games, but {len(mine)} sound ones are stored"
                self._note(f"columns of {run}", wrong, _REMADE)
        for run, mine in sorted(links.of_run.items()):
            packed = self._packed.totals[run]
            summed = int(marks[np.searchsorted(numbers, mine)].sum()) + packed.marks
            found = Total(len(mine) + packed.rows, summed % MARKS)
            if not self._count(run, run_matches, found, _LINKED):
                # Only the copy can tell a link that now leads to another game of the store.
                copied = copies.numbers(run)
                unpacked = self._totals[run, run_matches.name].rows - self._packed.declared[run]
                whole = unpacked == len(each_once(copied))
                mine = np.intersect1d(mine, copied) if whole else mine[:0]
            kept[run] = set(mine.tolist()) if self._keeps else set()
        if self._keeps:
            self.keep(run_matches, [r for r in self._all_links() if r.match_number in kept.get(r.run_id, ())])

    def _all_links(self) -> list[Row[Any]]:
        """Returns the links from the table or, if that cannot be read, from its index."""
        before = self.reader.unreadable.copy()
        rows = {(row.run_id, row.match_number): row for row in self._all(run_matches)}
        if self.reader.is_sqlite:
            rows = {(row.run_id, row.match_number): row for row in self.reader.all(run_matches, INDEX)} | rows
        self.reader.unreadable = before  # counted before
        return list(rows.values())

    def _look_at_searches(self) -> None:
        if votes.name not in self._tables:
            return
        searched = {row.number: row for row in self._all(positions)}
        for number, row in list(searched.items()):
            if wrong := wrong_searched(row):
                self._note(f"position {_shown(row.id)}", wrong, "removed with its searches, which are repeated")
                del searched[number]
        self.keep(positions, list(searched.values()))
        ids: dict[int, str] = {}
        for _, rows in self.reader.by_number(votes, "number"):
            sound = []
            for row in rows:
                if wrong := wrong_vote(row, searched.get(row.position_number)):
                    self._note(f"search {_shown(row.id)}", wrong, _SEARCHED)
                else:
                    sound.append(row)
            ids |= {row.number: row.id for row in sound}
            self.keep(votes, sound)
        links = self._all(run_votes)
        kept = [row for row in links if row.run_id in self._runs and row.vote_number in ids]
        if len(kept) < len(links):
            self._note("table run_votes", f"links to damaged searches or runs: {len(links) - len(kept):,}", _GONE)
        by_run: dict[str, list[Row[Any]]] = defaultdict(list)
        for row in kept:
            by_run[row.run_id].append(row)
        for run in sorted(self._runs):
            if not self._count(run, run_votes, Total.of(mark_of(ids[r.vote_number]) for r in by_run[run]), _LINKED):
                del by_run[run]
        self.keep(run_votes, [row for some in by_run.values() for row in some])

    def _look_at_what_belongs_to_runs(self) -> None:
        done = {runs, matches, seats, run_matches, match_columns, packed_games, positions, votes, run_votes}
        done |= {run_totals, locks, version}
        for table in metadata.sorted_tables:
            if table in done or table.name not in self._tables:
                continue
            sound = []
            for row in self._all(table):
                wrong = wrong_row(table, row) or ("" if row.run_id in self._runs else "its run is missing or damaged")
                if wrong:
                    self._note(f"table {table.name}, {_shown(row.run_id)}", wrong, _GONE)
                else:
                    sound.append(row)
            if table is run_progress:
                self.running = {row.holder: row.heartbeat for row in sound if row.state in LIVE}
            self.keep(table, sound if table is run_progress else self._whole(table, sound))

    def _whole(self, table: Table, rows: Rows) -> Rows:
        """Returns the rows of complete runs: in others it is unknown which row is damaged."""
        by_run: dict[str, list[Row[Any]]] = defaultdict(list)
        for row in rows:
            by_run[row.run_id].append(row)
        names = [column.name for column in content(table)]
        for run in sorted(self._runs):
            found = Total.of(checksum(*(row._mapping[name] for name in names)) for row in by_run[run])
            if not self._count(run, table, found, _GONE):
                del by_run[run]
        return [row for some in by_run.values() for row in some]

    def _look_at_other_tables(self) -> None:
        """Looks at Optuna's tables, where only texts and JSON can be checked."""
        ours, known = {table.name for table in metadata.sorted_tables}, MetaData()
        for name in sorted(self._tables - ours):
            try:
                table = Table(name, known, autoload_with=self.connection, resolve_fks=False)
                rows = self._all(table) if len(table.primary_key) else []
            except (*UNREADABLE, *MALFORMED):
                self._note(f"table {name}", "its definition cannot be read", "lost")
                continue
            sound = [row for row in rows if not _wrong_texts(row)]
            if len(sound) < len(rows):
                self._note(f"table {name}", f"{len(rows) - len(sound)} rows hold something else than text", _GONE)
            self.keep(table, sound)


def _wrong_texts(row: Row[Any]) -> bool:
    for name, value in row._mapping.items():
        if isinstance(value, str):
            try:
                value.encode()
                if name.endswith("_json"):
                    json.loads(value)
            except ValueError:
                return True
    return False


def _shown(key: Any) -> str:
    """Returns a printable form of a key that may be damaged."""
    return str(key).encode("ascii", "replace").decode()[:60] if isinstance(key, str) else repr(key)[:60]


def _cause(failure: BaseException) -> str:
    return " ".join(str(getattr(failure, "orig", None) or failure).split())[:200]
