"""A run's matches as files: tables with a row per seat (CSV, Parquet), JSON lines to replay, or PGN and SGF."""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
from sqlalchemy import select

from turnier.arena.match import MatchRecord
from turnier.arena.match_json import to_json
from turnier.core.errors import UserError, require_extra
from turnier.core.outputs import require_file, require_folder
from turnier.results.integrity.match_rows import DamagedMatch
from turnier.results.notation.pgn import pgn_of
from turnier.results.notation.sgf import sgf_of
from turnier.results.store.schema import matches, run_matches
from turnier.results.store.store import Run, Store

COLUMNS = (
    "match",
    "game",
    "seed",
    "max_plies",
    "opening",
    "seat",
    "agent",
    "score",
    "decisions",
    "nodes",
    "seat_seconds",
    "seat_cpu_seconds",
    "seconds",
    "termination",
    "error",
)
LISTED = 20  # damaged games in one sentence
Writer = Callable[[Sequence[MatchRecord]], object]


def export(store: Store, run: Run, out: Path, on_games: Callable[[int], object] = lambda games: None) -> list[Path]:
    """Writes a run's matches in the order in which they were stored; returns the files, which appear only when whole.

    Damaged games are left out; Damaged, raised after all others were written, lists them.

    Args:
        out: a file that ends in .csv, .parquet or .jsonl, in .pgn for chess, or in .sgf for Go, Othello and Hex; or a
            folder, for the first three and the run's manifest (Parquet only where pyarrow is installed).
        on_games: called with the number of games after each batch that was written.
    """
    paths = export_files(out)
    facts = _fact_names(store, run.id)
    parts = {path: path.with_name(f".{path.name}.part") for path in paths}
    left_out: list[DamagedMatch] = []
    try:
        with contextlib.ExitStack() as stack:
            if out not in paths:
                out.mkdir(exist_ok=True)
                manifest = asdict(run) | {"created": run.created.isoformat()}
                (out / "run.json").write_text(json.dumps(manifest, indent=2) + "\n")
            writers = [stack.enter_context(_WRITERS[path.suffix](part, facts)) for path, part in parts.items()]
            for records in store.records_of_run(run.id, damage=left_out.append):
                for write in writers:
                    write(records)
                on_games(len(records))
        for path, part in parts.items():
            part.replace(path)
    except OSError as failure:
        raise UserError(f"an export must be written to a folder with room, got {failure}; choose another.") from None
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)
    if left_out:
        shown = "; ".join(map(str, left_out[:LISTED]))
        more = f" and {len(left_out) - LISTED:,} more" if len(left_out) > LISTED else ""
        raise store.database.damaged(f"{', '.join(map(str, paths))} had to leave out what is damaged ({shown}{more})")
    return paths


def _fact_names(store: Store, run_id: str) -> list[str]:
    """Returns the names of the facts in a run's matches, for each game as in its first undamaged match."""
    query = select(matches.c.game).join(run_matches, run_matches.c.match_number == matches.c.number)
    with store.database.reading() as connection:
        games = set(connection.scalars(query.where(run_matches.c.run_id == run_id).distinct()))
    names: dict[str, None] = {}
    for records in store.records_of_run(run_id, damage=lambda match: None):
        for record in records:
            if record.spec.game in games:
                games.remove(record.spec.game)
                names |= dict.fromkeys(record.facts)
        if not games:
            break
    return list(names)


def export_files(out: Path) -> list[Path]:
    """Returns the files of an export, see `export`; raises UserError where they cannot be written."""
    if out.suffix == ".parquet":
        require_extra("an export to .parquet", "parquet", "pyarrow")
    if out.suffix in _WRITERS:
        require_file(out, "an export")
        return [out]
    if out.suffix:
        raise UserError(f"an export must be a folder or end in {', '.join(_WRITERS)}, got {out}; choose one of them.")
    if not out.parent.is_dir():
        raise UserError(f"the folder of an export must exist, got {out}; create {out.parent} first.")
    require_folder(out, "an export")
    return [out / f"games{suffix}" for suffix in _TABLES if suffix != ".parquet" or find_spec("pyarrow")]


def seat_rows(records: Sequence[MatchRecord], facts: Sequence[str]) -> pd.DataFrame:
    """Returns a row per match and seat: COLUMNS, then the game's facts (empty where a game has no such fact)."""
    rows = [
        (
            *(r.spec.id, r.spec.game, r.spec.seed, r.spec.max_plies, " ".join(map(str, r.spec.opening)), seat),
            *(r.spec.agents[seat], r.scores[seat], r.decisions[seat], r.nodes[seat], r.seat_seconds[seat]),
            r.seat_cpu_seconds[seat] if r.seat_cpu_seconds else None,
            *(r.seconds, r.termination.value, r.error),
            *(r.facts.get(fact) for fact in facts),
        )
        for r in records
        for seat in range(len(r.scores))
    ]
    frame = pd.DataFrame(rows, columns=[*COLUMNS, *facts])
    return frame.astype(dict.fromkeys(("seat_cpu_seconds", *facts), float))


@contextlib.contextmanager
def _csv(path: Path, facts: Sequence[str]) -> Iterator[Writer]:
    with path.open("w", encoding="utf-8", newline="") as file:
        seat_rows([], facts).to_csv(file, index=False)
        yield lambda records: seat_rows(records, facts).to_csv(file, index=False, header=False)


@contextlib.contextmanager
def _parquet(path: Path, facts: Sequence[str]) -> Iterator[Writer]:
    import pyarrow as arrow
    from pyarrow import parquet

    text = dict.fromkeys(("match", "game", "opening", "agent", "termination", "error"), arrow.string())
    whole = dict.fromkeys(("seed", "max_plies", "seat", "decisions", "nodes"), arrow.int64())
    kinds = (
        text | whole | dict.fromkeys(("score", "seat_seconds", "seat_cpu_seconds", "seconds", *facts), arrow.float64())
    )
    schema = arrow.schema([(name, kinds[name]) for name in (*COLUMNS, *facts)])
    with parquet.ParquetWriter(path, schema) as writer:
        yield lambda records: writer.write_table(
            arrow.Table.from_pandas(seat_rows(records, facts), schema, preserve_index=False)
        )


@contextlib.contextmanager
def _jsonl(path: Path, facts: Sequence[str]) -> Iterator[Writer]:
    encode = json.JSONEncoder(separators=(",", ":")).encode
    with path.open("w", encoding="utf-8") as file:
        yield lambda records: file.writelines(encode(to_json(record)) + "\n" for record in records)


@contextlib.contextmanager
def _texts(written: Callable[[MatchRecord], str], path: Path, facts: Sequence[str]) -> Iterator[Writer]:
    """Writes each game as text."""
    with path.open("w", encoding="utf-8") as file:
        yield lambda records: file.writelines(map(written, records))


_TABLES = {".csv": _csv, ".parquet": _parquet, ".jsonl": _jsonl}  # of any game
_WRITERS = _TABLES | {".pgn": functools.partial(_texts, pgn_of), ".sgf": functools.partial(_texts, sgf_of)}
