"""Searched parameters as users write them: a text, a list of texts, or ranges and values by parameter."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from ...core.errors import UserError, unknown
from ...core.parameters import format_value
from .dimension import NUMBER, OR

SCALES = ("log", "linear")
Searched = Sequence[Any] | BaseDistribution  # values of a parameter: (low, high), (low, high, "log"), or a list


def read_parameters(given: str | Sequence[str] | Mapping[str, Searched]) -> tuple[str, ...]:
    """Returns the paths that `Space.of` reads; raises UserError for anything else.

    Args:
        given: a text such as "rollout_depth=0..50,evaluator.*"; a list of such paths; or ranges by parameter. Numbers
            may also be listed by commas, as in iterations=1,2,4.
    """
    if isinstance(given, Mapping):
        texts = [f"{path}={_searched_text(str(path), searched)}" for path, searched in given.items()]
    elif isinstance(given, str):
        texts = list(_split(given))
    elif isinstance(given, Sequence) and all(isinstance(text, str) for text in given):
        texts = [one for text in given for one in _split(text)]
    else:
        raise UserError(f"parameters must be a text, a list of texts or a dict of ranges, got {given!r}.")
    paths = tuple(text.strip() for text in texts)
    if not paths or not all(paths):
        raise UserError(f"parameters must be named, such as iterations,evaluator.merge, got {given!r}.")
    return paths


def _split(text: str) -> Iterator[str]:
    """Yields the parts between commas that are in no brackets and no quotes; lists of numbers stay whole."""
    parts, depth, quoted = [""], 0, False
    for letter in text:
        quoted ^= letter == '"'
        depth += 0 if quoted else (letter == "(") - (letter == ")")
        if letter == "," and not depth and not quoted:
            parts.append("")
        else:
            parts[-1] += letter
    before = ""
    for part in parts:
        if "=" in before and ".." not in before and re.fullmatch(NUMBER, part.strip()):
            before = f"{before.rstrip()}{OR}{part.strip()}"
            continue
        yield from [before] if before else []
        before = part or " "  # which is refused
    yield before


def of_distribution(searched: Any) -> Any:
    """Returns a distribution of Optuna as a list, or as (low, high, scale or step); anything else as it is."""
    if isinstance(searched, CategoricalDistribution):
        return list(searched.choices)
    if not isinstance(searched, IntDistribution | FloatDistribution):
        return searched
    whole = isinstance(searched, IntDistribution) and searched.step == 1
    scale: str | float = "log" if searched.log else "linear"
    return searched.low, searched.high, scale if whole or not searched.step else searched.step


def _searched_text(path: str, searched: Any) -> str:
    """Returns the range or values of a parameter in text form."""
    searched = of_distribution(searched)
    if isinstance(searched, list) and searched:
        return OR.join(map(format_value, searched)) + OR * (len(searched) == 1)
    if isinstance(searched, tuple) and len(searched) in (2, 3):
        low, high, *rest = searched
        if rest and isinstance(rest[0], str) and rest[0] not in SCALES:
            raise unknown(f"scale of {path}", rest[0], SCALES)
        if all(isinstance(end, int | float) and not isinstance(end, bool) for end in (low, high)):
            return ":".join([f"{low!r}..{high!r}", *(end if isinstance(end, str) else repr(end) for end in rest)])
    raise UserError(
        f"{path} must be searched in (low, high), (low, high, 'log'), (low, high, STEP), a list of values or an"
        f" Optuna distribution, got {searched!r}."
    )
