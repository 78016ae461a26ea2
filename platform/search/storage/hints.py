"""What the stored figures of a search say about it: that it diverges, repeats itself, or has reached a border."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

import pandas as pd

from turnier.agents.registry import AGENTS
from turnier.core.errors import UserError
from turnier.core.number_text import number
from turnier.search.space import Space

STEPPING = ("cmaes", "cmaes_lr")  # samplers whose step size follows what they find
GROWN, WIDE = 1.5, 0.5  # a step size is suspicious if it grew by this factor, to this share of the ranges
REPEATED = 0.2  # share of candidates that is worth a word


def hints(
    trials: pd.DataFrame, noted: pd.DataFrame, definition: Mapping[str, Any], proposed: Mapping[str, Any]
) -> list[str]:
    """Returns sentences on what to change in a search; none where all is well.

    Args:
        trials: see `trials_frame`.
        noted: see `generations_frame`.
        definition: of the study, as it is stored.
        proposed: the parameters that the search recommends.
    """
    steps = str(definition.get("sampler", "")).partition("(")[0] in STEPPING
    diverging = _diverging(noted["sigma"].dropna()) if steps else ""
    found = (diverging, _repeating(trials, definition), _border(definition, proposed))
    return [sentence for sentence in found if sentence]


def _diverging(sigma: pd.Series) -> str:
    if len(sigma) < 3 or sigma.iloc[-1] < max(WIDE, GROWN * sigma.iloc[0]):
        return ""
    first, last = (number(sigma.iloc[place], digits=2) for place in (0, -1))
    return (
        f"The step size has risen from {first} to {last} of the ranges: the search diverges,"
        " since it does not tell good candidates from lucky ones; let each candidate play more games."
    )


def _repeating(trials: pd.DataFrame, definition: Mapping[str, Any]) -> str:
    """Says that candidates repeat, unless there are few to try: switches, choices and whole numbers only."""
    with contextlib.suppress(UserError, KeyError):
        space = Space.of(AGENTS.make(definition["agent"]), definition["parameters"])
        if not any(dimension.type is float for dimension in space.dimensions):
            return ""
    names = trials.attrs["parameters"]
    again = int(trials[names].astype(str).duplicated().sum()) if names else 0
    if again < max(1, REPEATED * len(trials)):
        return ""
    return (
        f"A plateau: {again:,} of {len(trials):,} candidates have the parameters of an earlier one; more parameters or"
        " wider ranges would give the search more to find."
    )


def _border(definition: Mapping[str, Any], proposed: Mapping[str, Any]) -> str:
    with contextlib.suppress(UserError, KeyError):
        return Space.of(AGENTS.make(definition["agent"]), definition["parameters"]).at_border(proposed)
    return ""
