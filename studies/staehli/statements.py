"""What Stähli and Sager 2019 say of weight matrices, as claims that our games can show or refute."""

from __future__ import annotations

from turnier.studies.campaigns.statements import Statement, at_least, at_most, best, higher
from turnier.studies.staehli.matrices import COMBINED

HOW = ("as it stands", "transformed")
MATRICES = tuple(f"{name}, {how}" for name in ("left", "left corner", "corners") for how in HOW)

STATEMENTS = (
    Statement("Z1", "matrices", "The snake with its transforms is the best of the matrices.", "staehli:one-ply",
              best("snake, transformed", *MATRICES)),
    Statement("Z2", "matrices", "Transforms improve every matrix (but the corners, which are the same in all).",
              "staehli:one-ply", tuple(higher(f"{name}, transformed", f"{name}, as it stands")
                                       for name in ("left", "left corner", "snake"))),
    Statement("Z3", "combination", "The combination is better than each matrix.", "staehli:one-ply",
              tuple(higher(COMBINED, other) for other in (*MATRICES, "snake, transformed"))),
    Statement("Z4", "combination", "The combination has 260 % more points than random play (here: 240 to 280 %).",
              "staehli:one-ply", (higher(COMBINED, "random", by=3.4), higher("random", COMBINED, by=1 / 3.8))),
    Statement("Z5", "wins", "With one ply it is not possible to reach 2048 (here: in at most 1 % of games).",
              "staehli:wins", (at_most(f"{COMBINED}, one ply", 1.0),)),
    Statement("Z6", "wins", "With two plies it is possible (here: in at least 1 % of games).", "staehli:wins",
              (at_least(f"{COMBINED}, two plies", 1.0),)),
)  # fmt: skip
