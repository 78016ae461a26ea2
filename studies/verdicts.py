"""How often is the verdict of a study wrong, and how often does it miss a gain? Simulations with a known truth.

\b
Examples:
    python studies/verdicts.py                      400 studies of each kind, a minute
    python studies/verdicts.py --studies 2000

Scores vary as much as those of 2048: by half their mean. The gain is given in standard errors of a mean of 100 games,
the number that each finalist played before there were verdicts; for comparison, a table of 100 games is tested, too.
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
from turnier.statistics.superiority import MAX_ROUNDS, MIN_UNITS, Superiority, superiority
from turnier.studies.scripts.script import run_script

Play = Callable[[str, int], npt.NDArray[np.float64]]  # label, units -> values
CHALLENGERS, REFERENCES = ("proposed", "candidate 1", "candidate 2", "candidate 3"), ("start", "baseline")
MEAN, SHAPE = 20_000.0, 4.0  # of gamma distributed scores: a standard deviation of half the mean
OLD_GAMES = 100  # per finalist, with no test


class Simulated(NamedTuple):
    """How a simulated study ended."""

    better: str | None
    games: int  # held out, of all finalists
    units: int  # of the proposed agent


def simulate_study(
    play: Play, challengers: Sequence[str], references: Sequence[str], games: int, test: Superiority | None = None
) -> Simulated:
    """Plays rounds of held-out games until the verdict, as a study with one game per unit does."""
    values: dict[str, list[float]] = {label: [] for label in (*references, *challengers)}
    rounds = max(1, min(MAX_ROUNDS, games // (MIN_UNITS * len(values))))
    test, planned = test or Superiority(challengers, references, rounds), 0
    while active := test.active:
        units = (games * (test.done + 1) // test.rounds - planned) // len(active)
        planned += units * len(active)
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


def fixed_test(play: Play) -> bool:
    """Whether the old table shows the proposed agent as better than both references, at the same error rate."""
    proposed = play(CHALLENGERS[0], OLD_GAMES).tolist()
    return all(
        superiority(proposed, play(label, OLD_GAMES).tolist()) <= 0.05 / len(CHALLENGERS) for label in REFERENCES
    )


def main(
    studies: Annotated[int, typer.Option(help="simulated studies of each kind", min=1)] = 400,
    seed: Annotated[int, typer.Option(help="same seed, same result")] = 1,
) -> None:
    console = Console()
    table = Table(title=f"{studies:,} simulated studies of each kind", box=SIMPLE_HEAD, pad_edge=False)
    for heading in ("gain, SE", "gain, %", "games", "found, %", "95 %", "used", "fixed, %"):
        table.add_column(heading, justify="right", no_wrap=True)
    kinds = [(gain, games) for gain in (0.0, 0.5, 1.0, 2.0, 4.0) for games in (600, 2_500, 10_000)]
    with game_bar("studies", studies * len(kinds), console, unit="studies") as bar:
        for gain, games in kinds:
            rng = np.random.default_rng([seed, int(10 * gain), games])
            ended = []
            for _ in range(studies):
                ended.append(simulate_study(scores(rng, gain), CHALLENGERS, REFERENCES, games))
                bar.advance(1)
            found = [one for one in ended if (one.better is not None if gain == 0 else one.better == CHALLENGERS[0])]
            old = sum(fixed_test(scores(rng, gain)) for _ in range(studies))
            share = share_interval(len(found), studies)
            table.add_row(
                f"{gain:g}", number(5 * gain), f"{games:,}", number(100 * len(found) / studies),
                interval(100 * share.low, 100 * share.high), f"{np.mean([one.games for one in ended]):,.0f}",
                number(100 * old / studies),
            )  # fmt: skip
    console.print(table)


if __name__ == "__main__":
    run_script(main, __doc__)
