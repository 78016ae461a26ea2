"""Budgets per move, to compare agents on equal terms: time, rollouts, nodes or plies."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..core.errors import UserError

AMOUNT = object()  # in an agent's `budgets`: replaced by the amount
UNITS = ("ms", "rollouts", "nodes", "plies")
# The `budgets` of tree searches: an iteration is a rollout and makes a node.
OF_ITERATIONS: Mapping[str, Mapping[str, Any]] = {
    "ms": {"milliseconds": AMOUNT},
    "rollouts": {"iterations": AMOUNT, "milliseconds": 0},
    "nodes": {"iterations": AMOUNT, "milliseconds": 0},
}


def read_budget(text: str) -> tuple[int, str]:
    """Returns the amount and unit of a budget such as 50ms or 1000nodes; raises UserError for any other text."""
    found = re.fullmatch(r"\s*([\d_,]+)\s*([a-z]+)\s*", text)
    amount = int(re.sub(r"\D", "", found[1]) or 0) if found else 0
    if not found or found[2] not in UNITS or amount < 1:
        raise UserError(
            f"a budget per move must be a whole number and one of {', '.join(UNITS)}, got {text!r}; write 50ms or"
            " 1000rollouts."
        )
    return amount, found[2]
