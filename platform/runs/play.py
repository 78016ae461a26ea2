"""Playing into the store: stored games are not played again, and new ones are stored at once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace

import numpy as np

from ..arena.match import NO_ACTION, MatchRecord, MatchSpec
from ..arena.play import prepare_matches
from ..arena.repeated_search import SearchRecord, SearchSpec
from ..arena.schedules.round_robin import MatchPlan, Rounds
from ..arena.schedules.spec_columns import SpecColumns
from ..arena.workers.batch_sizes import MAX_BATCH
from ..arena.workers.executor import MATCHES, SEARCHES, Executor, Source
from ..arena.workers.make import at_work
from ..arena.workers.where import Where
from ..results.packed.packing import Packing
from ..results.store.store import Store
from .bar import QUIET, Bar, run_bar
from .failing import Recorder, class_of, recording


@contextmanager
def playing(
    store: Store,
    run_id: str,
    label: str,
    total: int,
    where: Where | Executor,
    progress: bool = True,
    begin: Callable[[], object] = lambda: None,
) -> Iterator[tuple[Executor, Bar]]:
    """Starts workers, then the run, then a bar for its `total` games.

    Args:
        store: the store of the run.
        run_id: its id.
        label: label of the bar.
        total: number of games.
        where: the place to play, or a started executor, which stays open.
        progress: whether to show the bar.
        begin: stores the run, if it has not begun; not called if there is no cluster.
    """
    with at_work(where) as made:
        begin()
        with run_bar(store, run_id, label, total, None if progress else QUIET) as bar:
            bar.follow(made)
            yield made, bar


def play_into(
    store: Store,
    run_id: str,
    specs: Collection[MatchSpec],
    executor: Executor,
    skip: Callable[[int], object] | None = None,
    recorder: Recorder[MatchRecord] | None = None,
) -> Iterator[Sequence[MatchRecord]]:
    """Yields the records of all matches, batch by batch: first those that the store has, then those played now.

    Void matches are played again: the game or the machine may have been fixed. A batch is in the store before it is
    yielded, so a kill at any moment loses at most the matches in flight. With `skip`, stored matches are not read;
    `skip` receives their number. A `recorder` of a run with several rounds takes the games of all rounds.
    """
    ids = {spec.id: spec for spec in specs}
    stored = store.played(list(ids))
    if stored:
        store.link(run_id, list(stored))
    if stored and skip:
        skip(len(stored))
    elif stored:
        yield store.records([match_id for match_id in ids if match_id in stored])
    with nullcontext(recorder) if recorder else recording(store, run_id) as known:
        for records in executor.play([spec for match_id, spec in ids.items() if match_id not in stored]):
            known.append(records)
            yield records


def play_plan(
    store: Store, run_id: str, plan: MatchPlan, executor: Executor, skip: Callable[[int], object]
) -> Iterator[Sequence[MatchRecord]]:
    """Yields the records of those matches of a plan that are played now, as `play_into` does; `skip` counts the others.

    Matches are made and looked up while others are played: any number of them begins at once and takes little memory.
    """
    packing = Packing(store, run_id)
    with recording(store, run_id, append=packing.append if plan.has_no_repeats else None) as recorder:
        for records in executor.play_later(_unplayed(packing, plan, skip), len(plan)):
            recorder.append(records)
            yield records


def _unplayed(packing: Packing, plan: MatchPlan, skip: Callable[[int], object]) -> Iterator[SpecColumns]:
    """Yields the matches of a plan that the store lacks, after preparing all agents."""
    prepared = False
    for specs in plan.columns(MAX_BATCH):
        if not plan.has_no_repeats:
            specs = specs.take(np.sort(np.unique(specs.ids, return_index=True)[1]))
        stored = packing.adopt(specs)
        if stored.any():
            skip(int(stored.sum()))
        if not stored.all() and not prepared:
            prepare_matches(list(plan.examples()))
            prepared = True
        yield specs.take(np.flatnonzero(~stored))


def serve_into(
    store: Store, run_id: str, source: Source[MatchSpec], executor: Executor
) -> Generator[Sequence[MatchRecord]]:
    """Yields the records of a source's work, each batch after it is stored; see `Executor.serve`."""
    with recording(store, run_id, class_of) as recorder:
        for records in executor.serve(MATCHES, source):
            recorder.append(records)
            yield records


def play_rounds(store: Store, run_id: str, rounds: Rounds, executor: Executor) -> Iterator[Sequence[MatchRecord]]:
    """Plays a schedule that needs results, round by round, and yields the records as `play_into` does.

    A repeated call replays the rounds with the stored records and resumes after them.
    """
    specs = next(rounds, None)
    with recording(store, run_id) as recorder:
        while specs is not None:
            played: dict[str, MatchRecord] = {}
            for records in play_into(store, run_id, specs, executor, recorder=recorder):
                played |= {record.spec.id: record for record in records}
                yield records
            try:
                specs = rounds.send([played[spec.id] for spec in specs])
            except StopIteration:
                specs = None


def search_into(
    store: Store, run_id: str, specs: Sequence[SearchSpec], executor: Executor, with_visits: bool = False
) -> Iterator[Sequence[SearchRecord]]:
    """Yields the records of all searches as `play_into` does for matches; a kill loses only the searches in flight.

    Their positions are those of the specs, which may know the matches they come from.
    With `with_visits`, searches that were imported without visits are repeated.
    """
    ids = {spec.id: spec for spec in specs}
    stored = store.searches.stored(ids, with_visits)
    before: set[str] = set()
    if stored:
        store.searches.link(run_id, stored)
        found = store.searches.records([search_id for search_id in ids if search_id in stored])
        known = [replace(record, spec=ids[record.spec.id]) for record in found]
        before = {record.spec.agent for record in known if record.action != NO_ACTION}
        yield known
    append = functools.partial(store.searches.append, run_id)
    recorder: Recorder[SearchRecord] = Recorder(append, before=before.__contains__)
    for records in executor.run(SEARCHES, [spec for search_id, spec in ids.items() if search_id not in stored]):
        recorder.append(records)
        yield records
    recorder.require_played()
