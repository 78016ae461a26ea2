"""Prints how often goals are reached that formation tables give a probability: python docs/results/formations.py FILE.

Endings begin with random free cells and are played by the table alone, with uniform chance, until the goal is reached
or no longer possible; those of a table are grouped by the probability at their beginning.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import numpy as np

from turnier.agents.formations.lookup import head_of, is_reached, probabilities
from turnier.agents.formations.solve_kernels import moved_board
from turnier.agents.formations.table_file import FIXED, GOALS_FOR, M_TABLES, WALLS, open_tables, read_digest

ENDINGS = 30_000
BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.99, 1.01)


def main(path: Path) -> None:
    words = open_tables(path, read_digest(path))
    values, rng, found = words.view(np.uint16), random.Random(1), np.empty(8)
    sums = np.zeros((len(BINS) - 1, 3))
    while sums[:, 0].sum() < ENDINGS:
        head = head_of(words, rng.randrange(int(words[M_TABLES])))
        fixed, rank = int(words[head + FIXED]), int(words[head + GOALS_FOR])
        cells = [cell for cell in range(16) if not fixed >> 4 * cell & 15]
        corner = [cell for cell in range(16) if cell not in cells]
        # The fixed tiles fall from 32,768, so that none is small or equals a neighbour.
        tiles = np.uint64(sum(15 - i << 4 * cell for i, cell in enumerate(corner)))
        share = rng.random()
        board = sum(rng.randint(1, rank - 3) << 4 * cell for cell in cells if rng.random() < share)
        first, won = -1.0, 0
        while True:
            if is_reached(words, head, np.uint64(board)):
                won = 1
                break
            p = probabilities(words, values, np.uint64(board) | tiles, head, 0, found)
            if p <= 0.0:
                break
            first = p if first < 0.0 else first
            after = int(moved_board(int(words[head + WALLS]), np.uint64(board), int(np.argmax(found[:4]))))
            empty = [cell for cell in cells if not after >> 4 * cell & 15]
            board = after | (1 if rng.random() < 0.9 else 2) << 4 * rng.choice(empty)
        if first > 0.0:
            sums[np.searchsorted(BINS, first, side="right") - 1] += (1, first, won)
    print("| probability | endings | mean probability | reached | 95 % |\n| --- | --- | --- | --- | --- |")
    for low, high, (count, p, won) in zip(BINS, BINS[1:], sums, strict=False):
        if count:
            share = won / count
            half = 1.96 * np.sqrt(share * (1 - share) / count)
            print(f"| {low:g} to {min(high, 1):g} | {count:,.0f} | {p / count:.3f} | {share:.3f} | ± {half:.3f} |")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
