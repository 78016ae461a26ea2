"""Plays Weitz 2022 against Ludii itself: table 1 and figures 10, 11, 18 and 25, for whoever has Ludii.jar and Java.

\b
Examples:
    python studies/weitz/with_ludii.py --jar ~/Ludii-1.3.14.jar                   20 games a row
    python studies/weitz/with_ludii.py --jar ~/Ludii-1.3.14.jar --preset paper    200 games a row, as in the thesis
    python studies/report.py weitz                                                the rows, with all of Weitz's studies

Ludii has a second per move, so that the preset paper takes about three hours on two cores, by
estimate. Repeat the command to resume.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from turnier.agents.ludii.agent import Ludii
from turnier.agents.ludii.jar import JAR
from turnier.arena.workers.where import Where
from turnier.commands.options import (
    DEFAULT_URL,
    LocalExecutorOption,
    NetworksOption,
    OnlyOption,
    StoreOption,
    WorkersOption,
)
from turnier.games.registry import make_game
from turnier.runs.experiments.row import Row
from turnier.runs.experiments.trained import LearnedRow, TrainingStudy
from turnier.studies.scripts.script import choose_experiments, choose_preset, run_script
from turnier.studies.scripts.trained_experiments import train_and_play
from turnier.studies.weitz import learners, table1

TEXT = """The opponent is Ludii's own *Biased MCTS (Uniform Playouts)* with {milliseconds:,} ms per move, as in the
thesis; its version is the digest of its jar. Ludii draws its own random numbers, so equal seeds do not give equal
games."""


def build(preset: str, jar: str) -> list[TrainingStudy]:
    """Returns the experiments; raises UserError if there is no such jar."""
    games, tiny = table1.GAMES[preset], preset == "tiny"
    milliseconds = 10 if tiny else 1000
    opponent = str(Ludii(jar=jar, milliseconds=milliseconds, warm_up=0 if tiny else 20))
    searched = [
        Row(
            row.label,
            row.game,
            (row.agents[0], opponent),
            games,
            row.measure,
            row.published,
            row.x,
            published_games=row.published_games,
        )
        for experiment in table1.build(preset)
        for row in experiment.rows
    ]
    text = TEXT.format(milliseconds=milliseconds)
    return [
        TrainingStudy("weitz", f"ludii-{preset}", "MCTS against Ludii (table 1, figures 10 and 11)", text, searched),
        TrainingStudy(
            "weitz",
            f"ludii-learners-{preset}",
            "Learners against Ludii (figures 18 and 25)",
            text,
            [_learned(name, preset, opponent) for name in learners.LUDII],
        ),
    ]


def _learned(name: str, preset: str, opponent: str) -> LearnedRow:
    scale = learners.PRESETS["tiny" if preset == "tiny" else "paper"]
    figure, published = learners.LUDII[name]
    learner = learners.learner(learners.SETTINGS[name], scale)
    known = published if scale.divisor == 1 else None
    games = table1.GAMES[preset]
    row = Row(f"{name} ({figure})", learners.YAVALATH, (opponent,), games, published=known, published_games=200)
    return LearnedRow(row, learner)


def main(
    jar: Annotated[Path | None, typer.Option(help=f"your Ludii.jar; default: what {JAR} names")] = None,
    preset: Annotated[str, typer.Option(help=", ".join(table1.GAMES))] = next(iter(table1.GAMES)),
    only: OnlyOption = None,
    folder: NetworksOption = Path("trained"),
    store: StoreOption = DEFAULT_URL,
    executor: LocalExecutorOption = "threads",
    workers: WorkersOption = None,
) -> None:
    choose_preset(table1.GAMES, preset)
    studies = choose_experiments(build(preset, "" if jar is None else str(jar)), only or [], preset)
    if jar is not None:
        os.environ[JAR] = str(jar)  # for the processes of workers, which look for the jar by its digest
    game = make_game(learners.YAVALATH)
    Ludii(milliseconds=1).seat_kernels(game)  # before anything is trained: does it play, by our rules?
    train_and_play(studies, folder, store, Where(executor, workers))


if __name__ == "__main__":
    run_script(main, __doc__)
