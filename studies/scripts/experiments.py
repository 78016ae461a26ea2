"""The command line of an experiment script: presets, store and executor are the same for all of them.

Annotations are evaluated here at once, since they depend on the script's arguments.
"""

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.table import Table

from turnier.arena.workers.make import make_executor
from turnier.arena.workers.where import Where
from turnier.commands.options import DEFAULT_URL, OnlyOption, StoreOption
from turnier.commands.other_code import print_other_code
from turnier.commands.place import placed
from turnier.core.number_text import estimate, number
from turnier.core.terminal.console import Console
from turnier.results.store.store import Store
from turnier.runs.experiments.experiment import TESTS, Experiment, counted, measurements, uneven
from turnier.runs.experiments.published import VERDICTS, verdict
from turnier.runs.experiments.row import unit
from turnier.studies.scripts.script import choose_experiments, choose_preset, run_script


def run_experiments(
    description: str | None, build: Callable[[str], Iterable[Experiment]], presets: Mapping[str, Any]
) -> None:
    """Runs an experiment script from its command line.

    Args:
        description: the text of `--help`.
        build: preset -> experiments, whose names end with the preset.
        presets: by name, the default one first.
    """

    @placed
    def main(
        preset: Annotated[str, typer.Option(help=", ".join(presets))] = next(iter(presets)),
        only: OnlyOption = None,
        store: StoreOption = DEFAULT_URL,
        where: Where = Where("ray"),
    ) -> None:
        choose_preset(presets, preset)
        experiments = choose_experiments(build(preset), only or [], preset)
        play_and_print(experiments, store, where)

    run_script(main, description)


def play_and_print(experiments: Sequence[Experiment], store: str, where: Where) -> None:
    """Plays the experiments' games that the store lacks, and prints their measurements."""
    console = Console()
    with Store.open(store) as results:
        with make_executor(where) as pool:
            for experiment in experiments:
                experiment.run(results, where=pool)
        for experiment in experiments:
            print_experiment(console, experiment, results)
            print_other_code(results, experiment.run_id)
    if experiments[0].preset == TESTS:
        console.print(f"The preset {TESTS} only shows that the script works; no report has its figures.")
    else:
        words = ["python", "studies/report.py", experiments[0].document, "--store", results.shown_url]
        console.print(f"The whole page: {shlex.join(words)}")


def print_experiment(console: Console, experiment: Experiment, store: Store) -> None:
    """Prints an experiment's rows: ours with its 95 % interval next to the published figure."""
    units = ", ".join(dict.fromkeys(unit(row) for row in experiment.rows))
    table = Table(title=f"{experiment.title}: {units}")
    table.add_column("", overflow="fold")
    known = any(row.published is not None for row in experiment.rows)
    for heading in ("ours, 95 %", *["published", "ours is"] * known, *counted(experiment)):
        table.add_column(heading, justify="right", no_wrap=True)
    measured = measurements(experiment, store)
    for row, ours in zip(experiment.rows, measured, strict=True):
        published = "" if row.published is None else number(row.published, digits=4)
        theirs = (published, verdict(row, ours)) if known else ()
        shown = estimate(ours.value, ours.low, ours.high)
        table.add_row(row.label, shown, *theirs, f"{ours.games:,}", number(ours.seconds))
    notes = [VERDICTS.replace("*", "") * known, uneven(experiment, [ours.games for ours in measured])]
    table.caption = " ".join(filter(None, notes))
    console.print(table)
