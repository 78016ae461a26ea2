"""The laws of declared parameters, for games, agents, evaluators and samplers alike."""

from __future__ import annotations

import dataclasses
from typing import Any

from ..core.parameters import Declared, Registry, parameters_of
from ..core.text_form import Spec
from .law import Law, LawBroken


def law_parameters(declared: Declared | type[Declared]) -> None:
    """Every field is declared, with a help text and a range or choices that allow its default; the class has a doc."""
    cls = declared if isinstance(declared, type) else type(declared)
    undeclared = {field.name for field in dataclasses.fields(cls)} - {field.name for field, _ in parameters_of(cls)}
    if undeclared:
        raise LawBroken(
            f"fields of {cls.__name__} must be made by parameter(...), got without: {', '.join(undeclared)}"
        )
    if not cls.__doc__ or cls.__doc__.startswith(f"{cls.__name__}("):
        raise LawBroken(f"{cls.__name__} must have a docstring with a description in its first line, got none")
    for field, info in parameters_of(cls):
        what = f"the parameter {field.name} of {cls.__name__}"
        default: Any = field.default
        if not info.help.strip():
            raise LawBroken(f"{what} must have a help text, got none")
        if isinstance(default, bool | Declared):
            continue
        if info.choices:
            if default not in info.choices:
                raise LawBroken(f"the default of {what} must be one of {', '.join(info.choices)}, got {default!r}")
            continue
        if isinstance(default, str):
            continue  # it names something outside, such as a file
        if info.low is None or info.high is None:
            raise LawBroken(f"{what} must have a range, low= and high=, got none")
        if not info.low <= default <= info.high:
            raise LawBroken(f"the default of {what} must be {info.range_text()}, got {default}")
        low, high = info.search or (info.low, info.high)
        if not info.low <= low < high <= info.high:
            raise LawBroken(f"{what} must be searched inside its range, {info.range_text()}, got from {low} to {high}")
        if info.log and (low < 0 or (low == 0 and not isinstance(default, int))):  # from 0 on, factors are of value + 1
            least = "at 0 or more" if isinstance(default, int) else "above 0"
            raise LawBroken(f"{what} must begin {least} to be searched by factors (log=True), got {low}")


def law_text(declared: Declared) -> None:
    """Both text forms make the same object again; the full one names every parameter, at every depth.

    Parameters that were added later are left out at their default, so that stored games keep their ids.
    """
    for text in (str(declared), declared.full_text()):
        made: Any = Registry.kinds[declared.kind].make(text)
        if made != declared or type(made) is not type(declared):
            raise LawBroken(f"the text {text} must make the same {declared.kind} again, got {made!r}")
        if str(made) != str(declared) or made.full_text() != declared.full_text():
            raise LawBroken(f"the text {text} must stay the same, got {made} and {made.full_text()}")
    _require_complete(declared, declared.spec(defaults=True))


def _require_complete(declared: Declared, spec: Spec) -> None:
    names = {
        field.name
        for field, info in parameters_of(type(declared))
        if not info.later or getattr(declared, field.name) != field.default
    }
    if set(spec.parameters) != names:
        raise LawBroken(f"the full text of {declared.name} must name {names}, got {set(spec.parameters)}")
    for key, value in spec.parameters.items():
        nested = getattr(declared, key)
        if isinstance(nested, Declared) and isinstance(value, Spec):
            _require_complete(nested, value)


DECLARATION_LAWS: tuple[Law, ...] = (law_parameters, law_text)
