"""The kinds of runs that there are: where the plan of each is declared, so that a stored run can be opened again."""

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
    command: str  # that plays such runs
    summary: str  # the first line of its help
    heading: str = "Play"  # under which the help of all commands has it


KINDS: dict[str, Kind] = {}  # the package fills it, as only it knows all floors
SHOWN_BY: dict[str, str] = {}  # notebook -> the module that shows results there; filled so, too


def plan_of(kind: str) -> type[Plan[Any]] | None:
    """Returns the class that declares a kind of run; None for runs that only scripts make."""
    if kind not in KINDS:
        return None
    module, _, name = KINDS[kind].place.partition(":")
    plan: type[Plan[Any]] = getattr(importlib.import_module(module), name)
    return plan


def changes_of(kind: str) -> type[Plan[Any]]:
    """Returns the class by which runs of a kind are deleted and renamed: their plan's, or what all plans share."""
    from ..plan import Plan

    return plan_of(kind) or Plan


def results_of(store: Store, run: Run) -> RunResults:
    """Returns the results of a stored run, finished or not, as the class of its kind; nothing is played."""
    from ..results import RunResults

    plan = plan_of(run.kind)
    return plan.reopened(store, run) if plan else RunResults(store, run.id)
