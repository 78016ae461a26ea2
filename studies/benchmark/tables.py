"""The tables of the benchmark: what is measured, on how many problems, and after how many games."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from turnier.studies.benchmark.bbob import FUNCTIONS, Bbob
from turnier.studies.benchmark.problem import Table
from turnier.studies.benchmark.real_games import rows, yavalath
from turnier.studies.benchmark.skewed import SkewedScores
from turnier.studies.benchmark.won_games import mixed, won

ELO = "Elo lost"
_NOISY = "30 noisy functions of the suite, decimal logarithm of the distance to the best value"
TABLES = (
    Table("won 6", "Won games, 6 parameters", "The start is 60 Elo below the best.", partial(won, size=6),
          (500, 1000, 2000, 5000, 20_000), ELO, needed=True),
    Table("won 12", "Won games, 12 parameters", "The start is 60 Elo below the best.", partial(won, size=12),
          (1000, 2000, 5000, 20_000), ELO, needed=True),
    Table("near 6", "Won games, a good start", "The start is 20 Elo below the best of 6 parameters.",
          partial(won, size=6, gap=20), (500, 2000, 10_000), ELO),
    Table("far 6", "Won games, a bad start", "The start is 200 Elo below the best of 6 parameters.",
          partial(won, size=6, gap=200), (500, 2000, 10_000), ELO),
    Table("ridge 6", "Won games, a ridge with stairs", "The start is 60 Elo below the best; the longest axis is 17 "
          "times the shortest, all are turned, and two of 6 parameters have ten values that differ.",
          partial(won, size=6, ridge=True), (500, 2000, 10_000), ELO),
    Table("ends 6", "Won games, near the ends of ranges", "The start is 60 Elo below the best. Two of 6 parameters are "
          "best at an end; two matter by factors, from a fiftieth of a range that is searched evenly.",
          partial(won, size=6, ends=True), (600, 2000, 10_000), ELO),
    Table("mixed 8", "Won games, whole numbers and choices", "Three numbers, three whole numbers, a choice of three "
          "and a switch, which are wrong at the start, about 60 Elo below the best.", mixed,
          (500, 2000, 10_000), ELO),
    Table("circle 6", "Won games, not transitive", "Some candidates beat others by up to some 100 Elo beyond their "
          "strength. The loss is against the start.", partial(won, size=6, circle=100.0),
          (500, 2000, 10_000), ELO),
    Table("skewed", "Skewed scores", "The standard deviation of a score is half of its mean. Three numbers, one with "
          "stairs, a whole number, a choice that is wrong at the start, a number that one choice needs, and one "
          "without effect. Lost share of the best mean.", SkewedScores, (500, 2000, 5000), "share lost"),
    Table("skewed near", "Skewed scores, a good start", "The same with the right choice and the other parameters near "
          "the best. Lost share of the best mean.", partial(SkewedScores, near=True), (500, 2000, 5000), "share lost"),
    Table("bbob 5", "bbob-noisy, 5 dimensions", _NOISY + ".", partial(Bbob, size=5), (500, 5000), "decades"),
    Table("bbob 10", "bbob-noisy, 10 dimensions", _NOISY + ".", partial(Bbob, size=10), (1000, 10_000), "decades"),
    Table("2048", "Really played: 2048", "Seven weights of row tables at depth 1; mean score of 300 held-out games, "
          "in thousands.", rows, (300, 1000, 3000), "thousand points", sign=-1),
    Table("yavalath", "Really played: Yavalath", "Exploration, rollout depth and tree depth of `mcts(iterations=100)`, "
          "from 6, 6 and 4; share of points, %, in 600 held-out games against the usual parameters.", yavalath,
          (600, 2000), "%", sign=-1),
)  # fmt: skip
BY_NAME = {table.name: table for table in TABLES}
SIMULATED = tuple(name for name in BY_NAME if name not in ("2048", "yavalath"))


@dataclass(frozen=True)
class Preset:
    problems: Mapping[str, int]  # by table
    most: int = 10**9  # games of a search


def _each(count: int) -> dict[str, int]:
    return {name: FUNCTIONS if name.startswith("bbob") else count for name in SIMULATED}


PRESETS = {
    "quick": Preset(_each(6) | {"skewed": 20, "skewed near": 20}),
    "paper": Preset(_each(20)),
    "real": Preset({"2048": 6, "yavalath": 12}),
    "tiny": Preset({"won 6": 2, "skewed": 2}, 500),  # for tests
}
