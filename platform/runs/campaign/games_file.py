"""An experiment's games and searches as one small file, without the moves: its definition says the rest.

The file has, in the order in which the definition gives them, which games are stored and how they ended; of searches,
what they chose. It has moves only of the games that positions are searched from. The same store gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from turnier.arena.match import (
    MatchRecord,
    MatchSpec,
    Termination,
    count_plies,
    moves_kept,
    pack_plies,
    unpack_plies,
    without_moves,
)
from turnier.arena.repeated_search import SearchRecord, SearchSpec
from turnier.core.array_files import read_arrays, write_arrays
from turnier.core.errors import MALFORMED, UserError
from turnier.results.store.database import CHUNK
from turnier.results.store.store import Run, Store
from turnier.runs.campaign.learned import with_networks_in
from turnier.runs.experiment import (
    Experiment,
    begin_experiment,
    experiment_of_run,
    row_matches,
    row_records,
    row_searches,
    same_games,
)

Array = npt.NDArray[Any]
FORMAT, VERSION = "turnier campaign", 1
ENDING = ".npz"
MAX_BYTES = 1 << 30  # of the arrays of a file: far more than any experiment has
# These measures need only actions; visits and values would be most of the file.
_OF_ACTIONS = ("certainty", "normalised_certainty", "agreement")
_TEXTS = ("termination", "facts", "error", "release")  # of each game: the different ones, and which it has
_SEATS = ("score", "decisions", "nodes", "seat_seconds", "cpu_seconds")  # game by game
_NAMES = (
    *("about", "counts", "stored", "seconds", "plies", "kept", "moves", *_SEATS),
    *(f"{name}_{part}" for name in _TEXTS for part in ("values", "codes")),
    *("searched", "action", "search_nodes", "search_seconds", "visits", "action_values"),
)


def export_games(store: Store, run: Run, folder: Path) -> Path:
    """Writes the file of an experiment's run into a folder; returns its path."""
    experiment = Experiment.from_run(run)
    found = [row_records(row, experiment.seed, store) for row in experiment.rows]
    planned = (len(row_matches(row, experiment.seed)) for row in experiment.rows)
    counts = [max(number, len(records)) for number, records in zip(planned, found, strict=True)]
    specs, searches = _matches(experiment, counts), _searches(experiment, found)
    portable = with_networks_in(experiment, "")
    about = {
        "format": FORMAT,
        "version": VERSION,
        "definition": portable.definition(),
        "created": run.created.isoformat(),
        "ids": _digest(_matches(portable, counts), _searches(portable, found)),
    }
    records = {record.spec.id: record for records in found for record in records}
    searched = {record.spec.id: record for record in store.searches.records(searches)}
    arrays: dict[str, Array] = {
        "about": np.frombuffer(json.dumps(about, sort_keys=True).encode(), np.uint8),
        "counts": np.array(counts, np.int64),
        "stored": np.array([match_id in records for match_id in specs], bool),
        "searched": np.array([search_id in searched for search_id in searches], bool),
        **_of_games([records[i] for i in specs if i in records], _collected(experiment)),
        **_of_searches([searched[i] for i in searches if i in searched], experiment),
    }
    path = folder / f"{experiment.document}-{experiment.name}{ENDING}"
    write_arrays(path, "an export", arrays, compressed=True)
    return path


def import_games(store: Store, path: Path, folder: Path) -> int:
    """Stores the games and searches of a file; returns the number of those that the store did not have.

    Raises UserError where the file is not a whole one, or its games are not those of its definition.

    Args:
        store: of any content.
        path: of the file.
        folder: where the networks of its agents are, or will be trained; those of a stored run stay where they are.
    """
    about, arrays = _read(path)
    try:
        portable = Experiment.from_definition(about["definition"])
        counts = _numbers(arrays, "counts", len(portable.rows)).tolist()
        _require(all(count >= 0 for count in counts), "a number of games is negative")
        matches = _matches(portable, counts)
        known = experiment_of_run(store, portable.run_id)
        again = known is not None and same_games(with_networks_in(known, ""), portable)
        moved = known if known and again else with_networks_in(portable, str(folder))
        records = dict(zip(matches, _records(arrays, list(_matches(moved, counts).values())), strict=True))
        found = [
            [record for spec in row_matches(row, portable.seed) if (record := records.get(spec.id))]
            for row in portable.rows
        ]
        searches = _searches(portable, found)
        _require(about["ids"] == _digest(matches, searches), "its definition has other games here")
        searched = list(_search_records(arrays, list(_searches(moved, found).values())))
        created_then = str(about["created"])
    except MALFORMED as failure:
        raise _unreadable(path, str(failure) or type(failure).__name__) from None
    begin_experiment(moved, store, created_then)
    games = [record for record in records.values() if record]
    new = 0
    for first in range(0, len(games), CHUNK):
        new += store.append(moved.run_id, games[first : first + CHUNK])
    for first in range(0, len(searched), CHUNK):
        new += store.searches.append(moved.run_id, searched[first : first + CHUNK])
    return new


