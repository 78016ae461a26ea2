"""Played games as arrays of an export, and back; and the requirements of reading an export of any kind."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
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
from turnier.core.array_files import read_arrays
from turnier.core.compilation.code_digest import EARLIER
from turnier.core.compilation.machine import ELSEWHERE
from turnier.core.errors import MALFORMED, UserError

Array = npt.NDArray[Any]
VERSION = 1
ENDING = ".npz"
MAX_BYTES = 1 << 30  # of the arrays of a file: far more than in any experiment
_TEXTS = ("termination", "facts", "error", "release")  # of each game: the distinct ones, and an index of them
_SEATS = ("score", "decisions", "nodes", "seat_seconds", "cpu_seconds")  # game by game
OF_GAMES = (
    *("stored", "seconds", "plies", "kept", "moves", *_SEATS),
    *(f"{name}_{part}" for name in _TEXTS for part in ("values", "codes")),
)


def read_export(path: Path, names: tuple[str, ...], kind: str) -> tuple[dict[str, Any], dict[str, Array]]:
    """Returns a file's own description and its arrays; raises UserError if it is not a complete export of the kind."""
    try:
        arrays = read_arrays(path, names, MAX_BYTES, optional=names)
        about: dict[str, Any] = json.loads(arrays["about"].tobytes()) if "about" in arrays else {}
        require(about.get("format") == kind, "it is not one")
        if about["version"] != VERSION:
            raise UserError(
                f"{path} must have version {VERSION} of the format, got {about['version']}; import it with the Turnier"
                " that wrote it."
            )
        for name in names:
            require(name in arrays, f"the entry {name} is missing")
        return about, arrays
    except OSError as failure:
        raise unreadable(path, failure.strerror or str(failure)) from None
    except MALFORMED as failure:
        raise unreadable(path, str(failure) or type(failure).__name__) from None


def unreadable(path: Path, reason: str) -> UserError:
    return UserError(f"{path} must be a whole export of a campaign, but: {reason.rstrip('.')}; fetch it again.")


def require(holds: bool, reason: str) -> None:
    """Raises ValueError, which readers turn into a sentence about their file."""
    if not holds:
        raise ValueError(reason)


def of_games(records: Sequence[MatchRecord], with_moves: Collection[str] = ()) -> dict[str, Array]:
    """Returns games as the arrays OF_GAMES without `stored`, with the moves of some ids."""
    kept = [record.spec.id in with_moves and moves_kept(record.plies) for record in records]
    moves = [unpack_plies(record.plies) for record, keep in zip(records, kept, strict=True) if keep]
    every_move = np.concatenate([np.empty(0, np.int64), *moves])
    unknown = [(np.nan,) * len(record.scores) for record in records]
    arrays = {
        "seconds": np.array([record.seconds for record in records], np.float64),
        "plies": np.array([count_plies(record.plies) for record in records], np.int64),
        "kept": np.array(kept, bool),
        "moves": every_move.astype(np.min_scalar_type(int(every_move.max(initial=0)))),
        "score": joined((record.scores for record in records), np.float64),
        "decisions": joined((record.decisions for record in records), np.int64),
        "nodes": joined((record.nodes for record in records), np.int64),
        "seat_seconds": joined((record.seat_seconds for record in records), np.float64),
        "cpu_seconds": joined((r.seat_cpu_seconds or nan for r, nan in zip(records, unknown, strict=True)), np.float64),
    }
    texts = {
        "termination": [record.termination.value for record in records],
        "facts": [json.dumps(record.facts) for record in records],
        "error": [record.error for record in records],
        "release": [record.release for record in records],
    }
    for name, of_all in texts.items():
        arrays |= coded(name, of_all)
    return arrays


def coded(name: str, texts: Sequence[str]) -> dict[str, Array]:
    """Returns the distinct texts, and the index of each text among them."""
    values, codes = np.unique(np.array(texts, str), return_inverse=True)
    return {f"{name}_values": values, f"{name}_codes": codes.astype(np.int32)}


def joined(parts: Iterable[Sequence[float]], kind: type) -> Array:
    """Returns all numbers one after the other."""
    return np.array([value for part in parts for value in part], kind)


def numbers(arrays: Mapping[str, Array], name: str, length: int) -> Array:
    """Returns an array of numbers; raises ValueError for another length or other content."""
    array = arrays[name]
    require(array.shape == (length,) and array.dtype.kind in "biuf", f"the entry {name} must have {length:,} numbers")
    return array


def moment(about: Mapping[str, Any]) -> str:
    """Returns the time when a file's run was begun; raises ValueError if it is invalid."""
    datetime.fromisoformat(about["created"])
    return str(about["created"])


def records_of(arrays: Mapping[str, Array], specs: Sequence[MatchSpec]) -> list[MatchRecord | None]:
    """Returns the record of each game, None if it is not stored; raises ValueError if arrays are incomplete."""
    stored = numbers(arrays, "stored", len(specs)).tolist()
    played = [spec for spec, has in zip(specs, stored, strict=True) if has]
    seats = np.cumsum([0, *(len(spec.agents) for spec in played)]).tolist()
    of_seats = [numbers(arrays, name, seats[-1]).tolist() for name in _SEATS]
    seconds, plies, kept = (numbers(arrays, name, len(played)).tolist() for name in ("seconds", "plies", "kept"))
    texts = [texts_of(arrays, name, len(played)) for name in _TEXTS]
    known = {text: json.loads(text) for text in set(texts[_TEXTS.index("facts")])}
    require(all(isinstance(facts, dict) for facts in known.values()), "the facts of a game must be named")
    require(all(0 <= count < 1 << 32 for count in plies), "a number of moves is impossible")
    moves = numbers(arrays, "moves", sum(count for count, keep in zip(plies, kept, strict=True) if keep))
    records, end = list[MatchRecord](), 0
    for i, spec in enumerate(played):
        score, decisions, nodes, wall, cpu = (tuple(values[seats[i] : seats[i + 1]]) for values in of_seats)
        termination, facts, error, release = (of_all[i] for of_all in texts)
        if kept[i]:
            encoded, end = pack_plies(moves[end : end + plies[i]].astype(np.int64)), end + plies[i]
        else:
            encoded = without_moves(plies[i], spec.opening)
        measured = () if any(value != value for value in cpu) else cpu
        records.append(
            MatchRecord(
                *(spec, Termination(termination), score, decisions, nodes, wall, seconds[i], encoded),
                *(dict(known[facts]), error, measured, release or EARLIER, ELSEWHERE),
            )
        )
    rest = iter(records)
    return [next(rest) if has else None for has in stored]


def texts_of(arrays: Mapping[str, Array], name: str, length: int) -> list[str]:
    """Returns the texts from the arrays of `coded`."""
    values, codes = arrays[f"{name}_values"], numbers(arrays, f"{name}_codes", length)
    require(values.dtype.kind == "U" and values.ndim == 1, f"the entry {name}_values must have texts")
    require(bool(((codes >= 0) & (codes < len(values))).all()), f"the entry {name}_codes must name texts")
    return [str(text) for text in values[codes]]
