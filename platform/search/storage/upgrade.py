"""Studies that earlier versions stored in Optuna's tables: given today's checksums and facts."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Connection, delete, insert, inspect, select, update

from ...results.store.database import Database
from ..front.points import HELD_OUT
from ..verdict import BETTER, NOT_SHOWN
from .checked_studies import (
    CHECKSUM,
    FACTS,
    FINISHED,
    LATEST,
    NOTED,
    NOTES,
    OURS,
    PARAMETERS,
    STUDIES,
    STUDY_NOTES,
    SUMMARIES,
    SYSTEM_NOTES,
    TRIALS,
    VALUES,
    checksum_of_rows,
    sealed,
)

_OURS = ("definition", "verdict", HELD_OUT)  # keys of our notes on a study, beside those with the prefix SUMMARIES


def upgrade_studies(database: Database, connection: Connection) -> None:
    """Gives the candidates and notes of our studies their present form."""
    if not inspect(connection).has_table(STUDIES.name):
        return
    for (study,) in connection.execute(select(STUDIES.c.study_id)).all():
        with database.decoding("the studies"):
            definition = _upgrade_notes(connection, study)
            if definition is not None:
                _upgrade_trials(connection, study, is_front="objectives" in definition)


def _upgrade_notes(connection: Connection, study: int) -> dict[str, Any] | None:
    """Gives the notes of a study their checksums; returns its definition, None if it is not ours."""
    definition = None
    for notes in (STUDY_NOTES, SYSTEM_NOTES):
        for row in connection.execute(select(notes.c.key, notes.c.value_json).where(notes.c.study_id == study)).all():
            if not (row.key in _OURS or row.key.startswith((SUMMARIES, OURS))):
                continue
            note = json.loads(row.value_json)
            definition = note if row.key == "definition" else definition
            whole = note[0] if isinstance(note, list) and note else note
            if not isinstance(whole, dict) or CHECKSUM in whole:
                continue
            if row.key == "verdict" and "outcome" not in note:
                note["outcome"] = BETTER if note["improved"] else NOT_SHOWN
            mine = (notes.c.study_id == study) & (notes.c.key == row.key)
            connection.execute(update(notes).where(mine).values(value_json=json.dumps(sealed(note))))
    return definition


def _upgrade_trials(connection: Connection, study: int, is_front: bool) -> None:
    """Gives finished candidates their checksums, and puts their facts into one attribute, except those of fronts."""
    finished = select(TRIALS.c.trial_id, TRIALS.c.state).where(TRIALS.c.study_id == study)
    for trial, state in connection.execute(finished).all():
        noted = select(NOTES.c.key, NOTES.c.value_json).where(NOTES.c.trial_id == trial)
        facts = {key: json.loads(text) for key, text in connection.execute(noted)}
        if str(state) not in FINISHED or {FACTS, CHECKSUM} & facts.keys():
            continue
        values = select(VALUES.c.objective, VALUES.c.value).where(VALUES.c.trial_id == trial)
        latest = select(LATEST.c.step, LATEST.c.intermediate_value).where(LATEST.c.trial_id == trial)
        parameters = select(PARAMETERS.c.param_name, PARAMETERS.c.param_value, PARAMETERS.c.distribution_json)
        rows = [
            [tuple(row) for row in connection.execute(query)]
            for query in (values, parameters.where(PARAMETERS.c.trial_id == trial), latest)
        ]
        noted_facts = [(name, json.dumps(facts[name])) for name in NOTED if name in facts]
        known = checksum_of_rows(str(state), rows[0], rows[1], rows[2], noted_facts)
        if is_front:
            row = {"trial_id": trial, "key": CHECKSUM, "value_json": json.dumps(known)}
        else:
            connection.execute(delete(NOTES).where(NOTES.c.trial_id == trial))
            row = {"trial_id": trial, "key": FACTS, "value_json": json.dumps(facts | {CHECKSUM: known})}
        connection.execute(insert(NOTES).values(row))
