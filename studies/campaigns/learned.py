"""Experiments on trained networks in a campaign: before their training, and with their networks in another folder.

The name of a network's file tells its training, the digest its weights; its folder tells nothing. The folder is part of
an agent's name, though, and so of the ids of its games.
"""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path, PurePath

from turnier.agents.registry import AGENTS
from turnier.core.errors import UserError
from turnier.core.text_form import Spec, parse
from turnier.results.store.store import Store
from turnier.runs.experiments.experiment import Experiment, experiment_of_run, same_games, shown_as
from turnier.runs.experiments.row import Row
from turnier.runs.experiments.trained import LearnedRow, TrainingStudy

STAND_IN = "random"  # plays as many games as an agent not trained yet


def untrained(study: TrainingStudy) -> Experiment:
    """Returns the experiment with stand-ins for untrained agents: the same number of games, none of them stored."""
    rows = tuple(
        replace(row.row, agents=(STAND_IN, *row.row.agents), trainings=(STAND_IN,) * len(row.further))
        if isinstance(row, LearnedRow)
        else row
        for row in study.rows
    )
    return Experiment(study.document, study.name, study.title, study.text, rows, axis=study.axis)


def stored_experiment(study: TrainingStudy, store: Store) -> Experiment | None:
    """Returns the stored form of the experiment, with networks in any folder and today's words; None if not stored.

    One with the same name but other games, learners or measures does not count.
    """
    stored = experiment_of_run(store, study.run_id)
    if stored is None or len(stored.rows) != len(study.rows):
        return None
    rows = tuple(map(_without_network, stored.rows, study.rows))
    known = untrained(study)
    return shown_as(stored, known) if same_games(replace(stored, rows=rows), known) else None


def with_agents(figure: Experiment | TrainingStudy, store: Store) -> Experiment | None:
    """Returns an experiment, of a training its stored form: None if it is not stored."""
    return figure if isinstance(figure, Experiment) else stored_experiment(figure, store)


def require_own_name(study: TrainingStudy, store: Store) -> None:
    """Raises UserError if the store has another experiment of the study's name."""
    if stored_experiment(study, store) is None and any(run.id == study.run_id for run in store.runs()):
        raise UserError(
            f"run {study.run_id!r} must keep its definition, got other games, learners or measures; choose another"
            f" store, or delete that run: turnier runs delete {shlex.quote(study.run_id)}"
        )


def _without_network(row: Row, known: LearnedRow | Row) -> Row:
    """Returns a stored row in the form of `untrained`, if its network was trained like that of the known one."""
    if isinstance(known, Row):
        return row
    wanted = [learner.kept(Path(), known.place or learner.games).name for learner in known.learners]
    if [file and file.name for file in map(_file_of, row.measured)] != wanted:
        return row
    if not all(_plays_as(agent, known.agent) for agent in row.measured):
        return row
    return replace(row, agents=(STAND_IN, *row.agents[1:]), trainings=(STAND_IN,) * len(row.trainings))


def _plays_as(agent: str, template: str) -> bool:
    """Whether an agent with a network is that of a template, or an agent with a network of its own."""
    spec = parse(agent)
    (network,) = (each for each in _specs(spec) if _is_network(each))
    return network is spec or spec == parse(AGENTS.pinned(template.format(network=network)))


def network_of(row: Row) -> Path | None:
    """Returns the file of the network of the row's first agent."""
    return _file_of(row.agents[0])


def _file_of(agent: str) -> Path | None:
    found = [spec for spec in _specs(parse(agent)) if _is_network(spec)]
    return Path(str(found[0].parameters["file"])) if found else None


def with_networks_in(experiment: Experiment, folder: str) -> Experiment:
    """Returns the experiment with the networks of its agents in a folder; an empty folder leaves only their names."""
    rows = (
        replace(
            row,
            agents=tuple(_moved(agent, folder) for agent in row.agents),
            trainings=tuple(_moved(agent, folder) for agent in row.trainings),
            collector=_moved(row.collector, folder),
        )
        for row in experiment.rows
    )
    return replace(experiment, rows=tuple(rows))


def _moved(agent: str, folder: str) -> str:
    return str(_moved_spec(parse(agent), folder)) if "digest=" in agent else agent


def _moved_spec(spec: Spec, folder: str) -> Spec:
    moved = {k: _moved_spec(v, folder) if isinstance(v, Spec) else v for k, v in spec.parameters.items()}
    if _is_network(spec):
        moved["file"] = str(PurePath(folder) / PurePath(str(moved["file"])).name)
    return Spec(spec.name, moved)


def _specs(spec: Spec) -> list[Spec]:
    return [spec, *(each for value in spec.parameters.values() if isinstance(value, Spec) for each in _specs(value))]


def _is_network(spec: Spec) -> bool:
    return "digest" in spec.parameters and "file" in spec.parameters
