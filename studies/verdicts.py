"""How often is the verdict of a study wrong, and how often does it miss a gain? Simulations with a known truth.

\b
Examples:
    python studies/verdicts.py                      400 studies of each kind, a few minutes
    python studies/verdicts.py --studies 2000

Of studies without a gain there are ten times as many, since false verdicts are rare. Counts are kept, so repeating the
command adds missing studies, and more of them are added to those counted. After a change of verdicts, delete the file
of counts. The table is printed, and written into the page between its two markers.

Scores vary as much as those of 2048: by half their mean. Won games are those of a match against the start, a third of
them drawn; their gain is in Elo. The verdict of earlier editions, beside it, has three candidates more, which share the
games and half of the error, and a start that plays as many games as they do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt
import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from turnier.core.errors import UserError
from turnier.core.number_text import interval, number
from turnier.core.terminal.console import Console
from turnier.runs.bar import Bar, game_bar
from turnier.statistics.intervals import share_interval
from turnier.statistics.sprt import share_of_elo
from turnier.statistics.superiority import FIRST_SHARE, MAX_ROUNDS, MIN_UNITS, Superiority
from turnier.studies.scripts.results_file import read_rows, write_rows
from turnier.studies.scripts.script import run_script, with_table

Play = Callable[[str, int], npt.NDArray[np.float64]]  # label, units -> values
CHALLENGERS, REFERENCES = ("proposed", "candidate 1", "candidate 2", "candidate 3"), ("start", "baseline")
MEAN, SHAPE = 20_000.0, 4.0  # of gamma distributed scores: a standard deviation of half the mean
OLD_GAMES = 100  # in whose standard errors gains of scores are given
DRAWS = 0.33
GAINS = {True: (0.0, 0.5, 1.0, 2.0), False: (0.0, 10.0, 20.0, 40.0, 60.0)}  # of scores, and of won games
GAMES = 600, 2_500, 10_000
NULLS = 10  # times as many studies without a gain
BLOCK = 200  # studies between two writes of the counts
DATA, PAGE = Path("docs/results/data/verdicts.csv"), Path("docs/results/verdicts.md")
START, END = "<!-- written by studies/verdicts.py -->", "<!-- end of the table -->"
HEADINGS = ("gain", "held-out games, maximum", "studies", "found, %", "95 % interval", "games used",
            "earlier, %", "games used earlier")  # fmt: skip


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


class Kind(NamedTuple):
    """A kind of simulated studies."""

    scored: bool  # whether scores are compared, else won games
    gain: float  # of the proposed agent, see `scores` and `against_start`
    games: int  # held out, maximum


class Counts(NamedTuple):
    """What is counted of the studies of a kind."""

    studies: int = 0
    found: int = 0  # ended with "Recommended"; with a gain, of the agent that has it
    used: int = 0  # held-out games of all studies
    found_earlier: int = 0  # in as many studies of earlier editions
    used_earlier: int = 0


COLUMNS = ("seed", *Kind._fields, *Counts._fields)
Known = dict[tuple[int, Kind], Counts]  # by seed and kind
KINDS = [Kind(scored, gain, games) for scored, gains in GAINS.items() for gain in gains for games in GAMES]


def wanted(kind: Kind, studies: int) -> int:
    """Returns the number of studies of a kind, of which this many have a gain."""
    return studies if kind.gain else NULLS * studies


def read_counts(path: Path) -> Known:
    """Returns stored counts, none if there is no file; raises UserError for a file with other columns."""
    rows = read_rows(path, COLUMNS)
    found = [(int(seed), Kind(s == "True", float(g), int(n)), Counts(*map(int, c))) for seed, s, g, n, *c in rows]
    return {(seed, kind): counts for seed, kind, counts in found}


def write_counts(path: Path, known: Known) -> None:
    """Replaces the file of counts as a whole."""
    write_rows(path, COLUMNS, ((seed, *kind, *counts) for (seed, kind), counts in sorted(known.items())))


def simulated(kind: Kind, seed: int, number: int) -> Counts:
    """Returns the counts of one study, which depend on the arguments alone."""
    counted = []
    for early in (False, True):
        rng = np.random.default_rng([seed, kind.scored, int(10 * kind.gain), kind.games, number, early])
        ended = _study(rng, kind.scored, kind.gain, kind.games, early)
        found = ended.better is not None if not kind.gain else ended.better == CHALLENGERS[0]
        counted += [int(found), ended.games]
    return Counts(1, *counted)


def measure(kinds: Sequence[Kind], studies: int, seed: int, path: Path, bar: Bar) -> Known:
    """Simulates the studies that are missing, and stores the counts after each block."""
    known = read_counts(path)
    for kind in kinds:
        counts = known.get((seed, kind), Counts())
        for one in range(counts.studies, wanted(kind, studies)):
            counts = Counts(*map(sum, zip(counts, simulated(kind, seed, one), strict=True)))
            bar.advance(1)
            if counts.studies % BLOCK == 0 or counts.studies == wanted(kind, studies):
                known[seed, kind] = counts
                write_counts(path, known)
    return known


def cells(kind: Kind, counts: Counts) -> tuple[str, ...]:
    """Returns a row of the table, see HEADINGS."""
    n = counts.studies
    share, gain = share_interval(counts.found, n), 100 * kind.gain * 0.5 / OLD_GAMES**0.5
    return (
        f"{number(gain)} %" if kind.scored else f"{kind.gain:g} Elo", f"{kind.games:,}", f"{n:,}",
        number(100 * counts.found / n, digits=3), interval(100 * share.low, 100 * share.high),
        f"{counts.used / n:,.0f}", number(100 * counts.found_earlier / n, digits=3),
        f"{counts.used_earlier / n:,.0f}",
    )  # fmt: skip


def main(
    studies: Annotated[int, typer.Option(help="simulated studies of each kind with a gain", min=1)] = 400,
    seed: Annotated[int, typer.Option(help="same seed, same result", min=0)] = 1,
    data: Annotated[Path, typer.Option(help="file of counts, which is added to")] = DATA,
    page: Annotated[Path, typer.Option(help="page that the table is written into")] = PAGE,
) -> None:
    console = Console()
    if not page.exists():
        raise UserError(f"the page must exist, got {page}; run this in the root of the repository, or name another.")
    with_table(page.read_text(), "", START, END)  # raises, before anything is simulated
    known, total = read_counts(data), sum(wanted(kind, studies) for kind in KINDS)
    done = sum(min(wanted(kind, studies), known.get((seed, kind), Counts()).studies) for kind in KINDS)
    with game_bar("studies", total, console, unit="studies", completed=done) as bar:
        known = measure(KINDS, studies, seed, data, bar)
    rows = [cells(kind, known[seed, kind]) for kind in KINDS]
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in HEADINGS:
        table.add_column(heading, justify="right", overflow="fold")
    for row in rows:
        table.add_row(*row)
    console.print(table)
    lines = (HEADINGS, ["---:"] * len(HEADINGS), *rows)
    written = "\n".join(f"| {' | '.join(row)} |" for row in lines)
    page.write_text(with_table(page.read_text(), written, START, END))
    console.print(f"Counts: {data}; table: {page}")


if __name__ == "__main__":
    run_script(main, __doc__)
