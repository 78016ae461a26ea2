"""How near does a study come to what it was said to find and to show? Simulated studies with a known truth.

Each study tunes 2 to 24 parameters on a surface of its own, from a start of 20 to 200 Elo below the best, by 500 to
10,000 games of duels, and meets its start in as many held-out games.

\b
Examples:
    python studies/benchmark/forecasts.py                     50 studies, half a minute
    python studies/benchmark/forecasts.py --studies 200
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from turnier.core.number_text import interval, number
from turnier.core.terminal.console import Console
from turnier.runs.bar import game_bar
from turnier.search.noise import NOISES
from turnier.search.samplers.duels import Duels
from turnier.search.storage.forecast import missed_elo, smallest_gain
from turnier.statistics.intervals import share_interval
from turnier.statistics.sprt import share_of_elo
from turnier.studies.benchmark.won_games import DRAWS, WonGames
from turnier.studies.promises.in_memory import search_in_memory
from turnier.studies.scripts.script import run_script
from turnier.studies.verdicts import against_start, simulate_study

SIZES, GAPS, GAMES = (2, 3, 6, 12, 24), (20.0, 60.0, 200.0), (500, 10_000)
DEVIATION = (0.5 * (1 - DRAWS) ** 0.5) / 2**0.5  # of a unit of two games between equals


class Ended(NamedTuple):
    """How a simulated study ended."""

    gain: float  # of the proposal over the start, in Elo
    missed: float  # by the proposal, in Elo
    said: float  # to be missed
    shown: bool  # whether the verdict was better
    showable: bool  # whether the gain was said to be shown


def study(number: int, seed: int) -> Ended:
    """Simulates one study."""
    rng = np.random.default_rng([seed, number])
    size, gap = SIZES[number % len(SIZES)], float(rng.choice(GAPS))
    games = round(float(np.exp(rng.uniform(*np.log(GAMES)))))
    problem = WonGames(seed * 10_000 + number, size, gap)
    search = Duels(share=0).within(games).begin(problem.start, number, problem.space)
    duel = lambda vectors: problem.duel(vectors, rng)  # noqa: E731
    list(search_in_memory(search, NOISES.make("fixed"), duel, games, duel))
    missed = problem.loss(search.recommended())
    gain = problem.loss(problem.start) - missed
    ended = simulate_study(against_start(rng, gain), ("proposed",), ("start",), games, unit_games=2, free=1)
    least = smallest_gain(games / 2, DEVIATION)
    return Ended(gain, missed, missed_elo(size, games), ended.better is not None, share_of_elo(gain) - 0.5 >= least)


def main(
    studies: Annotated[int, typer.Option(help="simulated studies", min=2)] = 50,
    seed: Annotated[int, typer.Option(help="same seed, same result")] = 1,
) -> None:
    console, ended = Console(), list[Ended]()
    with game_bar("studies", studies, console, unit="studies") as bar:
        for one in range(studies):
            ended.append(study(one, seed))
            bar.advance(1)
    ratios = np.array([one.missed / one.said for one in ended])
    table = Table(title=f"{studies:,} simulated studies", box=SIMPLE_HEAD, pad_edge=False)
    for heading in ("what", "found", "95 % interval"):
        table.add_column(heading)
    table.add_row("missed, as a multiple of what was said: median", number(float(np.median(ratios)), digits=2), "")
    rows = {
        "missed half to twice of what was said": [0.5 <= ratio <= 2 for ratio in ratios],
        "better than the start": [one.gain > 0 for one in ended],
        "shown, if at least the gain that was said": [one.shown for one in ended if one.showable],
        "shown, if less": [one.shown for one in ended if not one.showable],
        "shown, if no better than the start": [one.shown for one in ended if one.gain <= 0],
    }
    for what, seen in rows.items():
        if seen:
            share = share_interval(sum(seen), len(seen))
            found = f"{number(100 * sum(seen) / len(seen), digits=2)} % of {len(seen)}"
            table.add_row(what, found, interval(100 * share.low, 100 * share.high))
    console.print(table)


if __name__ == "__main__":
    run_script(main, __doc__)
