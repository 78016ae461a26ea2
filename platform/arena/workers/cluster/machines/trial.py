"""A fixed tenth of a second of a run's own games and searches: how they go here, and how on another machine."""

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
EACH_SECONDS = 0.5  # for the first round, so that slow agents leave none untried
LINEUPS = 16  # at most
ROUNDS = (1, 4, 16, 64)  # moves of every seat in a game: short games of all lineups first, then longer ones
_played: dict[tuple[str, ...], list[str]] = {}  # outcomes here -> outcomes in this process


class Trial(NamedTuple):
    """Games or searches that seeds decide, and how each went here."""

    work: Work[Any, Any]
    specs: list[Any]
    outcomes: list[str]

    def played(self) -> list[str]:
        """Returns how they go in this process, which plays them once."""
        key = tuple(self.outcomes)
        if key not in _played:
            try:
                self.work.prepare(self.specs)
                _played[key] = [outcome(record) for record in self.work.do(self.specs, None)]
            except UserError:  # such as a file that is missing: it ends the work itself, too
                return self.outcomes
        return _played[key]


def trial_of(work: Work[Any, Any], specs: Iterable[Any]) -> Trial | None:
    """Plays for about SECONDS what workers will play; returns None if nothing of that is short and decided by seeds.

    Args:
        work: what the specs are done with.
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


def _done_within(seconds: float, work: Work[Any, Any], specs: Sequence[Any]) -> list[Any]:
    """Does what it can of some work in this time."""
    stop = np.zeros(1, np.int64)
    timer = threading.Timer(seconds, stop.fill, [1])
    timer.start()
    try:
        return work.do(specs, stop)
    finally:
        timer.cancel()


def outcome(record: Any) -> str:
    """Returns what must be the same wherever a match or a search is repeated, as a digest."""
    if isinstance(record, MatchRecord):
        said: Sequence[Any] = (record.termination.value, record.scores, record.plies)
    else:
        said = (record.action, record.visits, record.values)
    return hashlib.sha256(repr(said).encode()).hexdigest()[:16]


def _shortened(spec: MatchSpec | SearchSpec, rounds: int) -> MatchSpec | SearchSpec:
    """Returns a match that ends after so many moves of every seat; searches are as short as they are."""
    if isinstance(spec, SearchSpec):
        return spec
    plies = len(spec.opening) + rounds * len(spec.agents)
    return spec if 0 < spec.max_plies <= plies else replace(spec, max_plies=plies)
