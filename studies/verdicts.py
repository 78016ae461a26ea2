"""How often is the verdict of a study wrong, and how often does it miss a gain? Simulations with a known truth.

\b
Examples:
    python studies/verdicts.py                      400 studies of each kind, a minute
    python studies/verdicts.py --studies 2000

Scores vary as much as those of 2048: by half their mean. Won games are those of a match against the start, a third of
them drawn; their gain is in Elo. The verdict of earlier editions, beside it, has three candidates more, which share the
games and half of the error, and a start that plays as many games as they do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt
import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from turnier.core.number_text import interval, number
from turnier.core.terminal.console import Console
from turnier.runs.bar import game_bar
from turnier.statistics.intervals import share_interval
from turnier.statistics.sprt import share_of_elo
from turnier.statistics.superiority import FIRST_SHARE, MAX_ROUNDS, MIN_UNITS, Superiority
from turnier.studies.scripts.script import run_script

Play = Callable[[str, int], npt.NDArray[np.float64]]  # label, units -> values
CHALLENGERS, REFERENCES = ("proposed", "candidate 1", "candidate 2", "candidate 3"), ("start", "baseline")
MEAN, SHAPE = 20_000.0, 4.0  # of gamma distributed scores: a standard deviation of half the mean
OLD_GAMES = 100  # in whose standard errors gains of scores are given
DRAWS = 0.33
KINDS = {True: (0.0, 0.5, 1.0, 2.0), False: (0.0, 10.0, 20.0, 40.0, 60.0)}  # gains of scores, and of won games
GAMES = 600, 2_500, 10_000


class Simulated(NamedTuple):
    """How a simulated study ended."""

    better: str | None
    games: int  # held out, of all finalists
    units: int  # of the proposed agent


def simulate_study(
    play: Play,
    challengers: Sequence[str],
    references: Sequence[str],
    games: int,
    test: Superiority | None = None,
    unit_games: int = 1,
    free: int = 0,
) -> Simulated:
    """Plays rounds of held-out games until the verdict, as a study does.

    Args:
        play: returns values of units.
        challengers: their labels.
        references: their labels.
        games: maximum.
        test: the test, of which one of several challengers has half of the error; default: all of it if it is alone.
        unit_games: games per unit.
        free: number of references without games of their own.
    """
    values: dict[str, list[float]] = {label: [] for label in (*references, *challengers)}
    rounds = max(1, min(MAX_ROUNDS, games // (MIN_UNITS * (len(values) - free) * unit_games)))
    share = 1.0 if len(challengers) == 1 else FIRST_SHARE
    test, planned = test or Superiority(challengers, references, rounds, first_share=share), 0
    while active := test.active:
        playing = (len(active) - free) * unit_games
        units = (games * (test.done + 1) // test.rounds - planned) // playing
        planned += units * playing
        for label in active:
            values[label] += play(label, units).tolist()
        test.add({label: values[label] for label in active})
    return Simulated(test.better, planned, len(values[challengers[0]]))


def scores(rng: np.random.Generator, gain: float) -> Play:
    """Returns scores of equal agents except for the proposed one, whose gain is in standard errors, see above."""
    better = MEAN * (1 + gain * 0.5 / np.sqrt(OLD_GAMES))

    def play(label: str, units: int) -> npt.NDArray[np.float64]:
        return rng.gamma(SHAPE, (better if label == CHALLENGERS[0] else MEAN) / SHAPE, units)

    return play


def against_start(rng: np.random.Generator, gain: float, references: Sequence[str] = ()) -> Play:
    """Returns shares of points in two games against the start: half for it, unless it plays, and for equal agents.

    Args:
        rng: random numbers.
        gain: of the proposed agent in Elo.
        references: that play games of their own.
    """

    def play(label: str, units: int) -> npt.NDArray[np.float64]:
        if label in REFERENCES and label not in references:
            return np.full(units, 0.5)
        share = share_of_elo(gain) if label == CHALLENGERS[0] else 0.5
        drawn = min(DRAWS, 2 * min(share, 1 - share))
        points = rng.choice([1.0, 0.5, 0.0], p=[share - drawn / 2, drawn, 1 - share - drawn / 2], size=(units, 2))
        return np.asarray(points.mean(1))

    return play


def _study(rng: np.random.Generator, scored: bool, gain: float, games: int, early: bool) -> Simulated:
    """Simulates a study with a start, as the newest edition ends it or an `early` one."""
    challengers, start = CHALLENGERS if early else CHALLENGERS[:1], REFERENCES[:1]
    if scored:
        return simulate_study(scores(rng, gain), challengers, start, games)
    play = against_start(rng, gain, start if early else ())
    return simulate_study(play, challengers, start, games, unit_games=2, free=0 if early else 1)


def main(
    studies: Annotated[int, typer.Option(help="simulated studies of each kind", min=1)] = 400,
    seed: Annotated[int, typer.Option(help="same seed, same result")] = 1,
) -> None:
    console = Console()
    table = Table(title=f"{studies:,} simulated studies of each kind", box=SIMPLE_HEAD, pad_edge=False)
    for heading in ("gain", "games", "found, %", "95 %", "used", "earlier, %", "used earlier"):
        table.add_column(heading, justify="right", no_wrap=True)
    kinds = [(scored, gain, games) for scored, gains in KINDS.items() for gain in gains for games in GAMES]
    with game_bar("studies", 2 * studies * len(kinds), console, unit="studies") as bar:
        for scored, gain, games in kinds:
            rng = np.random.default_rng([seed, scored, int(10 * gain), games])
            found, used = np.zeros(2), np.zeros(2)
            for early in (False, True) * studies:
                ended = _study(rng, scored, gain, games, early)
                found[int(early)] += ended.better is not None if not gain else ended.better == CHALLENGERS[0]
                used[int(early)] += ended.games / studies
                bar.advance(1)
            share = share_interval(int(found[0]), studies)
            table.add_row(
                f"{number(5 * gain)} %" if scored else f"{gain:g} Elo", f"{games:,}", number(100 * found[0] / studies),
                interval(100 * share.low, 100 * share.high), f"{used[0]:,.0f}", number(100 * found[1] / studies),
                f"{used[1]:,.0f}",
            )  # fmt: skip
    console.print(table)


if __name__ == "__main__":
    run_script(main, __doc__)
