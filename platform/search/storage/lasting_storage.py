"""Optuna's storage in a store's database: it outlasts restarts of the server, and stores nothing twice."""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Callable, Sequence
from typing import Any

from optuna.distributions import distribution_to_json
from optuna.storages import RDBStorage
from optuna.storages._rdb import models
from optuna.trial import FrozenTrial, TrialState
from sqlalchemy import func, select

from turnier.results.store.store import Store

# Those of Optuna's methods that are one transaction, and that leave the same if they are repeated.
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
    """The storage of one driver, which holds the study's lock: nobody else adds trials meanwhile."""

    def __init__(self, store: Store) -> None:
        self._outage = store.database.outage
        self._newest: int | None = None  # trial when the present call began
        options: dict[str, Any] = {} if store.database.is_sqlite else {"pool_pre_ping": True}
        super().__init__(store.url, engine_kwargs=options)
        self._outage.wait_in(self.engine)

    def _create_new_trial(self, study_id: int, template_trial: FrozenTrial | None = None) -> FrozenTrial:
        self._newest = None
        create = super()._create_new_trial
        return self._outage.outlast(lambda: create(study_id, template_trial))

    def _get_prepared_new_trial(self, study_id: int, template_trial: FrozenTrial | None, session: Any) -> Any:
        """Adds a trial in a transaction, unless an earlier attempt did: its answer was lost with the connection."""
        trial = models.TrialModel
        newest: int = session.scalar(select(func.max(trial.trial_id)).where(trial.study_id == study_id)) or 0
        if self._newest is None:
            self._newest = newest
        elif newest != self._newest:
            return session.get(trial, newest)
        if template_trial is None or not template_trial.state.is_finished():
            return super()._get_prepared_new_trial(study_id, template_trial, session)
        number = session.scalar(select(func.count()).where(trial.study_id == study_id))
        made = _finished_trial(study_id, number, template_trial)
        session.add(made)
        session.flush()
        return made

    def set_trial_state_values(self, trial_id: int, state: TrialState, values: Sequence[float] | None = None) -> bool:
        attempts = itertools.count()
        change = super().set_trial_state_values

        def once() -> bool:
            was_made = next(attempts) > 0 and self.get_trial(trial_id).state == state
            return was_made or change(trial_id, state, values)

        return self._outage.outlast(once)


def _finished_trial(study_id: int, number: int, trial: FrozenTrial) -> models.TrialModel:
    """Returns the rows of a finished trial: SQLAlchemy inserts them with a statement per table, Optuna looks up each.

    Distributions are not compared with those of earlier trials: the study's definition keeps them the same.
    """
    value, latest = models.TrialValueModel, models.TrialIntermediateValueModel
    made = models.TrialModel(
        study_id=study_id,
        number=number,
        state=trial.state,
        datetime_start=trial.datetime_start,
        datetime_complete=trial.datetime_complete,
    )
    for objective, result in enumerate(trial.values or ()):
        stored, kind = value.value_to_stored_repr(result)
        made.values.append(value(objective=objective, value=stored, value_type=kind))
    for name, chosen in trial.params.items():
        searched = trial.distributions[name]
        row = {"param_value": searched.to_internal_repr(chosen), "distribution_json": distribution_to_json(searched)}
        made.params.append(models.TrialParamModel(param_name=name, **row))
    for key, note in trial.user_attrs.items():
        made.user_attributes.append(models.TrialUserAttributeModel(key=key, value_json=json.dumps(note)))
    for key, note in trial.system_attrs.items():
        made.system_attributes.append(models.TrialSystemAttributeModel(key=key, value_json=json.dumps(note)))
    for step, result in trial.intermediate_values.items():
        stored, kind = latest.intermediate_value_to_stored_repr(result)
        row = {"intermediate_value": stored, "intermediate_value_type": kind}
        made.intermediate_values.append(latest(step=step, **row))
    return made


def _lasting(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(self: LastingStorage, *args: Any, **kwargs: Any) -> Any:
        return self._outage.outlast(lambda: method(self, *args, **kwargs))

    return call


for _name in _REPEATABLE:
    setattr(LastingStorage, _name, _lasting(getattr(RDBStorage, _name)))
