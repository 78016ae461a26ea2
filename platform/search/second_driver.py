"""A second driver of a study plays games that the first one waits for, and takes its place where that one ends.

Any machine that uses the same store may help, at any time: the search depends on the games only, not on who played.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from turnier.arena.match import MatchSpec
from turnier.arena.workers.executor import Executor
from turnier.results.store.locks import Held, Lock
from turnier.runs.play import play_into
from turnier.search.generation import Generation
from turnier.search.storage.studies import optuna_errors

if TYPE_CHECKING:
    from turnier.search.study import Study

Fits = Callable[[Generation], bool]  # whether a generation is still to be played
POLL_SECONDS = 1.0


def lock_or_help(study: Study, executor: Executor, fits: Fits) -> Lock:
    """Takes the lock of a study; while another driver has it, plays some of its games."""
    chance = random.Random(os.getpid())  # two that help play different games; which ones changes no result
    helped = False
    while True:
        try:
            return study.store.lock(study.run_id)
        except Held as held:
            if not helped:
                print(f"{held.holder} drives this study; helping it, or going on where it ends.", file=sys.stderr)
            helped = True
        with optuna_errors(study.store.shown_url):
            generation = study.next_generation(study.stored_trials().get(study.search.generation, {}))
        asked = fits(generation)  # the other one may have been asked for more
        if asked and generation.stored:
            study.told(generation)
            continue
        wanted = _unplayed(study, generation) if asked else []
        if not wanted:
            time.sleep(POLL_SECONDS)
        some = chance.sample(wanted, min(len(wanted), 4 * executor.workers))
        for _ in play_into(study.store, study.run_id, some, executor):
            pass


def _unplayed(study: Study, generation: Generation) -> list[MatchSpec]:
    """Returns the games that the generation waits for and the store does not have."""
    while specs := generation.wanted():
        known = study.store.records([spec.id for spec in specs])
        for record in known:
            generation.take(record)
        if generation.waiting:
            have = {record.spec.id for record in known}
            return [spec for spec in specs if spec.id not in have]
    return []
