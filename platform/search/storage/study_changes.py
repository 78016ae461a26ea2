"""Changes to stored studies by users: renaming and deletion, in the store's tables and in Optuna's."""

from __future__ import annotations

import json
from dataclasses import replace

from sqlalchemy import select, update

from ...core.errors import UserError
from ...results.store.run_changes import delete_run, move_run, refuse_running
from ...results.store.store import Run, Store
from ..for_optuna.finalists import delete_finalists
from .checked_studies import OURS, STUDIES, STUDY_NOTES, SYSTEM_NOTES, sealed, unsealed
from .studies import DEFINITION, open_storage, optuna_errors, run_id_of
from .trials import HELD_OUT_NAME, optuna_number, study_names


def rename_study(store: Store, run: Run, name: str) -> None:
    """Renames a study and its run, whose id is the name; raises UserError if the name is taken.

    Its held-out games remain those of its first name.
    """
    refuse_running(store, run)
    if "rungs" in run.definition:
        raise UserError(f"{run.id} must keep its name, since the files of its networks have it; leave it.")
    if name in study_names(store) or run_id_of(name) in {known.id for known in store.runs()}:
        raise UserError(f"a study needs a name that no other has, got {name!r}; choose another.")
    kept = {"begun_as": run.definition.get("begun_as", run.name)} if "edition" in run.definition else {}
    of_optuna = select(STUDIES.c.study_id).where(STUDIES.c.study_name == run.name).scalar_subquery()
    with store.database.writing() as connection:
        for notes, prefix in ((STUDY_NOTES, ""), (SYSTEM_NOTES, OURS)):
            definition = (notes.c.study_id == of_optuna) & (notes.c.key == prefix + DEFINITION)
            stored = connection.scalar(select(notes.c.value_json).where(definition))
            if stored is not None:
                with store.database.decoding(f"the definition of {run.id}"):
                    renamed = json.dumps(sealed(unsealed(json.loads(stored)) | kept | {"name": name}))
                connection.execute(update(notes).where(definition).values(value_json=renamed))
        for end in ("", HELD_OUT_NAME):
            mine = STUDIES.c.study_name == run.name + end
            connection.execute(update(STUDIES).where(mine).values(study_name=name + end))
        move_run(connection, replace(run, definition=run.definition | kept), run_id_of(name), name)


def delete_study(store: Store, run: Run) -> None:
    """Deletes a study with its candidates, then its run; an interrupted deletion may be repeated."""
    refuse_running(store, run)
    if run.name in study_names(store):
        with optuna_errors(store.shown_url):
            storage = open_storage(store)
            delete_finalists(storage, run.name)
            storage.delete_study(optuna_number(store, run.name))
    delete_run(store, run)
