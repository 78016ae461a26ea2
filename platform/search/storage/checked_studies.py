"""Checksums in Optuna's attributes of trials and studies, so that damaged studies are not shown.

Optuna writes its tables itself, so each checksum is stored with the data it covers: among the facts of a trial, and
within the JSON of a note.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import optuna
import pandas as pd
from optuna.distributions import distribution_to_json
from optuna.trial import FrozenTrial
from sqlalchemy import Connection, column, select, table

from ...results.integrity.checksums import checksum
from ...results.outage import outlasting
from ...results.store.store import Store

STUDIES = table("studies", column("study_id"), column("study_name"))
STUDY_NOTES = table("study_user_attributes", column("study_id"), column("key"), column("value_json"))
SYSTEM_NOTES = table("study_system_attributes", column("study_id"), column("key"), column("value_json"))
TRIALS = table("trials", column("trial_id"), column("study_id"), column("number"), column("state"))
VALUES = table("trial_values", column("trial_id"), column("objective"), column("value"))
LATEST = table("trial_intermediate_values", column("trial_id"), column("step"), column("intermediate_value"))
PARAMETERS = table(
    "trial_params", column("trial_id"), column("param_name"), column("param_value"), column("distribution_json")
)
NOTES = table("trial_user_attributes", column("trial_id"), column("key"), column("value_json"))
OURS = "turnier:"  # prefix of system attributes of Optuna, which its commands and pages do not show

# The facts noted per trial; studies of learners call a generation `round`.
NOTED = ("generation", "round", "index", "standard_error", "low", "high", "games", "seconds")
FINISHED = ("COMPLETE", "PRUNED")
CHECKSUM = "checksum"  # the key among the facts of a trial, and in a note
FACTS = "candidate"  # the only attribute of a trial, except in a search for a front: its facts
SUMMARIES = "generation "  # prefix of keys of notes at the ends of generations
ASKED = "asked"  # the note of the latest generation and its vectors
VECTOR = "vector"  # the key of a candidate's vector among its facts; long, so it is a system attribute
TRIALS_SO_FAR = "trials"  # in the note of a generation: number of finished trials


class StoredTrials(NamedTuple):
    """The rows of a study in Optuna's tables."""

    trials: pd.DataFrame  # of any state
    values: pd.DataFrame
    latest: pd.DataFrame
    parameters: pd.DataFrame
    notes: pd.DataFrame  # NOTED and the checksums


def with_checksum(trial: FrozenTrial) -> FrozenTrial:
    """Returns a finished trial with its facts and its checksum as one attribute, and its vector, to be stored."""
    facts = facts_of(trial) | {CHECKSUM: trial_checksum(trial, trial.state.name, trial.values or ())}
    if VECTOR in facts:
        trial.system_attrs = {OURS + VECTOR: facts.pop(VECTOR)}
    trial.user_attrs = {FACTS: facts}
    return trial


def facts_of(trial: FrozenTrial) -> dict[str, Any]:
    """Returns the facts noted about a trial; earlier versions noted the vector with the others."""
    facts: dict[str, Any] = trial.user_attrs.get(FACTS, trial.user_attrs)
    vector = trial.system_attrs.get(OURS + VECTOR)
    return facts if vector is None else facts | {VECTOR: vector}


def is_foreign(trial: FrozenTrial) -> bool:
    """Whether a trial was added by other code, such as `study.optimize` of plain Optuna."""
    return not {FACTS, CHECKSUM} & trial.user_attrs.keys()


def trial_checksum(trial: FrozenTrial, state: str, values: Iterable[float]) -> int:
    """Returns the checksum of a trial that ends in a state with these values."""
    kinds, facts = trial.distributions, facts_of(trial)
    return checksum_of_rows(
        state,
        enumerate(values),
        (
            (name, kinds[name].to_internal_repr(value), distribution_to_json(kinds[name]))
            for name, value in trial.params.items()
        ),
        trial.intermediate_values.items(),
        ((name, json.dumps(facts[name])) for name in NOTED if name in facts),
    )


