"""What threads report to each other is applied once and where it belongs, wherever one of them is interrupted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from turnier.agents.mctse import tree_copies
from turnier.agents.mctse.tree import NUM_NODES, PENDING, add_child, add_visits, back_up, new_tree_copy
from turnier.agents.mctse.tree_copies import LARGEST_BATCH, new_copies, tell_paths, tell_values

BATCHES = 3
ITERATIONS = BATCHES * LARGEST_BATCH
LISTENER, TELLER = 0, 1


def tell(tree: Any, copies: Any) -> Iterator[None]:
    """Runs batches of iterations, each with an action of its own and one outcome; pauses after every report."""
    tree.untried[0] = ITERATIONS
    for told in range(0, ITERATIONS, LARGEST_BATCH):
        firsts, leaves = np.zeros((2, LARGEST_BATCH), np.int64)
        for i in range(LARGEST_BATCH):
            firsts[i] = tree.next_node[TELLER]
            leaves[i] = add_child(tree, add_child(tree, 0, told + i), 0)
            add_visits(tree, leaves[i], 1 + PENDING)
        tell_paths(tree, copies, told, LARGEST_BATCH, firsts, leaves)
        yield
        values = np.arange(told, told + LARGEST_BATCH, dtype=float)[:, None]
        for leaf, value in zip(leaves, values, strict=True):
            back_up(tree, leaf, value, False, -PENDING)
        tell_values(tree, copies, told, LARGEST_BATCH, values)
        yield


@pytest.mark.parametrize("reports", range(1, 2 * BATCHES))
@pytest.mark.parametrize("looked", range(4))
def test_reports_that_come_while_a_thread_listens(monkeypatch: pytest.MonkeyPatch, looked: int, reports: int) -> None:
    """A thread that loses its processor between two looks at what was told still applies all, once, at its node."""
    mine, theirs = (new_tree_copy(2 * ITERATIONS, 1, 2, me) for me in (LISTENER, TELLER))
    copies = new_copies(2, 1)
    teller = tell(theirs, copies)
    next(teller)
    looks = 0

    def load(array: Any, index: Any) -> Any:
        nonlocal looks
        if looks == looked:  # the listener is interrupted here
            for _ in range(reports):
                next(teller, None)
        looks += 1
        return array[index]

    monkeypatch.setattr(tree_copies, "load", load)
    monkeypatch.setattr(tree_copies, "prefetch", lambda *where: None)
    listen = getattr(tree_copies.listen, "py_func", tree_copies.listen)
    heard, ends, values = np.zeros((2, 2), np.int64), np.zeros((2, LARGEST_BATCH), np.int64), np.zeros(1)
    mine.untried[0] = ITERATIONS
    for _ in range(2 + 2 * BATCHES):
        listen(mine, copies, False, heard, ends, values)
        next(teller, None)
    assert (heard[TELLER] == ITERATIONS).all()
    assert mine.counts[NUM_NODES] == theirs.counts[NUM_NODES] == 1 + 2 * ITERATIONS
    nodes = [0, *range(theirs.next_node[TELLER] - 2 * ITERATIONS, theirs.next_node[TELLER])]
    assert theirs.visits[0] == ITERATIONS and (theirs.visits[nodes[1:]] == 1).all()
    assert (mine.visits[nodes] == theirs.visits[nodes]).all()
    assert (mine.values[nodes] == theirs.values[nodes]).all()
