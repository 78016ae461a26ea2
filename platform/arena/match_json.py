"""Matches as JSON that needs no store, as `turnier show --out` writes and `turnier check` replays it.

If the moves of a match were not kept, their number replaces their list.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from ..core.errors import MALFORMED, UserError
from ..games.game import Game
from .match import MatchRecord, MatchSpec, Termination, count_plies, moves_kept, pack_plies, unpack_plies, without_moves
from .play import replay
from .table import agrees, scores_at


def to_json(record: MatchRecord) -> dict[str, Any]:
    """Returns a match as plain data; NaN (an unmeasured time) becomes None."""
    return {
        "id": record.spec.id,
        "spec": record.spec.to_json(),
        "termination": record.termination.value,
        "scores": list(record.scores),
        "decisions": list(record.decisions),
        "nodes": list(record.nodes),
        "seat_seconds": [None if seconds != seconds else seconds for seconds in record.seat_seconds],
        "seat_cpu_seconds": list(record.seat_cpu_seconds),
        "seconds": record.seconds,
        "plies": unpack_plies(record.plies).tolist() if moves_kept(record.plies) else count_plies(record.plies),
        "facts": record.facts,
        "error": record.error,
        "release": record.release,
    }


def from_json(data: dict[str, Any]) -> MatchRecord:
    """Returns the match of data from `to_json`; raises one of MALFORMED for other data."""
    spec = MatchSpec.from_json(data["spec"])
    if spec.id != data["id"]:
        raise ValueError(f"the id must be {spec.id}, got {data['id']}")
    plies = data["plies"]
    return MatchRecord(
        spec,
        Termination(data["termination"]),
        tuple(data["scores"]),
        tuple(data["decisions"]),
        tuple(data["nodes"]),
        tuple(float("nan") if seconds is None else seconds for seconds in data["seat_seconds"]),
        data["seconds"],
        without_moves(plies, spec.opening) if isinstance(plies, int) else pack_plies(np.array(plies, np.int64)),
        data["facts"],
        data["error"],
        tuple(data.get("seat_cpu_seconds", ())),
        data.get("release", ""),
    )


def disagreement(record: MatchRecord) -> str | None:
    """Replays a match; returns a sentence if its end differs from the record, otherwise None.

    Raises UserError if its moves were not kept.
    """
    if not moves_kept(record.plies):
        unpack_plies(record.plies)
    try:
        end = replay(record.spec, record.plies)
    except UserError as failure:
        return str(failure)
    if not agrees(end, record.termination, record.scores):
        return f"the scores must be {scores_at(end, record.termination)}, got {record.scores}."
    facts = end.game.facts(end.state)
    return None if facts == record.facts else f"the facts must be {facts}, got {record.facts}."


def is_exported(path: Path) -> bool:
    """Whether a file's first line is a match written by `turnier show --out`."""
    try:
        with path.open("rb") as file:
            return "spec" in json.loads(file.readline())
    except (OSError, *MALFORMED):
        return False


def verify_exported(game: Game, path: Path) -> tuple[int, str | None]:
    """Replays exported matches; returns the lines read and the first disagreement as `line: sentence`, if any."""
    number = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                record = from_json(json.loads(line))
            except MALFORMED as failure:
                raise UserError(
                    f"every line must be an exported match, got {path}:{number}: {type(failure).__name__} {failure};"
                    " export the run again."
                ) from None
            if record.spec.game != game.full_text():
                return number, f"{number}: the game must be {game.full_text()}, got {record.spec.game}."
            wrong = disagreement(record)
            if wrong:
                return number, f"{number}: {wrong}"
    return number, None