def checksum_of_rows(
    state: str,
    values: Iterable[tuple[int, float]],
    parameters: Iterable[tuple[str, float, str]],
    latest: Iterable[tuple[int, float]],
    notes: Iterable[tuple[str, str]],
) -> int:
    """Returns the checksum of the rows of a trial, in any order."""
    return checksum(
        state,
        *sorted((int(number), _stored(value)) for number, value in values),
        *sorted((str(name), _stored(value), kind) for name, value, kind in parameters),
        *sorted((int(step), _stored(value)) for step, value in latest),
        *sorted(notes),
    )


def _stored(value: float) -> float | None:
    """Returns a number as in Optuna's column: without infinities and negative zero."""
    return float(value) + 0.0 if math.isfinite(value) else None


def read_trials(store: Store, connection: Connection, study: str) -> StoredTrials:
    """Reads a study's trials; raises Damaged if they have changed since they were stored."""
    least = least_finished(store, study)  # first: another driver may add some now
    with store.database.decoding(f"the candidates of study {study}"):
        ids = of_study(TRIALS.c.trial_id, study)
        noted = select(NOTES).where(NOTES.c.trial_id.in_(ids), NOTES.c.key.in_((*NOTED, CHECKSUM, FACTS)))
        found = StoredTrials(
            _read(connection, of_study([TRIALS.c.trial_id, TRIALS.c.number, TRIALS.c.state], study)),
            _read(connection, select(VALUES).where(VALUES.c.trial_id.in_(ids))),
            _read(connection, select(LATEST).where(LATEST.c.trial_id.in_(ids)).order_by(LATEST.c.step)),
            _read_parameters(connection, PARAMETERS.c.trial_id.in_(ids)),
            _by_fact(_read(connection, noted)),
        )
        wrong = _wrong(found)
    if wrong:
        raise store.database.damaged(f"in study {study} {wrong}")
    own = _without_foreign(found)
    require_finished(store, study, int(own.trials["state"].astype(str).isin(FINISHED).sum()), least)
    return own


def _without_foreign(found: StoredTrials) -> StoredTrials:
    """Returns the trials without those that other code has finished, such as `study.optimize` of plain Optuna."""
    ours = set(found.notes["trial_id"])
    finished = found.trials["state"].astype(str).isin(FINISHED)
    kept = set(found.trials["trial_id"][~finished | found.trials["trial_id"].isin(ours)])
    return StoredTrials(*(rows[rows["trial_id"].isin(kept)].reset_index(drop=True) for rows in found))


def least_finished(store: Store, study: str) -> int:
    """Returns the number of finished trials at the end of the latest generation."""
    summaries = study_notes(store, study, f"{SUMMARIES}%").values()
    return max((summary.get(TRIALS_SO_FAR, 0) for summary in summaries), default=0)


def require_finished(store: Store, study: str, found: int, least: int) -> None:
    """Raises Damaged if there are fewer finished trials than there were before, see `least_finished`."""
    if found < least:
        raise store.database.damaged(f"study {study} has {found:,} of {least:,} candidates")


def _by_fact(notes: pd.DataFrame) -> pd.DataFrame:
    """Returns notes with a row for each fact."""
    together = notes["key"] == FACTS
    rows = [
        (trial, name, json.dumps(value))
        for trial, text in notes.loc[together, ["trial_id", "value_json"]].itertuples(index=False)
        for name, value in json.loads(text).items()
        if name in NOTED or name == CHECKSUM
    ]
    return pd.concat([notes[~together], pd.DataFrame(rows, columns=notes.columns)], ignore_index=True)


def _wrong(found: StoredTrials) -> str:
    """Returns the fault of trials; empty if none is found."""
    numbers = sorted(found.trials["number"].tolist())
    if numbers != list(range(len(numbers))):
        return "candidates are missing or repeated"
    of_trial: dict[int, tuple[list[Any], ...]] = defaultdict(lambda: ([], [], [], []))
    for place, rows in enumerate(found[1:]):
        for trial, *row in rows.itertuples(index=False, name=None):
            of_trial[trial][place].append(tuple(row))
    for trial, number, state in found.trials[["trial_id", "number", "state"]].itertuples(index=False, name=None):
        values, latest, parameters, notes = of_trial[trial]
        known = dict(notes).get(CHECKSUM)
        if str(state) not in FINISHED:
            continue
        if not notes:
            continue  # of other code
        noted = [note for note in notes if note[0] != CHECKSUM]
        if known is None or checksum_of_rows(str(state), values, parameters, latest, noted) != json.loads(known):
            return f"candidate {number + 1:,} differs from its checksum"
    return ""


