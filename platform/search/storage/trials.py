"""Optuna's trials as frames, read straight from its tables: ten thousand per second, without writing anything.

Optuna's own storage creates missing tables, and reads one trial at a time.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Container, Mapping, Sequence
from copy import copy
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import optuna
import pandas as pd
from optuna.distributions import FloatDistribution, json_to_distribution
from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState
from sqlalchemy import inspect, select

from ...agents.registry import AGENTS
from ...core.errors import UserError, unknown
from ...games.registry import GAMES
from ...results.frames.measures import score_bounds
from ...results.outage import outlasting
from ...results.store.database import chunks
from ...results.store.schema import matches
from ...results.store.store import Store
from ...statistics.distributions import t_quantile
from ...statistics.intervals import CONFIDENCE, PERCENT, SHARE, UNBOUNDED, Bounds
from ..front.second_objective import stored_objective
from ..objective import RELATIVE
from ..space import Space
from .checked_studies import (
    CHECKSUM,
    FACTS,
    FINISHED,
    NOTED,
    NOTES,
    STUDIES,
    TRIALS,
    least_finished,
    of_study,
    read_trials,
    require_finished,
    study_notes,
)
from .definitions import TAKEN, StoredRange, used_values

optuna.logging.set_verbosity(optuna.logging.WARNING)

SCORE, WON, POINTS = "mean score", "games won, %", "share of points"
BOUNDS = {WON: PERCENT, POINTS: SHARE}
TRIAL_COLUMNS = ("number", "state", "value", "low", "high", "other", "group", "index", "games", "seconds")
HELD_OUT_NAME = ", held-out"  # end of the name of the study of a study's finalists, see for_optuna/finalists.py
BEST_KNOWN = 3  # candidates of an earlier study that another one tries first
MAX_EVALUATED = 1000  # maximum number of trials from which importance is computed
MIN_EVALUATED = 8  # below which importance says nothing
RESAMPLES = 40  # for the spread of importance


@outlasting
def study_names(store: Store) -> list[str]:
    """Returns the names of all studies in a store, the oldest first; none without Optuna's tables.

    Those that `store_finalists` adds for users of Optuna are left out.
    """
    with store.database.reading() as connection:
        if not inspect(connection).has_table(STUDIES.name):
            return []
        names = list(connection.scalars(select(STUDIES.c.study_name).order_by(STUDIES.c.study_id)))
    finalists = {name + HELD_OUT_NAME for name in names}
    return [name for name in names if name not in finalists]


def optuna_number(store: Store, study: str) -> int:
    """Returns Optuna's number of a study."""
    return optuna_numbers(store, study)[0]


@outlasting
def optuna_numbers(store: Store, study: str) -> list[int]:
    """Returns Optuna's numbers of a study and, once they have played, of that of its finalists."""
    named = {study: 0, study + HELD_OUT_NAME: 1}
    known = select(STUDIES.c.study_name, STUDIES.c.study_id).where(STUDIES.c.study_name.in_(named))
    with store.database.reading() as connection:
        found = {named[name]: int(number) for name, number in connection.execute(known)}
    return [found[place] for place in sorted(found)]


@outlasting
def count_trials(store: Store, study: str) -> int:
    """Returns the number of finished trials of a study."""
    ours, least = NOTES.c.key.in_((FACTS, CHECKSUM)), least_finished(store, study)
    with store.database.reading() as connection:
        states = of_study(TRIALS.c.state, study).where(TRIALS.c.trial_id.in_(select(NOTES.c.trial_id).where(ours)))
        found = sum(str(state) in FINISHED for state in connection.scalars(states))
    require_finished(store, study, found, least)
    return found


@outlasting
def played_between(store: Store, groups: Sequence[Sequence[str]]) -> list[tuple[datetime, datetime]]:
    """Returns the start of the first and the end of the last match of each group, in local time like Optuna's."""
    played = select(matches.c.id, matches.c.created, matches.c.seconds)
    times: dict[str, tuple[datetime, datetime]] = {}
    with store.database.reading() as connection:
        for some in chunks(dict.fromkeys(itertools.chain(*groups))):
            for row in connection.execute(played.where(matches.c.id.in_(some))):
                end = datetime.fromisoformat(row.created).astimezone().replace(tzinfo=None)
                times[row.id] = end - timedelta(seconds=row.seconds), end
    return [(min(times[i][0] for i in group), max(times[i][1] for i in group)) for group in groups]