def created(path: Path) -> str:
    """Returns when the run of a file was begun, as text that sorts by time."""
    return str(_read(path)[0].get("created", ""))


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Array]]:
    try:
        arrays = read_arrays(path, _NAMES, MAX_BYTES, optional=_NAMES)
        about: dict[str, Any] = json.loads(arrays["about"].tobytes()) if "about" in arrays else {}
        _require(about.get("format") == FORMAT, "it is not one")
        if about["version"] != VERSION:
            raise UserError(
                f"{path} must have version {VERSION} of the format, got {about['version']}; import it with the Turnier"
                " that wrote it."
            )
        for name in _NAMES:
            _require(name in arrays, f"the entry {name} is missing")
        return about, arrays
    except OSError as failure:
        raise _unreadable(path, failure.strerror or str(failure)) from None
    except MALFORMED as failure:
        raise _unreadable(path, str(failure) or type(failure).__name__) from None


def _unreadable(path: Path, reason: str) -> UserError:
    return UserError(f"{path} must be a whole export of a campaign, but: {reason.rstrip('.')}; fetch it again.")


def _require(holds: bool, reason: str) -> None:
    if not holds:
        raise ValueError(reason)


def _matches(experiment: Experiment, counts: Sequence[int]) -> dict[str, MatchSpec]:
    """Returns the first matches of each row, so many of them, by id."""
    specs: dict[str, MatchSpec] = {}
    for row, count in zip(experiment.rows, counts, strict=True):
        wanted = row_matches(row, experiment.seed)
        if count > len(wanted):
            wanted = row_matches(replace(row, games=count), experiment.seed)
        specs |= {spec.id: spec for spec in wanted[:count]}
    return specs


def _searches(experiment: Experiment, found: Sequence[Sequence[MatchRecord]]) -> dict[str, SearchSpec]:
    """Returns the searches of each row by id, given the records of its games."""
    rows = zip(experiment.rows, found, strict=True)
    return {spec.id: spec for row, records in rows for spec in row_searches(row, experiment.seed, records)}


def _collected(experiment: Experiment) -> set[str]:
    """Returns the ids of the games that positions are searched from."""
    rows = [row for row in experiment.rows if row.states]
    return {spec.id for row in rows for spec in row_matches(row, experiment.seed)}


def _digest(*ids: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(one for some in ids for one in some).encode()).hexdigest()


def _of_games(records: Sequence[MatchRecord], with_moves: Collection[str]) -> dict[str, Array]:
    """Returns games as arrays."""
    kept = [record.spec.id in with_moves and moves_kept(record.plies) for record in records]
    moves = [unpack_plies(record.plies) for record, keep in zip(records, kept, strict=True) if keep]
    joined = np.concatenate([np.empty(0, np.int64), *moves])
    unknown = [(np.nan,) * len(record.scores) for record in records]
    arrays = {
        "seconds": np.array([record.seconds for record in records], np.float64),
        "plies": np.array([count_plies(record.plies) for record in records], np.int64),
        "kept": np.array(kept, bool),
        "moves": joined.astype(np.min_scalar_type(int(joined.max(initial=0)))),
        "score": _joined((record.scores for record in records), np.float64),
        "decisions": _joined((record.decisions for record in records), np.int64),
        "nodes": _joined((record.nodes for record in records), np.int64),
        "seat_seconds": _joined((record.seat_seconds for record in records), np.float64),
        "cpu_seconds": _joined(
            (r.seat_cpu_seconds or nan for r, nan in zip(records, unknown, strict=True)), np.float64
        ),
    }
    texts = {
        "termination": [record.termination.value for record in records],
        "facts": [json.dumps(record.facts) for record in records],
        "error": [record.error for record in records],
        "release": [record.release for record in records],
    }
    for name, of_games in texts.items():
        values, codes = np.unique(np.array(of_games, str), return_inverse=True)
        arrays |= {f"{name}_values": values, f"{name}_codes": codes.astype(np.int32)}
    return arrays


