"""How often is a race wrong, and how many games does it save? Simulated uses of `turnier compare A B C --base X`.

\b
Examples:
    python studies/promises/race.py                    1,000 uses of each kind, a few minutes
    python studies/promises/race.py --preset tiny      a few uses, seconds

The truth is known: the gains of the agents over their base. Won games are pairs with a third of draws; scores vary as
those of 2048, by half their mean, and all agents share the games of the base. Beside the race stand three other ways
to answer the question with the same pairs:

\b
- one by one: each agent has a sequential test of its own, with its share of the error; nobody leaves for another
- 5 % each: likewise, but each test has the whole error, as if it were the only one
- to the end: a fixed number of pairs, which finds a gain of the margin in 95 %, with each agent's share of the error

Results are kept in blocks of uses, so repeating the command adds what is missing. The table is written into the page,
between its two markers. After a change of a test, delete the file of results.
"""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt
import typer
from scipy import stats

from turnier.arena.match import derive_seed
from turnier.arena.schedules.duel import FIRST_ROUND, GROWTH
from turnier.arena.schedules.race import fallen_behind
from turnier.core.errors import UserError
from turnier.core.number_text import interval, number
from turnier.core.terminal.console import Console
from turnier.runs.bar import game_bar
from turnier.statistics.intervals import share_interval
from turnier.statistics.sprt import MARGIN_ELO, MARGIN_SCORE, UNLIKELY, Improvement, Verdict, share_of_elo
from turnier.studies.scripts.results_file import read_rows, write_rows
from turnier.studies.scripts.script import choose_preset, run_script, with_table
from turnier.studies.verdicts import DRAWS, MEAN, SHAPE

DATA, PAGE = Path("docs/results/data/race.csv"), Path("docs/results/verdicts.md")
START, END = "<!-- written by studies/promises/race.py -->", "<!-- end of the races -->"
ALPHA = 0.05
MOST = 5_000  # pairs of each agent
Floats = npt.NDArray[np.float64]


class Kind(NamedTuple):
    """What is simulated: the gains of the agents over their base, in Elo, or of scores in %."""

    name: str
    gains: tuple[float, ...]
    scores: bool = False


KINDS = (
    Kind("4 agents, all equal", (0,) * 4),
    Kind("10 agents, all equal", (0,) * 10),
    Kind("4 agents, all 10 Elo worse", (-10,) * 4),
    *[Kind(f"1 of 4 is {gain} Elo better", (gain, *[0] * 3)) for gain in (10, 20, 40)],
    *[Kind(f"1 of 10 is {gain} Elo better", (gain, *[0] * 9)) for gain in (10, 20, 40)],
    Kind("4 agents: +20, +10, 0, -10 Elo", (20, 10, 0, -10)),
    Kind("scores: 4 agents, all equal", (0,) * 4, True),
    Kind("scores: 1 of 4 is 5 % better", (5, 0, 0, 0), True),
    Kind("scores: 1 of 4 is 10 % better", (10, 0, 0, 0), True),
)
WAYS = ("race", "one by one", "5 % each", "to the end")


class Use(NamedTuple):
    """How one use ended, or the sums of several."""

    games: int  # in all
    wrong: int  # whether an agent that is no better was called better
    best: int  # whether the best was named
    held: int  # whether all intervals hold the truth


COLUMNS = ("kind", "way", "uses", "block", *Use._fields)


class Preset(NamedTuple):
    blocks: int
    uses: int  # of a block


PRESETS = {"tiny": Preset(1, 4), "paper": Preset(10, 100)}
Results = dict[tuple[str, str, int, int], Use]  # kind, way, uses of a block, number of the block -> their sums


