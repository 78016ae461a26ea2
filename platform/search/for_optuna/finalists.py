"""A second study for users of Optuna: the finalists of a study with their held-out means, the recommendation first.

The best trial of the study itself is its luckiest candidate; that of `NAME, held-out` is the recommendation.
"""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import optuna
from optuna.trial import FrozenTrial, TrialState, create_trial

from ...agents.registry import AGENTS
from ...results.store.store import Store
from ..dimensions.tree import Value
from ..space import Space
from ..storage.lasting_storage import LastingStorage
from ..storage.trials import HELD_OUT_NAME
from ..verdict import HeldOutFigures, StudyVerdict

PATIENCE = 60.0  # seconds to wait for another driver of the study that stores them, too


def store_finalists(
    store: Store,
    storage: LastingStorage,
    name: str,
    value: str,
    space: Space,
    verdict: StudyVerdict,
    parameters: Mapping[str, Mapping[str, Value]] | None = None,
) -> None:
    """Stores the finalists of a study as trials, in place of earlier ones.

    Drivers that share a study may finish at the same time and store the same finalists; a lock makes them take turns.

    Args:
        store: of the study.
        storage: of Optuna, in this store.
        name: of the study.
        value: what its values are called.
        space: of its parameters; those that a baseline of another kind lacks are left out.
        verdict: of the study.
        parameters: of the finalists by label; None = those of the verdict's agents.
    """
    trials = list(_trials(space, verdict, parameters or {}))
    with store.lock(f"finalists:{name}", patience=PATIENCE):
        delete_finalists(storage, name)
        study = optuna.create_study(storage=storage, study_name=name + HELD_OUT_NAME, direction="maximize")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # names of values are called experimental
            study.set_metric_names([value])
        if trials:
            storage.add_finished(study._study_id, trials)


def delete_finalists(storage: LastingStorage, name: str) -> None:
    """Deletes the finalists of a study, if there are any."""
    with contextlib.suppress(KeyError):
        storage.delete_study(storage.get_study_id_from_name(name + HELD_OUT_NAME))


def _trials(
    space: Space, verdict: StudyVerdict, parameters: Mapping[str, Mapping[str, Value]]
) -> Iterator[FrozenTrial]:
    recommended = next(row for row in verdict.figures if row.label == verdict.label)
    others = [row for row in verdict.figures if row is not recommended]
    for row in (recommended, *others):
        if math.isnan(row.held_out):
            continue  # the search found nothing to play against the start
        values = parameters.get(row.label) or space.of_agent(AGENTS.make(row.agent))
        distributions = space.distributions(values)
        known = {
            path: values[path]
            for path, kind in distributions.items()
            if values[path] in getattr(kind, "choices", (values[path],))
        }
        yield create_trial(
            params=known,
            distributions={path: distributions[path] for path in known},
            user_attrs={"finalist": row.label, "half_width": row.half_width, "games": row.units * verdict.unit_games},
            **_ending(row, recommended),
        )


def _ending(row: HeldOutFigures, recommended: HeldOutFigures) -> dict[str, Any]:
    """Returns the value of a finalist; one that is ahead, but not shown to be better, counts as stopped early."""
    if row is recommended or row.held_out < recommended.held_out:
        return {"value": row.held_out}
    return {"state": TrialState.PRUNED, "intermediate_values": {row.units: row.held_out}}
