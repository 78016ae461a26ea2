"""Samplers as objects of Optuna: each is replaced by ours of the same method, which can resume a stored study."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import optuna
from optuna.samplers import BaseSampler

from ...core.errors import UserError
from .registry import SAMPLERS
from .sampler import Sampler

# By kind: the arguments that ours has, too, and the text of ours with them.
_TAKEN: Mapping[str, tuple[Sequence[str], Callable[[Any], str]]] = {
    "TPESampler": (
        ("n_startup_trials", "multivariate"),
        lambda own: (
            f"tpe(startup={own._n_startup_trials},multivariate={'false' if own._multivariate is False else 'true'})"
        ),
    ),
    "RandomSampler": ((), lambda own: "random"),
    "CmaEsSampler": (
        ("sigma0", "popsize", "lr_adapt"),
        lambda own: (
            f"{'cmaes_lr' if own._lr_adapt else 'cmaes'}(population={own._popsize or 0},sigma={own._sigma0 or 0.3})"
        ),
    ),
    "GPSampler": (("n_startup_trials",), lambda own: f"gp(startup={own._n_startup_trials})"),
}
_INSTEAD = {"NSGAIISampler": "objectives='strength,time'", "GridSampler": "sampler='grid'"}


def read_sampler(given: str | Sampler | BaseSampler) -> Sampler:
    """Returns a sampler from its text form, an object of ours, or one of Optuna's.

    The seed of the study counts, not that of Optuna's object. Raises UserError for a kind that is missing here, and for
    an argument that ours lacks: without it, the search would be another one.
    """
    if isinstance(given, str | Sampler):
        return SAMPLERS.make(given)
    if not isinstance(given, BaseSampler):
        raise UserError(f"sampler must be a text such as 'tpe', or a sampler of turnier or Optuna, got {given!r}.")
    kind = type(given).__name__
    if kind not in _TAKEN or type(given) is not getattr(optuna.samplers, kind):
        instead = _INSTEAD.get(kind, f"sampler='cmaes', or another of {', '.join(SAMPLERS.names())}")
        raise UserError(f"a study with Optuna's {kind} could not be resumed exactly; use {instead}.")
    arguments, text = _TAKEN[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some arguments are called experimental
        usual = vars(type(given)(**{name: vars(given)[f"_{name}"] for name in arguments}))
    for attribute, value in vars(given).items():
        if not _is_same(value, usual[attribute]):
            name = attribute.strip("_")
            raise UserError(f"{text(given)} has no {name}, got Optuna's {kind} with {name}={value!r}; leave it out.")
    return SAMPLERS.make(text(given))


def _is_same(value: Any, usual: Any) -> bool:
    """Whether an attribute has its usual value; if it holds a state, such as random numbers, only the class counts."""
    holds_state = getattr(type(value), "__eq__") is object.__eq__ and not callable(value)  # noqa: B009
    return bool(type(value) is type(usual) if holds_state else value == usual)
