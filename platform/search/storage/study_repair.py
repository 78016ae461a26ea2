"""Damaged studies: found in Optuna's tables and, on request, removed; their commands restore them from games."""

from __future__ import annotations

from optuna.storages._rdb import models
from sqlalchemy import Connection, Table, delete, inspect, select

from ...core.errors import UserError
from ...results.repair.inspection import Finding
from ...results.store.run_changes import forget_run
from ...results.store.store import Store
from .checked_studies import asked_of, read_trials, study_notes
from .studies import run_id_of
from .trials import HELD_OUT_NAME, optuna_number, study_names

_BEGUN = "removed; its command makes it again from its stored games"


def inspect_studies(store: Store) -> list[Finding]:
    """Returns the damaged studies and their damage."""
    names = study_names(store)
    expected = [row.name for row in store.run_rows() if row.kind == "study" and row.id == run_id_of(row.name)]
    missing = [Finding(f"study {name}", "its candidates are missing", _BEGUN) for name in {*expected} - {*names}]
    return [*missing, *(Finding(f"study {name}", wrong, _BEGUN) for name in names if (wrong := _wrong(store, name)))]


def repair_studies(store: Store) -> list[Finding]:
    """Removes damaged studies but not their games; returns the damage: all studies if their tables are damaged."""
    found = inspect_studies(store)
    try:
        for name in map(_name, found):
            number = optuna_number(store, name) if name in study_names(store) else None
            with store.database.writing() as connection:
                if number is not None:
                    _remove(connection, number)
                forget_run(connection, run_id_of(name))
    except UserError:
        with store.database.writing() as connection:
            for table in _tables(connection):
                connection.exec_driver_sql(f"DROP TABLE {table.name}")
        found += [one for one in inspect_studies(store) if _name(one) not in map(_name, found)]
        with store.database.writing() as connection:
            for name in map(_name, found):
                forget_run(connection, run_id_of(name))
    return found


def _name(finding: Finding) -> str:
    return finding.where.removeprefix("study ")


def _tables(connection: Connection) -> list[Table]:
    """Returns Optuna's tables of studies and trials, referenced ones last."""
    there = inspect(connection).get_table_names()
    tables = [table for table in models.BaseModel.metadata.sorted_tables if table.name in there]
    return [table for table in reversed(tables) if {"study_id", "trial_id"} & set(table.c.keys())]


def _remove(connection: Connection, study: int) -> None:
    """Removes a study's rows from Optuna's tables unread; Optuna would read them and fail on damaged ones."""
    trials = select(models.TrialModel.trial_id).where(models.TrialModel.study_id == study)
    name = connection.scalar(select(models.StudyModel.study_name).where(models.StudyModel.study_id == study))
    finalists = select(models.StudyModel.study_id).where(models.StudyModel.study_name == f"{name}{HELD_OUT_NAME}")
    if (other := connection.scalar(finalists)) is not None:
        _remove(connection, other)
    for table in _tables(connection):
        of_study = table.c.study_id == study if "study_id" in table.c else table.c.trial_id.in_(trials)
        connection.execute(delete(table).where(of_study))


def _wrong(store: Store, name: str) -> str:
    """Returns the damage of a study as part of a sentence."""
    try:
        with store.database.reading() as connection:
            read_trials(store, connection, name)
        study_notes(store, name, "%")
        asked_of(store, name)
    except UserError as error:
        return str(error).partition(", but ")[2].partition("; `")[0] or str(error)
    return ""
