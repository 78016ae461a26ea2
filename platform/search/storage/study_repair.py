"""Damaged studies: found in Optuna's tables and, on request, removed; their commands make them again from games."""

from __future__ import annotations

from turnier.core.errors import UserError
from turnier.results.repair.inspection import Finding
from turnier.results.store.run_changes import forget_run
from turnier.results.store.store import Store
from turnier.search.storage.checked_studies import read_trials, study_notes
from turnier.search.storage.studies import open_storage, optuna_errors, run_id_of
from turnier.search.storage.trials import optuna_number, study_names

_BEGUN = "removed; its command makes it again from its stored games"


def inspect_studies(store: Store) -> list[Finding]:
    """Returns which studies are damaged, and by what."""
    names = study_names(store)
    expected = [row.name for row in store.run_rows() if row.kind == "study" and row.id == run_id_of(row.name)]
    missing = [Finding(f"study {name}", "its candidates are missing", _BEGUN) for name in {*expected} - {*names}]
    return [*missing, *(Finding(f"study {name}", wrong, _BEGUN) for name in names if (wrong := _wrong(store, name)))]


def repair_studies(store: Store) -> list[Finding]:
    """Removes damaged studies but not their games; returns what was damaged."""
    found = inspect_studies(store)
    for where, _, _ in found:
        name = where.removeprefix("study ")
        if name in study_names(store):
            with optuna_errors(store.shown_url):
                storage = open_storage(store)
                storage.delete_study(optuna_number(store, name))
                storage.remove_session()
                storage.engine.dispose()  # the file is about to get another name
        with store.database.writing() as connection:
            forget_run(connection, run_id_of(name))
    return found


def _wrong(store: Store, name: str) -> str:
    """Returns what is wrong with a study, as part of a sentence."""
    try:
        with store.database.reading() as connection:
            read_trials(store, connection, name)
        study_notes(store, name, "%")
    except UserError as error:
        return str(error).partition(", but ")[2].partition("; `")[0] or str(error)
    return ""
