"""All kinds of runs, with the place of each kind's plan, by which stored runs are reopened."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ...results.store.store import Run, Store
    from ..plan import Plan
    from ..results import RunResults


class Kind(NamedTuple):
    """A kind of run."""

    place: str  # of its plan, as module:Class
    command: str  # the command for such runs
    summary: str  # the first line of its help
    heading: str = "Play"  # of the command in the help of all commands


KINDS: dict[str, Kind] = {}  # filled by the package, as only it knows all floors
SHOWN_BY: dict[str, str] = {}  # notebook -> the module that shows results there; filled likewise


def plan_of(kind: str) -> type[Plan[Any]] | None:
    """Returns the class that declares a kind of run; None for runs that only scripts make."""
    if kind not in KINDS:
        return None
    module, _, name = KINDS[kind].place.partition(":")
    plan: type[Plan[Any]] = getattr(importlib.import_module(module), name)
    return plan


def changes_of(kind: str) -> type[Plan[Any]]:
    """Returns the class that deletes and renames runs of a kind: their plan's, or the base class of plans."""
    from ..plan import Plan

    return plan_of(kind) or Plan


def results_of(store: Store, run: Run) -> RunResults:
    """Returns the results of a stored run, finished or not, as the class of its kind; nothing is played."""
    from ..results import RunResults

    plan = plan_of(run.kind)
    return plan.reopened(store, run) if plan else RunResults(store, run.id)
