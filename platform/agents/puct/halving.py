"""Sequential halving at the root: the actions considered get equal visits, then the better half of them, and so on.

Source: Danihelka et al. 2022, algorithm 2.
"""

from __future__ import annotations

import math

import numpy as np
from numba import types

from ...core.kernel import kernel
from ...core.rng import Rng
from ...games.abi import GAME, Floats, State
from ..abi import EVALUATOR
from ..mcts.tree import COUNT, FIRST, NONE, PROVEN, STATUS, TREE, WIDTH
from .gumbel import set_improved_logits, sort_by_score
from .search import CONSIDERED, ITERATIONS, VALUE_SCALE, WORK, iterate


@kernel(types.void(TREE, types.int64, types.float64, Floats, Floats))
def set_scores(tree, mover, value_scale, noise, scores):
    """Fills in the scores of the root's children: noise + logit + sigma(Q)."""
    set_improved_logits(tree, 0, mover, value_scale, scores)
    for i in range(tree.nodes[0, WIDTH]):
        scores[i] += noise[i]


@kernel(types.int64(GAME, EVALUATOR, Floats, TREE, State, Floats, Rng, Floats, Floats, WORK))
def search_by_halving(game, evaluator, settings, tree, root_state, returns, rng, extremes, noise, work):
    """Runs the iterations of a decision; returns the best of the most visited children, NONE if the root is proven.

    The first iteration expands the root. Of n others, each of m actions considered gets n / (m log2 m) in a round.
    Arguments are those of `search_all`.
    """
    nodes, scores, value_scale = tree.nodes, np.empty(game.max_choices), settings[VALUE_SCALE]
    mover = game.to_move(root_state)
    iterate(game, evaluator, settings, tree, root_state, returns, rng, extremes, 1, NONE, work)
    first, width = int(nodes[0, FIRST]), int(nodes[0, WIDTH])
    places = np.arange(width)
    for i in range(width):  # values count only after visits
        scores[i] = tree.seeds.view(np.float64)[first + i] + noise[i]
    sort_by_score(scores, width, places)
    considered = min(int(settings[CONSIDERED]), width)
    left = int(settings[ITERATIONS]) - 1
    total, rounds = left, max(1, math.ceil(math.log2(float(considered))))
    while left > 0:
        each = max(1, total // (rounds * considered))
        for _ in range(each):
            for k in range(min(considered, left)):
                if nodes[0, STATUS] == PROVEN:
                    return NONE
                through = first + places[k]
                iterate(game, evaluator, settings, tree, root_state, returns, rng, extremes, 1, through, work)
            left = max(left - considered, 0)
        set_scores(tree, mover, value_scale, noise, scores)
        sort_by_score(scores, considered, places)
        considered = max(min(2, considered), considered // 2)
    if nodes[0, STATUS] == PROVEN:
        return NONE
    set_scores(tree, mover, value_scale, noise, scores)
    best = places[0]
    for k in range(width):
        more = nodes[first + places[k], COUNT] - nodes[first + best, COUNT]
        if more > 0 or (more == 0 and scores[places[k]] > scores[best]):
            best = places[k]
    return first + best