def column_of(parameter: str) -> str:
    """Returns the column of a parameter in `trials_frame`."""
    return f"{TAKEN}{parameter}" if parameter in TRIAL_COLUMNS else parameter


@outlasting
def trials_frame(store: Store, study: str) -> pd.DataFrame:
    """Returns one row per finished trial of a study, by number.

    Columns: number, state (COMPLETE, or PRUNED with its latest value), value, low and high (its 95 % interval: stored,
    or Student's t from the stored standard error; NaN if neither is), other (the value of the second objective, which
    is `frame.attrs["second"]`; NaN if the study has one objective), group (generation or round, from 0), index, games
    (of the trial), seconds; then one per parameter, such as `parameter low` if its name is taken;
    `frame.attrs["parameters"]` has the names of these columns, `frame.attrs["ranges"]` the ranges by them, and
    `frame.attrs["bounds"]` the bounds of values, which intervals may exceed.
    """
    with store.database.reading() as connection:
        trials, values, latest, parameters, notes = read_trials(store, connection, study)
    notes = notes[notes["key"] != CHECKSUM].copy()
    trials = trials[trials["state"].astype(str).isin(FINISHED)].set_index("trial_id")
    objectives = {number: part.set_index("trial_id")["value"] for number, part in values.groupby("objective")}
    value = objectives.get(0, pd.Series(dtype=float))
    value = value.combine_first(latest.groupby("trial_id")["intermediate_value"].last())
    notes["value_json"] = pd.to_numeric(notes["value_json"], errors="coerce")  # JSON numbers
    known = notes.pivot(index="trial_id", columns="key", values="value_json").reindex(columns=list(NOTED))
    known = known.astype(float).reindex(trials.index)
    frame = trials.assign(state=trials["state"].astype(str), value=value.reindex(trials.index).astype(float))
    begun = definition(store, study)
    half = known["standard_error"] * t_quantile(0.5 + CONFIDENCE / 2, known["games"] - 1)
    frame = frame.assign(
        low=known["low"].fillna(frame["value"] - half),
        high=known["high"].fillna(frame["value"] + half),
        other=objectives.get(1, pd.Series(dtype=float)).reindex(trials.index).astype(float),
        group=known["generation"].fillna(known["round"]),
        index=known["index"],
        games=known["games"].fillna(begun.get("games")),  # those of a front are all alike, and not noted
        seconds=known["seconds"],
    )
    chosen = _used(_chosen(parameters), begun).reindex(trials.index).rename(columns=column_of)
    frame = frame[list(TRIAL_COLUMNS)].join(chosen).sort_values("number", ignore_index=True)
    frame.attrs["parameters"] = list(chosen.columns)
    frame.attrs["ranges"] = {column_of(name): found for name, found in _ranges(parameters).items()}
    frame.attrs["second"], frame.attrs["bounds"] = stored_objective(begun), _bounds(begun)
    return frame


def generations_frame(store: Store, study: str) -> pd.DataFrame:
    """Returns a study's notes on its generations, one row each.

    Columns: generation (from 0), mean, best, sigma, axis_ratio, agreement (of duels with games against opponents, in
    standard deviations of chance: below -2 they disagree);
    recommended, half_width and idle_games: the mean of games that idle workers played of the previous recommendation,
    with its 95 % interval, and their number. `frame.attrs["noted"]` has the latest notes on candidates that the agent
    refused, and on those that were too slow.
    """
    columns = ["generation", "mean", "best", "sigma", "axis_ratio", "agreement"]
    columns += ["recommended", "half_width", "idle_games"]
    generations, noted = [], dict[str, Any]()
    for key, known in study_notes(store, study, "generation %").items():
        before = known.get("recommended before", {})
        for what in ("refused", "slow"):
            noted[what] = max(noted.get(what, {}), known.get(what, {}), key=lambda one: one.get("candidates", 0))
        idle = {
            "recommended": before.get("mean"),
            "half_width": before.get("half_width"),
            "idle_games": before.get("games"),
        }
        generations.append({"generation": int(key.split()[1]), **known, **idle})
    frame = pd.DataFrame(generations, columns=columns).astype(float).sort_values("generation", ignore_index=True)
    frame.attrs["noted"] = noted
    return frame


