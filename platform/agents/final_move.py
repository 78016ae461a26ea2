"""The final move of a tree search: the choice among the root's children. Source: Kutsch 2017, 4.1."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..core.kernel import kernel, types
from ..core.parameters import parameter
from ..games.abi import Actions, Floats
from .abi import VALUES, VISITS, Root

FINALS = ("max", "robust", "robust_max", "secure")
MAX, ROBUST, ROBUST_MAX, SECURE = range(4)
EXTRA_CHUNKS = 10  # of a tenth of the iterations each, by which robust_max may prolong a search
NO_CHILD = -1


class RootChildren(NamedTuple):
    """A search's findings about the root's children, in the order in which equals are preferred."""

    actions: Any  # [children]
    visits: Any  # [children]
    values: Any  # [children] for the mover
    bounds: Any  # [children] values, or for the secure child their lower confidence bounds
    proven: Any  # [children] whether the value is exact


ROOT_CHILDREN = types.NamedTuple([Actions, Floats, Floats, Floats, types.Array(types.boolean, 1, "C")], RootChildren)


def final_parameter(default: str = "max") -> Any:
    """Declares the rule of the final move."""
    return parameter(default, "the action played: best mean, most visits, both, or best lower bound", choices=FINALS)


def security_parameter() -> Any:
    """Declares the caution of the secure child."""
    return parameter(1.0, "L of the secure child's lower bound", low=0, high=100, search=(0, 5))


@kernel(ROOT_CHILDREN(types.int64))
def new_root_children(count):
    return RootChildren(
        np.zeros(count, np.int64), np.zeros(count), np.zeros(count), np.zeros(count), np.zeros(count, np.bool_)
    )


@kernel(types.int64(ROOT_CHILDREN, types.float64))
def choose(children, final):
    """Returns the place of the child to play by the rule, or NO_CHILD; robust_max counts as robust, ties by value.

    A proven child is chosen if its exact value is no worse than the best other one's.
    """
    by_visits = final == ROBUST or final == ROBUST_MAX
    best, proven = NO_CHILD, NO_CHILD
    visits, bounds = children.visits, children.bounds
    for i in range(visits.size):
        if children.proven[i]:
            if proven == NO_CHILD or bounds[i] > bounds[proven]:
                proven = i
        elif best == NO_CHILD:
            best = i
        else:
            more = visits[i] - visits[best] if by_visits else 0.0
            if more > 0.0 or (more == 0.0 and bounds[i] > bounds[best]):
                best = i
    if best == NO_CHILD or (proven != NO_CHILD and bounds[proven] >= bounds[best]):
        return proven
    return best


@kernel(types.boolean(ROOT_CHILDREN, types.float64))
def is_settled(children, final):
    """Whether the rule needs no more iterations: robust_max wants one child with the best value and most visits."""
    if final != ROBUST_MAX:
        return True
    chosen = choose(children, final)
    for i in range(children.values.size):
        if children.values[i] > children.values[chosen]:
            return False
    return True


@kernel(types.void(ROOT_CHILDREN, Root))
def report(children, root):
    """Writes visits and values of the root's children into `root`."""
    for i in range(children.actions.size):
        root[VISITS, children.actions[i]] = children.visits[i]
        root[VALUES, children.actions[i]] = children.values[i]