def simulate(kind: Kind, way: str, rng: np.random.Generator) -> Use:
    """Simulates one use."""
    agents, sharing = len(kind.gains), 1 if way == "5 % each" else len(kind.gains)
    make = Improvement.of_scores if kind.scores else Improvement.of_shares
    tests = [make(MARGIN_SCORE if kind.scores else MARGIN_ELO, ALPHA, sharing) for _ in kind.gains]
    truth = [1 + gain / 100 if kind.scores else share_of_elo(gain) for gain in kind.gains]
    if way == "to the end":
        return _to_the_end(kind, truth, rng)
    gone: set[int] = set()
    games = pairs = 0
    while playing := [i for i, test in enumerate(tests) if test.verdict is Verdict.UNDECIDED and i not in gone]:
        size = min(max(FIRST_ROUND, pairs // GROWTH), MOST - pairs)
        if not size:
            break
        base = rng.gamma(SHAPE, MEAN / SHAPE, size) if kind.scores else None
        for i in playing:
            tests[i].add(_play(kind, truth[i], size, rng).tolist(), None if base is None else base.tolist())
        pairs += size
        games += size * (len(playing) + 1 if kind.scores else 2 * len(playing))
        if way == "race":
            gone |= fallen_behind({i: tests[i] for i in range(agents) if i not in gone}).keys()
    better = [i for i, test in enumerate(tests) if test.verdict is Verdict.STRONGER]
    held = all(test.estimate.low <= value <= test.estimate.high for test, value in zip(tests, truth, strict=True))
    return _ended(kind, games, better, [test.mean[0] for test in tests], held)


def _to_the_end(kind: Kind, truth: list[float], rng: np.random.Generator) -> Use:
    """A planned number of pairs of each agent: tests by the normal approximation, in one step."""
    share = ALPHA / len(truth)
    apart = MARGIN_SCORE / math.sqrt(2 / SHAPE) if kind.scores else (share_of_elo(MARGIN_ELO) - 0.5) / _deviation()
    pairs = math.ceil(((stats.norm.isf(share) + stats.norm.isf(UNLIKELY)) / apart) ** 2)
    base = rng.gamma(SHAPE, MEAN / SHAPE, pairs) if kind.scores else np.full(pairs, 0.5)
    values = [_play(kind, value, pairs, rng) - base for value in truth]
    means = [float(each.mean()) for each in values]
    errors = [float(each.std(ddof=1)) / math.sqrt(pairs) for each in values]
    better = [i for i in range(len(truth)) if means[i] / errors[i] >= stats.norm.isf(share)]
    half = float(stats.norm.isf(share / 2))
    middle = [MEAN * (value - 1) if kind.scores else value - 0.5 for value in truth]
    held = all(abs(m - t) <= half * e for m, t, e in zip(means, middle, errors, strict=True))
    return _ended(kind, pairs * (len(truth) + 1 if kind.scores else 2 * len(truth)), better, means, held)


def _ended(kind: Kind, games: int, better: list[int], means: list[float], held: bool) -> Use:
    best = max(better, key=means.__getitem__, default=None)
    wrong = any(kind.gains[i] <= 0 for i in better)
    return Use(games, int(wrong), int(best == 0 and kind.gains[0] > 0), int(held))


def _play(kind: Kind, value: float, pairs: int, rng: np.random.Generator) -> Floats:
    """Returns the scores of an agent, or its shares of the points in two games against the base."""
    if kind.scores:
        return rng.gamma(SHAPE, value * MEAN / SHAPE, pairs)
    drawn = min(DRAWS, 2 * min(value, 1 - value))
    points = rng.choice([1.0, 0.5, 0.0], p=[value - drawn / 2, drawn, 1 - value - drawn / 2], size=(pairs, 2))
    return np.asarray(points.mean(1))


def _deviation() -> float:
    """The standard deviation of a pair's share of points between equal agents."""
    return math.sqrt((1 - DRAWS) / 4 / 2)


def read(path: Path) -> Results:
    """Returns stored results, none if there is no file; raises UserError for a file with other columns."""
    rows = read_rows(path, COLUMNS)
    return {(kind, way, int(uses), int(block)): Use(*map(int, sums)) for kind, way, uses, block, *sums in rows}


def write(path: Path, results: Results) -> None:
    """Replaces the file as a whole."""
    write_rows(path, COLUMNS, ([*key, *use] for key, use in sorted(results.items())))


def table(results: Results, preset: Preset) -> str:
    """Returns the table of a preset in Markdown."""
    heads = ["agents", "wrong, %", "best named, %", "all intervals hold, %", "games", "fewer than to the end, %"]
    heads += ["fewer than one by one, %", "best named to the end, %", "wrong with 5 % each, %"]
    lines = [f"| {' | '.join(heads)} |", f"| --- |{' ---: |' * (len(heads) - 1)}"]
    uses = preset.blocks * preset.uses

    def total(kind: Kind, way: str, name: str) -> int:
        blocks = [results[kind.name, way, preset.uses, block] for block in range(preset.blocks)]
        return sum(getattr(block, name) for block in blocks)

    def percent(kind: Kind, way: str, name: str) -> str:
        count = total(kind, way, name)
        share = share_interval(count, uses)
        return f"{number(100 * count / uses)} ({interval(100 * share.low, 100 * share.high)})"

    for kind in KINDS:
        good = kind.gains[0] > 0
        games = {way: total(kind, way, "games") / uses for way in WAYS}
        saved = [number(100 * (1 - games["race"] / games[way])) for way in ("to the end", "one by one")]
        named = [percent(kind, way, "best") if good else "" for way in ("race", "to the end")]
        row = [kind.name, percent(kind, "race", "wrong"), named[0], percent(kind, "race", "held")]
        row += [f"{games['race']:,.0f}", *saved, named[1], percent(kind, "5 % each", "wrong")]
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines)


def main(
    preset: Annotated[str, typer.Option(help=", ".join(PRESETS))] = "paper",
    data: Annotated[Path, typer.Option(help="file of results, which is added to")] = DATA,
    page: Annotated[Path, typer.Option(help="page that the table is written into")] = PAGE,
) -> None:
    chosen = choose_preset(PRESETS, preset)
    if not page.exists():
        raise UserError(f"the page must exist, got {page}; run this in the root of the repository, or name another.")
    with_table(page.read_text(), "", START, END)  # raises, before anything is simulated
    results = read(data)
    wanted = [(*each, chosen.uses, block) for block in range(chosen.blocks) for each in itertools.product(KINDS, WAYS)]
    left = [each for each in wanted if (each[0].name, *each[1:]) not in results]
    with game_bar("blocks", len(wanted), unit="blocks", completed=len(wanted) - len(left)) as bar:
        for kind, way, uses, block in left:
            key = kind.name, way, uses, block
            rng = np.random.default_rng(derive_seed("race", *key))
            ended = zip(*(simulate(kind, way, rng) for _ in range(uses)), strict=True)
            results[key] = Use(*map(sum, ended))
            write(data, results)
            bar.advance(1)
    page.write_text(with_table(page.read_text(), table(results, chosen), START, END))
    Console().print(f"Results: {data}; table: {page}")


if __name__ == "__main__":
    run_script(main, __doc__)
