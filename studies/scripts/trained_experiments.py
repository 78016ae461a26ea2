"""The command line of a script of experiments whose agents are trained first.

Annotations are evaluated here at once, since they depend on the script's arguments.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from turnier.agents.learning.loop import end_all
from turnier.arena.workers.where import Where
from turnier.commands.command_line import saving
from turnier.commands.options import (
    DEFAULT_URL,
    LocalExecutorOption,
    NetworksOption,
    OnlyOption,
    StoreOption,
    WorkersOption,
)
from turnier.results.store.store import Store
from turnier.runs.experiments.trained import TrainingStudy, train_all
from turnier.studies.campaigns.learned import require_own_name
from turnier.studies.scripts.experiments import play_and_print
from turnier.studies.scripts.script import choose_experiments, choose_preset, run_script


def run_training_studies(
    description: str | None, build: Callable[[str], Iterable[TrainingStudy]], presets: Mapping[str, Any]
) -> None:
    """Runs a script of learned experiments from its command line; otherwise like `run_experiments`."""

    def main(
        preset: Annotated[str, typer.Option(help=", ".join(presets))] = next(iter(presets)),
        only: OnlyOption = None,
        folder: NetworksOption = Path("trained"),
        store: StoreOption = DEFAULT_URL,
        executor: LocalExecutorOption = "threads",
        workers: WorkersOption = None,
    ) -> None:
        choose_preset(presets, preset)
        train_and_play(choose_experiments(build(preset), only or [], preset), folder, store, Where(executor, workers))

    run_script(main, description)


def train_and_play(studies: Sequence[TrainingStudy], folder: Path, store: str, where: Where) -> None:
    """Trains what the studies need into the folder, plays the games that the store lacks, and prints the figures."""
    with Store.open(store) as results:
        for study in studies:
            require_own_name(study, results)  # before anything is trained
    learners = [learner for study in studies for learner in study.learners]
    with saving(end_all):
        train_all(learners, folder, where.workers or os.cpu_count() or 1)
    play_and_print([study.experiment(folder) for study in studies], store, where)
