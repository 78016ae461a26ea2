"""The games of a study as one small file, without the moves: a study that finds them in its store plays none again.

Its games follow from its definition and their results, except for the last digits of its candidates, which depend on
the processor. So the file has the candidates and games, and everything else is recomputed when it is read.
"""

from __future__ import annotations

import contextlib
import itertools
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from optuna.trial import TrialState

from turnier.arena.match import MatchSpec
from turnier.core.array_files import write_arrays
from turnier.core.errors import MALFORMED
from turnier.results.store.database import CHUNK
from turnier.results.store.locks import Held
from turnier.results.store.store import Run, Store
from turnier.search.definition import StudyDefinition
from turnier.search.storage.checked_studies import SUMMARIES, asked_of, facts_of, study_notes
from turnier.search.storage.studies import StoredStudy, optuna_errors, read_only_storage, run_id_of
from turnier.search.study_run import Asked, StudyRun
from turnier.studies.campaigns.game_arrays import (
    ENDING,
    OF_GAMES,
    VERSION,
    Array,
    coded,
    moment,
    numbers,
    of_games,
    read_export,
    records_of,
    require,
    texts_of,
    unreadable,
)

FORMAT = "turnier study"
_NAMES = ("about", "seeds", *(f"{name}_{part}" for name in ("setting", "agent") for part in ("values", "codes")))


def export_study(store: Store, run: Run, folder: Path) -> Path:
    """Writes the file of a study's run into a folder; returns its path."""
    records = sorted(itertools.chain.from_iterable(store.records_of_run(run.id)), key=lambda record: record.spec.id)
    specs = [record.spec for record in records]
    about = {
        "format": FORMAT,
        "version": VERSION,
        "name": run.name,
        "definition": run.definition,
        "created": run.created.isoformat(),
        "asked": _asked(store, run.name),
    }
    arrays: dict[str, Array] = {
        "about": np.frombuffer(json.dumps(about, sort_keys=True).encode(), np.uint8),
        "seeds": np.array([spec.seed for spec in specs], np.uint64),
        "stored": np.ones(len(specs), bool),
        **coded("setting", [json.dumps([spec.game, spec.max_plies, spec.opening]) for spec in specs]),
        **coded("agent", [agent for spec in specs for agent in spec.agents]),
        **of_games(records),
    }
    path = folder / f"{run.id.replace(':', '-')}{ENDING}"
    write_arrays(path, "an export", arrays, compressed=True)
    return path


def import_study(store: Store, path: Path) -> int:
    """Stores the games of a file; returns the number of new ones.

    Raises UserError if the file is incomplete, or the store has another study with its name.
    """
    about, arrays = read_export(path, (*_NAMES, *OF_GAMES), FORMAT)
    try:
        seeds = numbers(arrays, "seeds", len(arrays["seeds"])).tolist()
        settings = [json.loads(text) for text in texts_of(arrays, "setting", len(seeds))]
        agents = texts_of(arrays, "agent", len(arrays["agent_codes"]))
        specs = list(_specs(seeds, settings, agents))
        records = [record for record in records_of(arrays, specs) if record]
        name, definition, created = str(about["name"]), dict(about["definition"]), moment(about)
        known = StudyDefinition.of_stored(definition)
        asked = [
            Asked([[float(x) for x in vector] for vector in vectors], end and dict(end))
            for vectors, end in about.get("asked", ())
        ]
    except MALFORMED as failure:
        raise unreadable(path, str(failure) or type(failure).__name__) from None
    StoredStudy(store, name, definition, progress=False, created=created)
    run_id = run_id_of(name)
    new = sum(store.append(run_id, records[first : first + CHUNK]) for first in range(0, len(records), CHUNK))
    if asked:  # an earlier version wrote games only
        with contextlib.suppress(Held):  # another driver of the study takes the games as they come
            StudyRun(store, known, progress=False).rebuild(asked)
    return new


def _asked(store: Store, study: str) -> list[Asked]:
    """Returns the generations of a study whose candidates are stored."""
    vectors: dict[int, dict[int, list[float]]] = defaultdict(dict)
    with optuna_errors(store.shown_url):
        storage = read_only_storage(store)
        trials = storage.get_all_trials(storage.get_study_id_from_name(study), states=(TrialState.COMPLETE,))
        storage.engine.dispose()
    for facts in map(facts_of, trials):
        vectors[facts["generation"]][facts["index"]] = facts["vector"]
    latest, begun = asked_of(store, study)
    if latest >= 0:
        vectors[latest] = dict(enumerate(begun))
    notes, asked = study_notes(store, study, f"{SUMMARIES}%"), list[Asked]()
    while own := vectors.get(len(asked)):
        end = notes.get(f"{SUMMARIES}{len(asked)}", {}).get("recommendation")
        asked.append(Asked([own[index] for index in range(len(own))], end))
    return asked


def _specs(seeds: Sequence[int], settings: Sequence[Any], agents: Sequence[str]) -> Iterable[MatchSpec]:
    require(len(agents) % max(1, len(seeds)) == 0, "games have different numbers of agents")
    seats = len(agents) // max(1, len(seeds))
    for i, (seed, (game, max_plies, opening)) in enumerate(zip(seeds, settings, strict=True)):
        yield MatchSpec(game, tuple(agents[seats * i : seats * (i + 1)]), seed, max_plies, tuple(opening))
