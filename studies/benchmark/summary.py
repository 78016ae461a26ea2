"""What results say: losses with intervals, ranks with critical differences, games needed for 90 % of the gain."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import rankdata, studentized_range

from turnier.core.number_text import number, plus_minus
from turnier.statistics.intervals import mean_interval
from turnier.studies.benchmark.problem import Floats, Table
from turnier.studies.benchmark.runs import START, Results

GAINED = 0.9
SAMPLES = 1000  # of the bootstrap


@dataclass(frozen=True)
class Needed:
    """Games for a share of the gain, and their 95 % interval; infinite if more than were played."""

    games: float
    low: float
    high: float

    def text(self, most: int) -> str:
        if math.isinf(self.games):
            return f"> {most:,}"
        high = f"{self.high:,.0f}" if math.isfinite(self.high) else f"> {most:,}"
        return f"{self.games:,.0f} ({self.low:,.0f} to {high})"


@dataclass(frozen=True)
class Summary:
    """Results of a table: arrays are [problems, budgets], with NaN for what was not run."""

    table: Table
    games: tuple[int, ...]
    losses: Mapping[str, Floats]  # by search
    seconds: Mapping[str, float]  # of the search alone, with the largest budget
    start: Floats  # [problems]

    @classmethod
    def of(cls, table: Table, results: Results) -> Summary | None:
        """Returns the summary of a table; None if it has no results of a search."""
        own = [(task, result) for task, result in results.items() if task.table == table.name]
        if all(task.search == START for task, _ in own):
            return None
        frame = pd.DataFrame([{**task._asdict(), **result._asdict()} for task, result in own])
        searched = frame[frame["search"] != START]
        games = tuple(sorted(int(n) for n in searched["games"].unique()))
        problems = sorted(frame["problem"].unique())
        losses, seconds = {}, {}
        for label, part in searched.groupby("search", sort=False):
            wide = part.pivot(index="problem", columns="games", values="loss")
            losses[str(label)] = wide.reindex(index=problems, columns=games).to_numpy(float)
            seconds[str(label)] = float(part.loc[part["games"] == games[-1], "seconds"].median())
        start = frame[frame["search"] == START].set_index("problem")["loss"].reindex(problems).to_numpy(float)
        return cls(table, games, losses, seconds, start)

    def complete(self) -> Floats:
        """Returns which problems all searches have run on with all budgets, [problems]."""
        return np.asarray(np.all([np.isfinite(losses).all(axis=1) for losses in self.losses.values()], axis=0))

    def ranks(self) -> dict[str, Floats]:
        """Returns the mean rank of each search, 1 = best, after each budget."""
        stacked = np.stack([losses[self.complete()] for losses in self.losses.values()])
        if not stacked.shape[1]:
            return {label: np.full(len(self.games), np.nan) for label in self.losses}
        return dict(zip(self.losses, rankdata(stacked, axis=0).mean(axis=1), strict=True))

    def critical_difference(self) -> float:
        """Returns how far apart mean ranks must be to differ significantly: Nemenyi's at 5 % (Demšar 2006)."""
        searches, problems = len(self.losses), int(self.complete().sum())
        if searches < 2 or not problems:
            return math.nan
        q = studentized_range.ppf(0.95, searches, np.inf) / math.sqrt(2)
        return float(q * math.sqrt(searches * (searches + 1) / (6 * problems)))

    def needed(self, label: str, gained: float = GAINED) -> Needed:
        """Returns the games until a share of what the start lacks is gained, by the mean over problems."""
        whole = np.isfinite(self.losses[label]).all(axis=1)
        losses, start = self.losses[label][whole], self.start[whole]
        rng, n = np.random.default_rng(1), len(losses)
        found = [_crossing(self.games, losses.mean(0), (1 - gained) * start.mean())] if n else [math.inf]
        for _ in range(SAMPLES if n else 0):
            drawn = rng.integers(n, size=n)
            found.append(_crossing(self.games, losses[drawn].mean(0), (1 - gained) * start[drawn].mean()))
        ends = np.quantile(found, [0.025, 0.975], method="nearest")
        return Needed(found[0], float(ends[0]), float(ends[1]))

    def frame(self, labels: Sequence[str]) -> pd.DataFrame:
        """Returns the mean loss of searches after each budget, with its interval: search, games, loss, low, high."""
        rows = []
        for label in labels:
            for games, losses in zip(self.games, self.losses[label].T, strict=True):
                mean, half = mean_interval(losses[np.isfinite(losses)])
                rows.append({"search": label, "games": games, "loss": mean, "low": mean - half, "high": mean + half})
        return pd.DataFrame(rows)

    def ordered(self) -> list[str]:
        """Returns the searches, the best mean rank over all budgets first."""
        ranks = self.ranks()
        return sorted(self.losses, key=lambda label: (float(ranks[label].mean()), label))

    def markdown(self) -> str:
        """Returns the section of the page."""
        ranks, sign, problems = self.ranks(), self.table.sign, len(self.start)
        gap = self.critical_difference()
        budgets = [f"{games:,} games" for games in self.games]
        head = ["search", *budgets, *(["games for 90 %"] if self.table.needed else []), "mean ranks", "CPU s"]
        rows = [["*start*", number(sign * float(np.nanmean(self.start))), *[""] * (len(head) - 2)]]
        for label in self.ordered():
            cells = [
                plus_minus(sign * mean, half)
                for mean, half in (mean_interval(of[np.isfinite(of)]) for of in self.losses[label].T)
            ]
            needed = [self.needed(label).text(self.games[-1])] if self.table.needed else []
            shown = ", ".join(f"{rank:.1f}" for rank in ranks[label])
            rows.append([f"`{label}`", *cells, *needed, shown, f"{self.seconds[label]:.2g}"])
        about = f"{self.table.text} {problems} problems; {self.table.unit}. Mean ranks differ at 5 % if they are " + (
            f"{gap:.1f} apart."
        )
        lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
        return "\n".join([f"### {self.table.title}", "", about, "", *(f"| {' | '.join(cells)} |" for cells in lines)])


def _crossing(games: Sequence[int], losses: Floats, goal: float) -> float:
    """Returns the games after which the loss falls to the goal, on a line between the logarithms of both."""
    logs, values = np.log(np.asarray(games, float)), np.log(np.maximum(losses, 1e-9))
    below = np.flatnonzero(losses <= goal)
    if not len(below):
        return math.inf
    place = int(below[0])
    if place == 0:
        return float(games[0])
    share = (values[place - 1] - math.log(goal)) / (values[place - 1] - values[place])
    return float(math.exp(logs[place - 1] + share * (logs[place] - logs[place - 1])))