def recommended_values(store: Store, study: str) -> dict[str, Any]:
    """Returns the parameters that a search recommends after its latest generation; empty if there are none."""
    notes = study_notes(store, study, "generation %")
    latest = max(notes, key=lambda key: int(key.split()[1]), default=None)
    return dict(notes[latest].get("recommendation", {})) if latest else {}


def best_values(store: Store, study: str) -> list[dict[str, Any]]:
    """Returns the parameters that a study recommends and those of its candidates with the largest means.

    Of a study that plain Optuna has made in the store, those of its best trials. Raises UserError if the store has no
    such study, or none of its candidates.
    """
    if study not in study_names(store):
        raise unknown("study", study, study_names(store))
    frame = trials_frame(store, study).dropna(subset="value")
    names, ranges = frame.attrs["parameters"], frame.attrs["ranges"]
    groups = frame.assign(text=frame[names].astype(str).agg("|".join, axis=1)) if len(frame) else frame
    if not len(groups) and (others := _best_of_others(store, study)):
        return others
    if not len(groups):
        raise UserError(f"study {study} must have candidates, but it has none yet; let it play first.")
    means = groups.groupby("text", sort=False)["value"].mean().sort_values(ascending=False, kind="stable")
    rows = groups.drop_duplicates("text").set_index("text").loc[means.index[:BEST_KNOWN], names]
    return [recommended_values(store, study), *(used_values(row, ranges) for row in rows.to_dict("records"))]


def _best_of_others(store: Store, study: str) -> list[dict[str, Any]]:
    """Returns the parameters of the best trials of a study of other code; none if it has several objectives."""
    known = optuna.load_study(study_name=study, storage=store.url)
    if len(known.directions) > 1:
        return []
    done = known.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    done.sort(key=lambda trial: trial.value or 0.0, reverse=known.direction == StudyDirection.MAXIMIZE)
    return [dict(trial.params) for trial in done[:BEST_KNOWN]]


def definition(store: Store, study: str) -> dict[str, Any]:
    """Returns a study's definition; empty if it is not one of Turnier's."""
    return dict(study_notes(store, study, "definition").get("definition", {}))


def unit(store: Store, study: str) -> str:
    """Returns the unit of a study's values."""
    return _unit(definition(store, study))


def _unit(known: Mapping[str, Any]) -> str:
    if "game" not in known:
        return "value"
    if GAMES.make(known["game"]).num_seats == 1:
        return RELATIVE if "also" in known else SCORE
    return WON if "learning" in known else POINTS


def _bounds(known: Mapping[str, Any]) -> Bounds:
    if _unit(known) == SCORE:
        return score_bounds(GAMES.make(known["game"]))
    return BOUNDS.get(_unit(known), UNBOUNDED)


def importance(frame: pd.DataFrame) -> pd.Series:
    """Returns each parameter's share in deciding which trials of a frame are good, the largest first.

    PED-ANOVA as in Optuna, and thus in optuna-dashboard: Watanabe et al., PED-ANOVA, IJCAI 2023, and for parameters
    that others leave unused Ito et al., Conditional PED-ANOVA, KDD 2026. Of at most MAX_EVALUATED trials, evenly
    chosen; empty for fewer than MIN_EVALUATED.
    """
    return _shares(_evaluated(frame))


