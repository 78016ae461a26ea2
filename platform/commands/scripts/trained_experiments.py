"""The command line of a script of learned experiments.

Annotations are evaluated here at once, since they name what the script said.
"""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated

import typer

from turnier.commands.command_line import run_app
from turnier.commands.scripts.experiments import play_and_print
from turnier.core.errors import unknown
from turnier.results.store import DEFAULT_URL
from turnier.runs.trained_experiment import TrainingStudy, train_all


def run_training_studies(
    description: str | None, build: Callable[[str], Iterable[TrainingStudy]], presets: Iterable[str]
) -> None:
    """Runs a script of learned experiments from its command line; as `run_experiments` otherwise."""
    names = list(presets)
    app = typer.Typer(add_completion=False, rich_markup_mode=None)

    @app.command(help=description)
    def main(
        preset: Annotated[str, typer.Option(help=", ".join(names))] = names[0],
        folder: Annotated[Path, typer.Option(help="of trained networks; what is there is not trained again")] = Path(
            "trained"
        ),
        store: Annotated[str, typer.Option(help="SQLite or PostgreSQL URL")] = DEFAULT_URL,
        executor: Annotated[str, typer.Option(help="where matches are played: threads or serial")] = "threads",
        workers: Annotated[int | None, typer.Option(help="default: all cores")] = None,
    ) -> None:
        if preset not in names:
            raise unknown("preset", preset, names)
        studies = list(build(preset))
        train_all([learner for study in studies for learner in study.learners], folder, workers or os.cpu_count() or 1)
        play_and_print([study.experiment(folder) for study in studies], store, executor, workers, None)

    run_app(app)