def of_study(columns: Any, study: str) -> Any:
    """Returns the query for columns of a study's trials."""
    query = select(*columns) if isinstance(columns, list) else select(columns)
    joined = query.join_from(TRIALS, STUDIES, STUDIES.c.study_id == TRIALS.c.study_id)
    return joined.where(STUDIES.c.study_name == study)


def sealed(note: Any) -> Any:
    """Returns a note, an object or a list of objects, with its checksum."""
    if isinstance(note, list):
        return [sealed(one) for one in note]
    return {**note, CHECKSUM: _of_note(note)}


def unsealed(note: Any) -> Any:
    """Returns the note without its checksum; raises ValueError if they disagree."""
    if isinstance(note, list):
        return [unsealed(one) for one in note]
    if not isinstance(note, dict) or CHECKSUM not in note:
        return note
    content = {key: value for key, value in note.items() if key != CHECKSUM}
    if _of_note(content) != note[CHECKSUM]:
        raise ValueError("it differs from its checksum")
    return content


def _of_note(note: Mapping[str, Any]) -> int:
    return checksum(json.dumps(json.loads(json.dumps(note)), sort_keys=True))


def set_note(study: optuna.Study, key: str, note: Any) -> None:
    """Stores a note with a study, in place of an earlier one."""
    study._storage.set_study_system_attr(study._study_id, OURS + key, sealed(note))


def set_asked(study: optuna.Study, generation: int, vectors: Sequence[Sequence[float]]) -> None:
    """Stores the vectors of a search's latest generation, for others that play for it."""
    set_note(study, ASKED, {"generation": generation, "vectors": vectors})


def asked_of(store: Store, study: str) -> tuple[int, list[list[float]]]:
    """Returns the latest generation and its vectors, -1 and none before the first; raises as `study_notes` does."""
    note = study_notes(store, study, ASKED).get(ASKED, {"generation": -1, "vectors": []})
    return note["generation"], note["vectors"]


@outlasting
def study_notes(store: Store, study: str, pattern: str) -> dict[str, Any]:
    """Returns a study's notes with keys like an SQL pattern; raises Damaged if they differ from their checksums.

    Earlier versions stored them as user attributes of Optuna.
    """
    found: dict[str, Any] = {}
    with store.database.reading() as connection, store.database.decoding(f"what is noted of study {study}"):
        for notes, prefix in ((STUDY_NOTES, ""), (SYSTEM_NOTES, OURS)):
            query = (
                select(notes.c.key, notes.c.value_json)
                .join_from(notes, STUDIES, STUDIES.c.study_id == notes.c.study_id)
                .where(STUDIES.c.study_name == study, notes.c.key.like(prefix + pattern))
            )
            for row in connection.execute(query):
                found[row.key.removeprefix(prefix)] = unsealed(json.loads(row.value_json))
    return found


def _read(connection: Connection, query: Any) -> pd.DataFrame:
    result = connection.execute(query)
    return pd.DataFrame(list(map(tuple, result.all())), columns=list(result.keys()))


def _read_parameters(connection: Connection, condition: Any) -> pd.DataFrame:
    """Returns the stored values of parameters with their ranges: long texts, mostly the same one for each parameter."""
    name, kind = PARAMETERS.c.param_name, PARAMETERS.c.distribution_json
    kinds = connection.execute(select(name, kind).where(condition).distinct()).all()
    if len({row[0] for row in kinds}) < len(kinds):
        return _read(connection, select(PARAMETERS).where(condition))
    values = _read(connection, select(PARAMETERS.c.trial_id, name, PARAMETERS.c.param_value).where(condition))
    return values.assign(distribution_json=values["param_name"].map(dict(map(tuple, kinds))))
