"""Optuna's storage in a store's database: it outlasts restarts of the server, and stores nothing twice."""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC
from typing import Any

from optuna.distributions import distribution_to_json
from optuna.storages import RDBStorage
from optuna.storages._rdb import models
from optuna.trial import FrozenTrial, TrialState
from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session

from ...results.store.store import Store

# Methods of Optuna that are one transaction and may be repeated without further effect.
_REPEATABLE = (
    "create_new_study",  # the second time it finds the study, which Optuna then loads
    "delete_study",
    "set_study_user_attr",
    "set_study_system_attr",
    "get_study_id_from_name",
    "get_study_name_from_id",
    "get_study_directions",
    "get_study_user_attrs",
    "get_study_system_attrs",
    "get_all_studies",
    "_set_trial_param",
    "set_trial_intermediate_value",
    "set_trial_user_attr",
    "set_trial_system_attr",
    "get_trial_id_from_study_id_trial_number",
    "get_trial",
    "_get_trials",
    "_get_best_trial_id",
)


class LastingStorage(RDBStorage):
    """The storage of one driver, which holds the study's lock: no other process adds trials meanwhile."""

    def __init__(self, store: Store) -> None:
        self._outage = store.database.outage
        self._newest: int | None = None  # trial when the present call began
        options: dict[str, Any] = {} if store.database.is_sqlite else {"pool_pre_ping": True}
        super().__init__(store.url, engine_kwargs=options)
        self._outage.wait_in(self.engine)
        store.database.also_written_by(self.engine)

    def _create_new_trial(self, study_id: int, template_trial: FrozenTrial | None = None) -> FrozenTrial:
        self._newest = None
        create = super()._create_new_trial
        return self._outage.outlast(lambda: create(study_id, template_trial))

    def _get_prepared_new_trial(self, study_id: int, template_trial: FrozenTrial | None, session: Any) -> Any:
        """Adds a trial in a transaction, unless an earlier attempt did whose answer was lost with the connection."""
        trial = models.TrialModel
        newest: int = session.scalar(select(func.max(trial.trial_id)).where(trial.study_id == study_id)) or 0
        if self._newest is None:
            self._newest = newest
        elif newest != self._newest:
            return session.get(trial, newest)
        return super()._get_prepared_new_trial(study_id, template_trial, session)

    def add_finished(self, study_id: int, trials: Sequence[FrozenTrial]) -> None:
        """Adds finished trials, all or none, with one statement per table: Optuna would need dozens per trial.

        Distributions are not compared with those of earlier trials: the study's definition keeps them the same.
        """
        table = models.TrialModel.__table__
        before: int | None = None

        def add() -> None:
            nonlocal before
            with self.engine.begin() as connection:
                known = connection.scalar(select(func.count()).where(table.c.study_id == study_id)) or 0
                if before is not None and known != before:
                    return  # an earlier attempt did: its answer was lost with the connection
                before = known
                rows = [_row_of(study_id, number, trial) for number, trial in enumerate(trials, known)]
                returned = insert(table).returning(table.c.trial_id, sort_by_parameter_order=True)
                ids = connection.scalars(returned, rows).all()
                for model, rows_of in _PARTS:
                    parts = [
                        {"trial_id": i, **row} for i, trial in zip(ids, trials, strict=True) for row in rows_of(trial)
                    ]
                    if parts:
                        connection.execute(insert(model.__table__), parts)

        self._outage.outlast(add)

    def remove_trial(self, trial_id: int) -> None:
        """Removes a trial with all its data, which Optuna itself cannot."""

        def remove() -> None:
            with Session(self.engine) as session, session.begin():
                trial = session.get(models.TrialModel, trial_id)
                if trial is not None:  # an earlier attempt did: its answer was lost with the connection
                    session.delete(trial)

        self._outage.outlast(remove)

    def set_trial_state_values(self, trial_id: int, state: TrialState, values: Sequence[float] | None = None) -> bool:
        attempts = itertools.count()
        change = super().set_trial_state_values

        def once() -> bool:
            was_made = next(attempts) > 0 and self.get_trial(trial_id).state == state
            return was_made or change(trial_id, state, values)

        return self._outage.outlast(once)


def _row_of(study_id: int, number: int, trial: FrozenTrial) -> dict[str, Any]:
    times = {"datetime_start": trial.datetime_start, "datetime_complete": trial.datetime_complete}
    stored = {name: time and time.astimezone(UTC).replace(tzinfo=None) for name, time in times.items()}
    return {"study_id": study_id, "number": number, "state": trial.state, **stored}


def _value_rows(trial: FrozenTrial) -> Iterator[dict[str, Any]]:
    for objective, value in enumerate(trial.values or ()):
        stored, kind = models.TrialValueModel.value_to_stored_repr(value)
        yield {"objective": objective, "value": stored, "value_type": kind}


def _parameter_rows(trial: FrozenTrial) -> Iterator[dict[str, Any]]:
    for name, value in trial.params.items():
        searched = trial.distributions[name]
        row = {"param_value": searched.to_internal_repr(value), "distribution_json": distribution_to_json(searched)}
        yield {"param_name": name, **row}


def _latest_rows(trial: FrozenTrial) -> Iterator[dict[str, Any]]:
    for step, value in trial.intermediate_values.items():
        stored, kind = models.TrialIntermediateValueModel.intermediate_value_to_stored_repr(value)
        yield {"step": step, "intermediate_value": stored, "intermediate_value_type": kind}


def _attribute_rows(trial: FrozenTrial) -> Iterator[dict[str, Any]]:
    for key, value in trial.user_attrs.items():
        yield {"key": key, "value_json": json.dumps(value)}


def _system_rows(trial: FrozenTrial) -> Iterator[dict[str, Any]]:
    for key, value in trial.system_attrs.items():
        yield {"key": key, "value_json": json.dumps(value)}


_PARTS: tuple[tuple[Any, Callable[[FrozenTrial], Iterator[dict[str, Any]]]], ...] = (
    (models.TrialValueModel, _value_rows),
    (models.TrialParamModel, _parameter_rows),
    (models.TrialIntermediateValueModel, _latest_rows),
    (models.TrialUserAttributeModel, _attribute_rows),
    (models.TrialSystemAttributeModel, _system_rows),
)


def _lasting(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(self: LastingStorage, *args: Any, **kwargs: Any) -> Any:
        return self._outage.outlast(lambda: method(self, *args, **kwargs))

    return call


for _name in _REPEATABLE:
    setattr(LastingStorage, _name, _lasting(getattr(RDBStorage, _name)))