def _of_searches(records: Sequence[SearchRecord], experiment: Experiment) -> dict[str, Array]:
    """Returns searches as arrays; visits and values only where a row is measured by them."""
    whole = records if any(row.states and row.measure not in _OF_ACTIONS for row in experiment.rows) else []
    return {
        "action": np.array([record.action for record in records], np.int64),
        "search_nodes": np.array([record.nodes for record in records], np.int64),
        "search_seconds": np.array([record.seconds for record in records], np.float64),
        "visits": _joined((record.visits for record in whole), np.float64),
        "action_values": _joined((record.values for record in whole), np.float64),
    }


def _joined(parts: Iterable[Sequence[float]], kind: type) -> Array:
    return np.array([value for part in parts for value in part], kind)


def _numbers(arrays: Mapping[str, Array], name: str, length: int) -> Array:
    """Returns an array of numbers; raises ValueError where it has another length or holds something else."""
    array = arrays[name]
    _require(array.shape == (length,) and array.dtype.kind in "biuf", f"the entry {name} must have {length:,} numbers")
    return array


def _records(arrays: Mapping[str, Array], specs: Sequence[MatchSpec]) -> list[MatchRecord | None]:
    """Returns the record of each game, None where it is not stored; raises ValueError where arrays are not whole."""
    stored = _numbers(arrays, "stored", len(specs)).tolist()
    played = [spec for spec, has in zip(specs, stored, strict=True) if has]
    seats = np.cumsum([0, *(len(spec.agents) for spec in played)]).tolist()
    of_seats = [_numbers(arrays, name, seats[-1]).tolist() for name in _SEATS]
    seconds, plies, kept = (_numbers(arrays, name, len(played)).tolist() for name in ("seconds", "plies", "kept"))
    texts = [_texts(arrays, name, len(played)) for name in _TEXTS]
    _require(all(0 <= count < 1 << 32 for count in plies), "a number of moves is impossible")
    moves = _numbers(arrays, "moves", sum(count for count, keep in zip(plies, kept, strict=True) if keep))
    records, end = list[MatchRecord](), 0
    for i, spec in enumerate(played):
        score, decisions, nodes, wall, cpu = (tuple(values[seats[i] : seats[i + 1]]) for values in of_seats)
        termination, facts, error, release = (of_games[i] for of_games in texts)
        if kept[i]:
            encoded, end = pack_plies(moves[end : end + plies[i]].astype(np.int64)), end + plies[i]
        else:
            encoded = without_moves(plies[i], spec.opening)
        measured = () if any(value != value for value in cpu) else cpu
        records.append(
            MatchRecord(
                *(spec, Termination(termination), score, decisions, nodes, wall, seconds[i], encoded),
                *(json.loads(facts), error, measured, release),
            )
        )
    rest = iter(records)
    return [next(rest) if has else None for has in stored]


def _texts(arrays: Mapping[str, Array], name: str, length: int) -> list[str]:
    values, codes = arrays[f"{name}_values"], _numbers(arrays, f"{name}_codes", length)
    _require(values.dtype.kind == "U" and values.ndim == 1, f"the entry {name}_values must have texts")
    _require(bool(((codes >= 0) & (codes < len(values))).all()), f"the entry {name}_codes must name texts")
    return [str(text) for text in values[codes]]


def _search_records(arrays: Mapping[str, Array], specs: Sequence[SearchSpec]) -> Iterator[SearchRecord]:
    """Yields the records of the stored searches; visits and values that the file does not have are NaN."""
    stored = _numbers(arrays, "searched", len(specs))
    done = [spec for spec, has in zip(specs, stored.tolist(), strict=True) if has]
    names = ("action", "search_nodes", "search_seconds")
    columns = (_numbers(arrays, name, len(done)).tolist() for name in names)
    ends = np.cumsum([0, *(len(spec.position.legal) for spec in done)]).tolist()
    of_actions = []
    for name in ("visits", "action_values"):
        known = len(arrays[name]) > 0
        of_actions.append(_numbers(arrays, name, ends[-1]) if known else np.full(ends[-1], np.nan))
    for spec, first, end, action, nodes, seconds in zip(done, ends[:-1], ends[1:], *columns, strict=True):
        _require(action in spec.position.legal, "a search chose an action that is not legal")
        visits, values = (tuple(numbers[first:end].tolist()) for numbers in of_actions)
        yield SearchRecord(spec, action, visits, values, nodes, seconds)
