"""The command line of an Optuna study of learning parameters; a script gives the search.

Annotations are evaluated here at once, since they depend on the script's arguments.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from turnier.agents.learning.loop import end_all
from turnier.arena.workers.executor import Executor
from turnier.arena.workers.make import make_executor
from turnier.arena.workers.where import Where
from turnier.commands.command_line import in_this_environment, saving
from turnier.commands.options import DEFAULT_URL, LocalExecutorOption, NetworksOption, StoreOption, StudyNameOption
from turnier.core.terminal.console import Console
from turnier.results.store.store import Store
from turnier.search.learning_study import LearnerCandidate, LearningStudy, LearningStudyDefinition
from turnier.studies.scripts.script import choose_preset, run_script


@dataclass(frozen=True)
class Preset:
    """A study without its name, its number of rounds, and the held-out games of the comparison at its end."""

    definition: LearningStudyDefinition
    rounds: int
    held_out: int


def run_learning_study(description: str | None, title: str, presets: Mapping[str, Preset]) -> None:
    """Runs a study script from its command line.

    Args:
        description: the text of `--help`.
        title: the study's name is TITLE-PRESET.
        presets: by name, the default one first.
    """

    def main(
        preset: Annotated[str, typer.Option(help=", ".join(presets))] = next(iter(presets)),
        folder: NetworksOption = Path("trained"),
        store: StoreOption = DEFAULT_URL,
        name: StudyNameOption = None,
        seed: Annotated[int, typer.Option(help="same seed, same study", min=0)] = 1,
        rounds: Annotated[int | None, typer.Option(help="total number of rounds; default: by preset", min=1)] = None,
        executor: LocalExecutorOption = "threads",
        workers: Annotated[int | None, typer.Option(help="networks trained at once; default: all cores")] = None,
    ) -> None:
        chosen, console, cores = choose_preset(presets, preset), Console(), workers or os.cpu_count() or 1
        where = Where(executor, cores)  # refuses them before any work
        definition = replace(chosen.definition, name=name or f"{title}-{preset}", seed=seed)
        with Store.open(store) as results:
            study = LearningStudy(results, definition, folder)
            url, dashboard = results.shown_url, in_this_environment("optuna-dashboard")
            console.print(f"Study {definition.name} in {url}; watch it with: {dashboard} {url}")
            with make_executor(where) as pool:
                with saving(end_all):
                    study.run(rounds or chosen.rounds, pool, cores)
                _print_end(console, study, pool, chosen.held_out)

    run_script(main, description)


def _print_end(console: Console, study: LearningStudy, pool: Executor, held_out: int) -> None:
    """Prints the start and the best learner: the search's estimate, and the value in held-out games."""
    candidates: dict[str, LearnerCandidate] = {"start": study.start_candidate(), "best": study.best()}
    measured = study.play_held_out(list(candidates.values()), held_out, pool)
    table = Table(title=f"{study.unit}, after {study.definition.rungs[-1]:,} games of training")
    for heading in ("learner", "in the search", "held-out, 95 %", "shrinkage", "held-out games"):
        table.add_column(heading, justify="left" if heading == "learner" else "right")
    for (label, candidate), (value, low, high, games) in zip(candidates.items(), measured, strict=True):
        digits = 0 if value >= 1000 else 1
        shown = [f"{figure:,.{digits}f}" for figure in (candidate.value, value, low, high, candidate.value - value)]
        table.add_row(label, shown[0], f"{shown[1]} ({shown[2]} to {shown[3]})", shown[4], f"{games:,}")
    console.print(table)
    for label, candidate in candidates.items():
        console.print(f"{label}: {candidate.learning}", soft_wrap=True)
