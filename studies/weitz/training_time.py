"""How long does training take, and longer per game the more is learned? Weitz 2022, table 5 and figure 15.

CPU seconds of one core, by tenths of a training, which does nothing else. They are no results of games, so they are
written to a file in place of the store.

\b
Examples:
    python studies/weitz/training_time.py                   a hundredth of the games
    python studies/weitz/training_time.py --preset paper    25,000 to 1,000,000 games, five trainings each: half an hour
    python studies/weitz/training_time.py --data docs/results/data/weitz_training_time.csv    the times of our page
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Annotated, NamedTuple

import pandas as pd
import typer
from rich.table import Table

from turnier.commands.options import writable_file
from turnier.core.number_text import estimate, number
from turnier.core.terminal.console import Console
from turnier.dashboards.figures.charts import lines
from turnier.dashboards.figures.figure import Figure, save
from turnier.runs.bar import game_bar
from turnier.runs.experiments.trained import Learner
from turnier.statistics.intervals import Interval, mean_interval
from turnier.studies.scripts.script import choose_preset, run_script
from turnier.studies.weitz import learners

TABLE5 = {"TCL3": 784, "TCL2": 1798, "TDN5": 2543, "TDN6": 8807, "TDN7": 29_041}  # published seconds
POINTS = 10  # of a training
AT_START, AT_END = 0.0225, 0.04  # figure 15: seconds per game of TDN7, at first and at last


class Preset(NamedTuple):
    divisor: int  # of the thesis's games of training
    trainings: int
    names: tuple[str, ...] = tuple(TABLE5)


PRESETS = {"quick": Preset(100, 2), "paper": Preset(1, 5), "tiny": Preset(2500, 2, ("TCL3", "TDN7"))}


def timed(learner: Learner, folder: Path) -> list[float]:
    """Trains into an empty folder; returns the CPU seconds until each of the learner's places."""
    seen, done = {0: time.process_time()}, 0

    def report(count: int) -> None:
        nonlocal done
        done += count
        seen[done] = time.process_time()

    learner.train(folder, report)
    return [seen[place] - seen[0] for place in learner.places]


def times(preset: Preset) -> pd.DataFrame:
    """Returns a row per training and tenth of it: setting, seed, games, seconds until then."""
    scale, rows = learners.PRESETS["paper"]._replace(divisor=preset.divisor, points=POINTS), []
    for name in ("TCL3", "TDN5"):  # compiles everything
        with tempfile.TemporaryDirectory() as folder:
            timed(learners.learner(learners.SETTINGS[name], scale._replace(divisor=2500)), Path(folder))
    chosen = [(name, seed) for seed in range(1, preset.trainings + 1) for name in preset.names]
    with game_bar("training", len(chosen), unit="trainings") as bar:
        for name, seed in chosen:
            learner = learners.learner(learners.SETTINGS[name], scale, seed)
            with tempfile.TemporaryDirectory() as folder:
                seconds = timed(learner, Path(folder))
            rows += [(name, seed, *point) for point in zip(learner.places, seconds, strict=True)]
            bar.advance(1)
    return pd.DataFrame(rows, columns=["setting", "seed", "games", "seconds"])


def mean_of(values: pd.Series) -> Interval:
    mean, half = mean_interval(values)
    return Interval(mean, mean - half, mean + half)


def totals(frame: pd.DataFrame) -> pd.DataFrame:
    """Returns a row per setting: its games, the CPU seconds of a training with their interval, and the published."""
    ends = frame[frame["games"] == frame.groupby("setting")["games"].transform("max")]
    rows = [
        (name, int(own["games"].iloc[0]), *mean_of(own["seconds"]), TABLE5[str(name)])
        for name, own in ends.groupby("setting", sort=False)
    ]
    return pd.DataFrame(rows, columns=["setting", "games", "seconds", "low", "high", "published"])


def per_game(frame: pd.DataFrame) -> pd.DataFrame:
    """Returns a row per setting and tenth: milliseconds of a game in it, a mean over trainings with its interval."""
    one = frame.groupby(["setting", "seed"], sort=False)[["games", "seconds"]]
    steps = one.diff().fillna(frame[["games", "seconds"]])
    frame = frame.assign(each=1000 * steps["seconds"] / steps["games"])
    rows = [(*key, *mean_of(own["each"])) for key, own in frame.groupby(["setting", "games"], sort=False)]
    return pd.DataFrame(rows, columns=["setting", "games", "milliseconds", "low", "high"])


def growth(frame: pd.DataFrame) -> dict[str, Interval]:
    """Returns by setting how many times as long a game takes in the last tenth as in the first, over trainings."""
    found = {}
    for name, own in frame.groupby("setting", sort=False):
        steps = own.pivot(index="games", columns="seed", values="seconds").diff()
        first = own.pivot(index="games", columns="seed", values="seconds").iloc[0]
        found[str(name)] = mean_of(steps.iloc[-1] / first)
    return found


def main(
    preset: Annotated[str, typer.Option(help=", ".join(PRESETS))] = "quick",
    data: Annotated[Path, typer.Option(help="the file of times: read if it exists, else written")] = Path(
        "training_time.csv"
    ),
    picture: Annotated[
        Path | None, typer.Option(help="a picture of the times per game", callback=writable_file)
    ] = None,
) -> None:
    chosen, console = choose_preset(PRESETS, preset), Console()
    if not data.exists():
        times(chosen).to_csv(data, index=False, float_format="%.3f")
    frame = pd.read_csv(data)
    print_tables(console, frame)
    if picture:
        draw(frame, picture)
        console.print(f"Picture: {picture}")


def print_tables(console: Console, frame: pd.DataFrame) -> None:
    grown, table = growth(frame), Table(title="CPU seconds of a training, one core")
    for heading in ("setting", "games", "seconds", "published", "times shorter", "a game, last tenth / first"):
        table.add_column(heading, justify="right")
    for row in totals(frame).itertuples():
        whole = row.games == learners.SETTINGS[str(row.setting)].games
        table.add_row(
            str(row.setting),
            f"{row.games:,}",
            estimate(row.seconds, row.low, row.high),
            f"{row.published:,}" if whole else "",
            number(row.published / row.seconds, digits=2) if whole else "",
            estimate(*grown[str(row.setting)]),
        )
    console.print(table)


def draw(frame: pd.DataFrame, path: Path) -> None:
    shown = per_game(frame)
    titles = ("games trained", "CPU milliseconds per game")
    chart = lines(shown, "games", "milliseconds", "low", "high", "setting", titles, log=True)
    note = f"Means over trainings. Published for TDN7: {1000 * AT_START:g} ms at first, {1000 * AT_END:g} at last."
    save(path, Figure("What a game of training takes", chart, shown, note))


if __name__ == "__main__":
    run_script(main, __doc__)
