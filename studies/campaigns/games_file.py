"""An experiment's games and searches as one small file, without the moves, which follow from its definition.

In the order of the definition, the file tells which games are stored, with their results, and the actions chosen by
searches. It has moves only of games from which positions are searched. The same store gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from turnier.arena.match import MatchRecord, MatchSpec
from turnier.arena.repeated_search import SearchRecord, SearchSpec
from turnier.core.array_files import write_arrays
from turnier.core.errors import MALFORMED
from turnier.results.store.database import CHUNK
from turnier.results.store.store import Run, Store
from turnier.runs.experiments.experiment import (
    Experiment,
    begin_experiment,
    experiment_of_run,
    needs_visits,
    row_matches,
    row_records,
    row_searches,
    same_games,
)
from turnier.studies.campaigns.game_arrays import (
    ENDING,
    OF_GAMES,
    VERSION,
    Array,
    joined,
    moment,
    numbers,
    of_games,
    read_export,
    records_of,
    require,
    unreadable,
)
from turnier.studies.campaigns.learned import with_networks_in

FORMAT = "turnier campaign"
_NAMES = (
    *("about", "counts", *OF_GAMES),
    *("searched", "action", "search_nodes", "search_seconds", "visits", "action_values"),
)


def export_games(store: Store, run: Run, folder: Path, known: Experiment | None = None) -> Path:
    """Writes the file of an experiment's run into a folder; returns its path.

    `known` is the run's experiment as it is known today: a statement that came later may have added games to its rows.
    """
    experiment = known or Experiment.from_run(run)
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
        **of_games([records[i] for i in specs if i in records], _collected(experiment)),
        **_of_searches([searched[i] for i in searches if i in searched], experiment),
    }
    path = folder / f"{experiment.document}-{experiment.name}{ENDING}"
    write_arrays(path, "an export", arrays, compressed=True)
    return path


def import_games(store: Store, path: Path, folder: Path) -> int:
    """Stores the games and searches of a file; returns the number of new ones.

    Raises UserError if the file is incomplete, or its games are not those of its definition.

    Args:
        store: of any content.
        path: of the file.
        folder: for the networks of its agents, trained or not; those of a stored run stay where they are.
    """
    about, arrays = read_export(path, _NAMES, FORMAT)
    try:
        portable = Experiment.from_definition(about["definition"])
        counts = numbers(arrays, "counts", len(portable.rows)).tolist()
        require(all(count >= 0 for count in counts), "a number of games is negative")
        matches = _matches(portable, counts)
        known = experiment_of_run(store, portable.run_id)
        again = known is not None and same_games(with_networks_in(known, ""), portable)
        moved = known if known and again else with_networks_in(portable, str(folder))
        records = dict(zip(matches, records_of(arrays, list(_matches(moved, counts).values())), strict=True))
        found = [
            [record for spec in row_matches(row, portable.seed) if (record := records.get(spec.id))]
            for row in portable.rows
        ]
        searches = _searches(portable, found)
        require(about["ids"] == _digest(matches, searches), "its definition has other games here")
        searched = list(_search_records(arrays, list(_searches(moved, found).values())))
        begun = moment(about)
    except MALFORMED as failure:
        raise unreadable(path, str(failure) or type(failure).__name__) from None
    begin_experiment(moved, store, begun)
    games = [record for record in records.values() if record]
    new = 0
    for first in range(0, len(games), CHUNK):
        new += store.append(moved.run_id, games[first : first + CHUNK])
    for first in range(0, len(searched), CHUNK):
        new += store.searches.append(moved.run_id, searched[first : first + CHUNK])
    return new


def created(path: Path) -> str:
    """Returns the time when the run of a file was begun, as text that sorts by time."""
    return str(read_export(path, _NAMES, FORMAT)[0].get("created", ""))


def _matches(experiment: Experiment, counts: Sequence[int]) -> dict[str, MatchSpec]:
    """Returns the first `counts` matches of each row, by id."""
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
    """Returns the ids of the games with the searched positions."""
    rows = [row for row in experiment.rows if row.states]
    return {spec.id for row in rows for spec in row_matches(row, experiment.seed)}


def _digest(*ids: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(one for some in ids for one in some).encode()).hexdigest()


def _of_searches(records: Sequence[SearchRecord], experiment: Experiment) -> dict[str, Array]:
    """Returns searches as arrays; visits and values only if a row is measured by them."""
    whole = records if needs_visits(*experiment.rows) else []  # otherwise they would be most of the file
    return {
        "action": np.array([record.action for record in records], np.int64),
        "search_nodes": np.array([record.nodes for record in records], np.int64),
        "search_seconds": np.array([record.seconds for record in records], np.float64),
        "visits": joined((record.visits for record in whole), np.float64),
        "action_values": joined((record.values for record in whole), np.float64),
    }


def _search_records(arrays: Mapping[str, Array], specs: Sequence[SearchSpec]) -> Iterator[SearchRecord]:
    """Yields the records of the stored searches; visits and values missing in the file are NaN."""
    stored = numbers(arrays, "searched", len(specs))
    done = [spec for spec, has in zip(specs, stored.tolist(), strict=True) if has]
    names = ("action", "search_nodes", "search_seconds")
    columns = (numbers(arrays, name, len(done)).tolist() for name in names)
    ends = np.cumsum([0, *(len(spec.position.legal) for spec in done)]).tolist()
    of_actions = []
    for name in ("visits", "action_values"):
        known = len(arrays[name]) > 0
        of_actions.append(numbers(arrays, name, ends[-1]) if known else np.full(ends[-1], np.nan))
    for spec, first, end, action, nodes, seconds in zip(done, ends[:-1], ends[1:], *columns, strict=True):
        require(spec.may_choose(action), "a search chose an action that is not legal")
        visits, values = (tuple(of_all[first:end].tolist()) for of_all in of_actions)
        yield SearchRecord(spec, action, visits, values, nodes, seconds)