def importance_spread(frame: pd.DataFrame) -> pd.DataFrame:
    """Returns the 95 % ranges of `importance`, the columns low and high by parameter; empty if importance is.

    From RESAMPLES samples of the candidates with replacement (the bootstrap: B. Efron, Annals of Statistics 7, 1979),
    the same ones at each call.
    """
    trials, random = _evaluated(frame), np.random.default_rng(0)
    found = []
    for _ in range(RESAMPLES if trials else 0):
        some = [copy(trials[i]) for i in random.integers(len(trials), size=len(trials))]
        for number, trial in enumerate(some):
            trial.number = trial._trial_id = number  # the evaluator tells trials apart by these
        found.append(_shares(some))
    shares = pd.DataFrame(found).fillna(0.0)
    ends = (1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2
    return pd.DataFrame({name: shares.quantile(end) for name, end in zip(("low", "high"), ends, strict=True)})


class _Candidates(optuna.Study):
    """A study of trials that are not stored."""

    shown: Sequence[FrozenTrial] = ()

    def get_trials(self, deepcopy: bool = True, states: Container[TrialState] | None = None) -> list[FrozenTrial]:
        return list(self.shown)


def _evaluated(frame: pd.DataFrame) -> list[FrozenTrial]:
    """Returns the trials from which importance is computed; empty if there are too few."""
    names: Sequence[str] = frame.attrs["parameters"]
    done = frame[(frame["state"] == "COMPLETE") & frame["value"].notna()]
    done = done.iloc[:: max(1, -(-len(done) // MAX_EVALUATED))]
    if len(done) < MIN_EVALUATED or not names:
        return []
    ranges: dict[str, StoredRange] = frame.attrs["ranges"]
    kinds = {name: ranges[name].distribution() for name in names}
    trials = []
    for value, row in zip(done["value"], done[list(names)].to_dict("records"), strict=True):
        chosen = used_values(row, ranges)
        used = {name: kinds[column_of(name)] for name in chosen}
        trials.append(optuna.trial.create_trial(value=float(value), params=chosen, distributions=used))
        trials[-1].number = trials[-1]._trial_id = len(trials)
    return trials


def _shares(trials: Sequence[FrozenTrial]) -> pd.Series:
    """Returns each parameter's share, the largest first."""
    if not trials:
        return pd.Series(dtype=float)
    of_optuna = optuna.create_study(direction="maximize")
    study = _Candidates(of_optuna.study_name, of_optuna._storage)
    study.shown = trials
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about parameters that few trials use
        shares = get_param_importances(study, evaluator=PedAnovaImportanceEvaluator())
    named = pd.Series(shares, dtype=float).rename(column_of).sort_index()  # Optuna's order of equal ones is random
    return named.sort_values(ascending=False, kind="stable")


def _used(chosen: pd.DataFrame, known: Mapping[str, Any]) -> pd.DataFrame:
    """Returns the values without those that others leave unused, which the search for a front has to store."""
    if "objectives" not in known:
        return chosen
    rows = chosen.to_dict("records")
    for dimension in Space.of(AGENTS.make(known["agent"]), known["parameters"]).dimensions:
        if dimension.declared.when and dimension.path in chosen:
            chosen[dimension.path] = chosen[dimension.path].where([dimension.matters(row) for row in rows])
    return chosen


def _ranges(parameters: pd.DataFrame) -> dict[str, StoredRange]:
    """Returns the range of each parameter; if it has changed, one that covers all."""
    ranges: dict[str, StoredRange] = {}
    for name, text in parameters[["param_name", "distribution_json"]].drop_duplicates().itertuples(index=False):
        searched = StoredRange.of(json_to_distribution(text))
        ranges[name] = ranges[name].joined(searched) if name in ranges else searched
    return ranges


def _chosen(parameters: pd.DataFrame) -> pd.DataFrame:
    """Returns a column per parameter with its values, decoded, by trial."""
    columns = {}
    for name, part in parameters.groupby("param_name", sort=False):
        kinds = {text: json_to_distribution(text) for text in part["distribution_json"].unique()}
        if all(isinstance(kind, FloatDistribution) for kind in kinds.values()):
            columns[str(name)] = pd.Series(part["param_value"].to_numpy(), index=part["trial_id"])
            continue
        stored = zip(part["param_value"].tolist(), part["distribution_json"].tolist(), strict=True)
        values = [kinds[text].to_external_repr(value) for value, text in stored]
        columns[str(name)] = pd.Series(values, index=part["trial_id"])
    return pd.DataFrame(columns)
