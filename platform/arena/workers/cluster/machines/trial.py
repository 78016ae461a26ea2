"""A fixed tenth of a second of a run's own games and searches, to compare this machine with another."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .....core.errors import UserError
from ....match import MatchRecord, MatchSpec
from ....randomness import can_be_repeated
from ....repeated_search import SearchSpec
from ...executor import Work

SECONDS = 0.1
EACH_SECONDS = 0.5  # for the first round, so that slow agents leave no others untried
LINEUPS = 16  # maximum
ROUNDS = (1, 4, 16, 64)  # moves of every seat per game: short games of all lineups first, then longer ones
_played: dict[tuple[str, ...], list[str]] = {}  # outcomes here -> outcomes in this process


class Trial(NamedTuple):
    """Games or searches decided by seeds, and their outcomes here."""

    work: Work[Any, Any]
    specs: list[Any]
    outcomes: list[str]

    def played(self) -> list[str]:
        """Returns the outcomes in this process, which plays them once."""
        key = tuple(self.outcomes)
        if key not in _played:
            try:
                self.work.prepare(self.specs)
                _played[key] = [outcome(record) for record in self.work.do(self.specs, None)]
            except UserError:  # such as a missing file: it ends the work itself, too
                return self.outcomes
        return _played[key]


def trial_of(work: Work[Any, Any], specs: Iterable[Any]) -> Trial | None:
    """Plays some of the workers' games for about SECONDS; returns None if none are short and decided by seeds.

    Args:
        work: the kind of work.
        specs: matches or searches of the run.
    """
    known = [spec for spec in work.one_of_each_kind(specs) if isinstance(spec, MatchSpec | SearchSpec)]
    chosen = [spec for spec in known if can_be_repeated(*spec.names)][:LINEUPS]
    work.prepare(chosen)
    records, began = list[Any](), time.perf_counter()
    for rounds in ROUNDS:
        left = (EACH_SECONDS if rounds == ROUNDS[0] else SECONDS) - (time.perf_counter() - began)
        if left > 0:
            records += _done_within(left, work, [_shortened(spec, rounds) for spec in chosen])
    quick = {record.spec: record for record in records if record.seconds <= SECONDS}
    return Trial(work, list(quick), [outcome(record) for record in quick.values()]) if quick else None


def _done_within(seconds: float, work: Work[Any, Any], specs: Sequence[Any]) -> Sequence[Any]:
    """Does as much of some work as possible in this time."""
    stop = np.zeros(1, np.int64)
    timer = threading.Timer(seconds, stop.fill, [1])
    timer.start()
    try:
        return work.do(specs, stop)
    finally:
        timer.cancel()


def outcome(record: Any) -> str:
    """Returns a digest of the parts of a match or search that must be the same on every machine."""
    if isinstance(record, MatchRecord):
        said: Sequence[Any] = (record.termination.value, record.scores, record.plies)
    else:
        said = (record.action, record.visits, record.values)
    return hashlib.sha256(repr(said).encode()).hexdigest()[:16]


def _shortened(spec: MatchSpec | SearchSpec, rounds: int) -> MatchSpec | SearchSpec:
    """Returns a match that ends after so many moves of every seat; searches are not shortened."""
    if isinstance(spec, SearchSpec):
        return spec
    plies = len(spec.opening) + rounds * len(spec.agents)
    return spec if 0 < spec.max_plies <= plies else replace(spec, max_plies=plies)
