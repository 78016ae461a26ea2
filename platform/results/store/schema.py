"""The tables of the store. Optuna's (studies, trials, version_info ...) are in the same database."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    insert,
    inspect,
    select,
    text,
)

from ...core.errors import UserError
from ..integrity.damage import damaged

SCHEMA_VERSION = 11
OLDEST_VERSION = 2  # the oldest that `turnier upgrade` can read
_CREATION_LOCK = 0x7475726E  # PostgreSQL's advisory lock while tables are made

metadata = MetaData()

version = Table("turnier_version", metadata, Column("version", Integer, primary_key=True, autoincrement=False))

runs = Table(
    "runs",
    metadata,
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False),  # tournament | study | experiment | certainty | comparison | training | ...
    Column("name", Text, nullable=False),
    Column("definition", Text, nullable=False),  # JSON
    Column("created", Text, nullable=False),  # UTC, ISO 8601
    Column("environment", Text, nullable=False),  # JSON
    Column("checksum", BigInteger),  # of the columns before
)

# Seats and runs refer to a match by number, so rows are appended to a table; keys by content hash would touch a
# thousand pages per batch (measured: half the speed). Only `id` has a meaning outside the database.
matches = Table(
    "matches",
    metadata,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("id", Text, nullable=False, unique=True),  # MatchSpec.id
    Column("game", Text, nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("max_plies", BigInteger, nullable=False),
    Column("opening", BigInteger, nullable=False),  # number of plies from MatchSpec.opening
    Column("termination", Text, nullable=False),
    Column("seconds", Double, nullable=False),
    Column("plies", LargeBinary, nullable=False),
    Column("facts", Text, nullable=False),  # JSON
    Column("error", Text, nullable=False),
    Column("created", Text, nullable=False),  # UTC, ISO 8601
    Column("release", Text),  # release and code of Turnier that played it; empty: unknown
    Column("worker", Text),  # MatchRecord.worker; empty: unknown
    Column("checksum", BigInteger),  # with its seats, see integrity/match_rows.py
    Index("matches_by_game", "game"),
)

seats = Table(
    "seats",
    metadata,
    Column("match_number", ForeignKey("matches.number"), primary_key=True, autoincrement=False),
    Column("seat", Integer, primary_key=True, autoincrement=False),
    Column("agent", Text, nullable=False),
    Column("score", Double, nullable=False),
    Column("decisions", BigInteger, nullable=False),
    Column("nodes", BigInteger, nullable=False),
    Column("seconds", Double),  # of this seat's decisions; NULL if not measured
    Column("cpu_seconds", Double),  # CPU time of these decisions; NULL if not measured
    sqlite_with_rowid=False,
)

run_matches = Table(
    "run_matches",
    metadata,
    Column("run_id", ForeignKey("runs.id"), primary_key=True),
    Column("match_number", ForeignKey("matches.number"), primary_key=True, autoincrement=False),
    Index("run_matches_by_match", "match_number", "run_id"),
    sqlite_with_rowid=False,
)

# A copy of the matches as columns, many per row, see match_blocks.py.
match_columns = Table(
    "match_columns",
    metadata,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("run_id", ForeignKey("runs.id"), nullable=False),
    Column("level", Integer, nullable=False),  # number of merges of its matches; -1 = no more merges
    Column("matches", BigInteger, nullable=False),
    Column("data", LargeBinary, nullable=False),  # MatchColumns.to_bytes
    Column("checksum", BigInteger),  # of the data
    Index("match_columns_by_run", "run_id", "level"),
)

# Short games, many per row, that one run alone has, see results/packed. A game is here or in `matches`, never in both.
packed_games = Table(
    "packed_games",
    metadata,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),  # never that of a deleted row
    Column("run_id", ForeignKey("runs.id"), nullable=False),
    Column("game", Text, nullable=False),
    Column("matches", BigInteger, nullable=False),
    Column("ids", LargeBinary, nullable=False),  # 16 bytes of each MatchSpec.id
    Column("games", LargeBinary, nullable=False),  # packed/layout.py
    Column("seats", LargeBinary, nullable=False),
    Column("plies", LargeBinary, nullable=False),
    Column("texts", Text, nullable=False),  # JSON
    Column("checksum", BigInteger),  # of the columns between the run and this one
    Index("packed_games_by_run", "run_id"),
    Index("packed_games_by_game", "game"),
    sqlite_autoincrement=True,
)

locks = Table(
    "locks",
    metadata,
    Column("name", Text, primary_key=True),
    Column("holder", Text, nullable=False),
    Column("heartbeat", Double, nullable=False),  # database.clock
)

# The progress of a run, reported by its driver every few seconds, see progress.py.
run_progress = Table(
    "run_progress",
    metadata,
    Column("run_id", ForeignKey("runs.id"), primary_key=True),
    Column("planned", BigInteger, nullable=False),
    Column("done", BigInteger, nullable=False),
    Column("unit", Text, nullable=False),
    Column("rate", Double, nullable=False),  # per second, in the last RATE_SECONDS
    Column("holder", Text, nullable=False),  # the driver: MACHINE:PROCESS
    Column("heartbeat", Double, nullable=False),  # database.clock
    Column("state", Text, nullable=False),  # running | finished | stopped
    Column("started", Text, nullable=False),  # UTC, ISO 8601: the driver's start
    Column("ended", Text),  # UTC, ISO 8601
    Column("command", Text, nullable=False),  # JSON: manifest.command_line
    Column("checksum", BigInteger),
)

# Texts that may change, unlike a run's definition, see annotations.py.
run_annotations = Table(
    "run_annotations",
    metadata,
    Column("run_id", ForeignKey("runs.id"), primary_key=True),
    Column("name", Text, primary_key=True),
    Column("text", Text, nullable=False),
    sqlite_with_rowid=False,
)

# Repeated searches of positions, see arena/repeated_search.py; a vote is one search. Arrays are JSON.
positions = Table(
    "positions",
    metadata,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("id", Text, nullable=False, unique=True),  # SeenPosition.id
    Column("game", Text, nullable=False),
    Column("state", Text, nullable=False),  # words of the state as the seat to move sees it
    Column("returns", Text, nullable=False),
    Column("legal", Text, nullable=False),  # action ids
    Column("phase", BigInteger, nullable=False),
    Column("checksum", BigInteger),
)

votes = Table(
    "votes",
    metadata,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("id", Text, nullable=False, unique=True),  # SearchSpec.id
    Column("position_number", ForeignKey("positions.number"), nullable=False),
    Column("agent", Text, nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("action", BigInteger, nullable=False),
    Column("visits", Text, nullable=False),  # of the legal actions
    Column("action_values", Text, nullable=False),  # of the legal actions
    Column("nodes", BigInteger, nullable=False),
    Column("seconds", Double, nullable=False),
    Column("created", Text, nullable=False),  # UTC, ISO 8601
    Column("checksum", BigInteger),  # with the id of the position
)

run_votes = Table(
    "run_votes",
    metadata,
    Column("run_id", ForeignKey("runs.id"), primary_key=True),
    Column("vote_number", ForeignKey("votes.number"), primary_key=True, autoincrement=False),
    Index("run_votes_by_vote", "vote_number", "run_id"),  # older stores get it when a run is deleted
    sqlite_with_rowid=False,
)

# The progress of training, see curves.py.
training_points = Table(
    "training_points",
    metadata,
    Column("run_id", ForeignKey("runs.id"), primary_key=True),
    Column("games", BigInteger, primary_key=True, autoincrement=False),  # played up to the point's end
    Column("count", BigInteger, nullable=False),  # games of the point
    Column("mean", Double, nullable=False),  # of the first seat's scores
    Column("deviation", Double, nullable=False),
    sqlite_with_rowid=False,
)

# A row says that all matches of an evaluation are stored: the matches of the run in which the agent plays.
training_evaluations = Table(
    "training_evaluations",
    metadata,
    Column("run_id", ForeignKey("runs.id"), primary_key=True),
    Column("games", BigInteger, primary_key=True, autoincrement=False),  # of training before the evaluation
    Column("agent", Text, nullable=False),
    sqlite_with_rowid=False,
)

# The number of a run's rows in a table, and the sum of their marks, to notice rows hidden by damage. See
# integrity/totals.py.
run_totals = Table(
    "run_totals",
    metadata,
    Column("run_id", ForeignKey("runs.id"), primary_key=True),
    Column("name", Text, primary_key=True),  # of the table
    Column("count", BigInteger, nullable=False),
    Column("sum", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

# Made by Optuna, in the same database.
_OF_OPTUNA = {
    *("alembic_version", "version_info", "studies", "study_directions", "study_user_attributes"),
    *("study_system_attributes", "trials", "trial_params", "trial_values", "trial_intermediate_values"),
    *("trial_user_attributes", "trial_system_attributes", "trial_heartbeats"),
}
# Code left in a database by another program, which runs when that is used: kind and name.
CODE_OF_SQLITE = "SELECT type, name FROM sqlite_master WHERE type IN ('trigger', 'view') ORDER BY type, name"
_CODE_OF_POSTGRESQL = """SELECT kind, name FROM (
    SELECT 'trigger' AS kind, tgname AS name, tgrelid AS place FROM pg_trigger WHERE NOT tgisinternal
    UNION ALL SELECT 'rule', rulename, ev_class FROM pg_rewrite WHERE rulename <> '_RETURN'
    UNION ALL SELECT 'view', relname, oid FROM pg_class WHERE relkind IN ('v', 'm')
) AS code JOIN pg_class ON pg_class.oid = place
WHERE relname = ANY(:names) AND relnamespace = current_schema()::regnamespace ORDER BY kind, name LIMIT 1"""
_CORE = {"runs", "matches", "seats", "run_matches"}  # a database with these is ours


class Outdated(UserError):
    """Raised if a store is of an earlier version, whose forms only `turnier upgrade` reads."""

    def __init__(self, place: str, shown_url: str, found: int) -> None:
        super().__init__(
            f"{place} was written by an earlier Turnier; type: turnier upgrade --store {shlex.quote(shown_url)}"
        )
        self.found = found  # its version


def is_new(connection: Connection, place: str, shown_url: str) -> bool:
    """Whether a database has no tables of ours yet.

    Raises UserError if tables belong to another program or to an unknown version, and if a table of ours is missing: a
    new one would be empty.
    """
    names = set(inspect(connection).get_table_names())
    ours = {table.name for table in metadata.sorted_tables}
    if version.name not in names:
        if not names >= _CORE:
            if foreign := sorted(names - _OF_OPTUNA):
                raise UserError(
                    f"{place} must be new or Turnier's own, but another program's table {foreign[0]!r} is in it;"
                    " name another database."
                )
            return True
    else:
        require_version(list(connection.scalars(select(version.c.version))), place, shown_url)
    if gone := sorted(ours - names):
        raise damaged(place, shown_url, f"its table {gone[0]!r} is missing")
    return False


def require_version(found: Sequence[int], place: str, shown_url: str) -> None:
    """Raises UserError unless these are the versions of a present store; Outdated for earlier ones."""
    if found == [SCHEMA_VERSION]:
        return
    if len(found) == 1 and OLDEST_VERSION <= found[0] < SCHEMA_VERSION:
        raise Outdated(place, shown_url, found[0])
    got = ", ".join(map(str, found)) or "none"
    newer = max(found, default=0) > SCHEMA_VERSION
    cure = "install a newer Turnier" if newer else "use the Turnier that made it"
    raise UserError(f"{place} must have schema version {SCHEMA_VERSION}, got {got}; {cure}, or name another database.")


def refuse_code(connection: Connection, place: str, shown_url: str) -> None:
    """Raises UserError for code that would run when tables are used, such as a trigger: we have none.

    In PostgreSQL users may have views of their own beside our tables.
    """
    if connection.dialect.name == "sqlite":
        found = connection.execute(text(CODE_OF_SQLITE)).first()
        cure = f"`turnier doctor --store {shlex.quote(shown_url)} --repair` leaves it out"
    else:
        names = [table.name for table in metadata.sorted_tables]
        found = connection.execute(text(_CODE_OF_POSTGRESQL), {"names": names}).first()
        cure = "drop it"
    if found:
        kind, name = found
        raise UserError(
            f"{place} must hold nothing but tables and indexes, but it has the {kind} {name!r}, which could change what"
            f" is stored or shown; {cure}, or name another database."
        )


def make(connection: Connection, place: str, shown_url: str) -> None:
    """Creates the tables of a new database; concurrent processes wait for each other."""
    lock_for_making(connection)
    if is_new(connection, place, shown_url):
        metadata.create_all(connection, checkfirst=False)
        connection.execute(insert(version).values(version=SCHEMA_VERSION))


def lock_for_making(connection: Connection) -> None:
    """Makes other processes wait to make or change tables until the transaction ends."""
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"SELECT pg_advisory_xact_lock({_CREATION_LOCK})"))
