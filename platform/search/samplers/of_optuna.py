"""Any sampler of Optuna by ask and tell, a generation at a time; it sees choices and whole numbers as they are."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import UserError, unknown
from ...core.parameters import parameter
from ..dimensions.dimension import Dimension
from ..dimensions.tree import Value
from ..space import Space
from .registry import SAMPLERS
from .sampler import Sampler, Vectors
from .surface import ModelledSearch

if TYPE_CHECKING:
    import optuna
    from optuna.samplers import BaseSampler

PLACE = "optuna.samplers."  # that texts of users may begin with
STARTUP = "n_startup_trials"
SEED = "seed"
WARN = "warn_independent_sampling"  # for each candidate, that the sampler draws some parameters at random


@dataclass(frozen=True)
class OfOptuna(Sampler):
    """A sampler of Optuna, or of another package for Optuna. Recommends the top of a smooth surface, as tpe does.

    The seed of the study counts. Without one in the sampler's arguments, it must draw no random numbers.
    """

    name = "optuna"
    usual_noise = "fixed(games=5)"

    sampler: str = parameter(
        "TPESampler", "class in optuna.samplers, or MODULE.CLASS, with arguments: GPSampler(n_startup_trials=20)"
    )
    population: int = parameter(8, "candidates per generation", low=1, high=1000)

    def check(self) -> None:
        kind, arguments = _read(self.sampler)
        object.__setattr__(self, "sampler", _text(kind, arguments))  # so that equal samplers have equal texts

    def begin(self, start: Sequence[float], seed: int, space: Space) -> OptunaSearch:
        return OptunaSearch(start, seed, self, space)

    def made(self, seed: int, **changes: Any) -> BaseSampler:
        """Returns Optuna's object; raises UserError if its arguments do not fit."""
        kind, arguments = _read(self.sampler)
        known = inspect.signature(kind).parameters
        own = {SEED: seed} | changes
        arguments = {WARN: False} | arguments | own
        arguments = {name: value for name, value in arguments.items() if name in known}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # some arguments are called experimental
                return kind(**arguments)
        except (TypeError, ValueError, ImportError) as failure:
            raise UserError(f"{self.sampler} must be a sampler that Optuna can make, got: {failure}.") from None


class OptunaSearch(ModelledSearch):
    def __init__(self, start: Sequence[float], seed: int, sampler: OfOptuna, space: Space) -> None:
        super().__init__(start, seed)
        self.sampler, self.space = sampler, space
        self._study = _study(sampler.made(int(self.rng().integers(2**31))))
        self._study.enqueue_trial(dict(space.decode(start)))
        self._trials: list[optuna.Trial] = []

    def propose(self) -> Vectors:
        with _outside(self.sampler):
            self._trials = [self._study.ask() for _ in range(self.sampler.population)]
            return np.array([self._vector(trial) for trial in self._trials])

    def _vector(self, trial: optuna.Trial) -> list[float]:
        """Returns a candidate, with the start's coordinates for parameters that its values leave unused."""
        values: dict[str, Value] = {}
        vector: list[float] = self.start.tolist()
        for number, dimension in enumerate(self.space.dimensions):
            if dimension.matters(values):
                values[dimension.path] = _suggested(trial, dimension)
                vector[number] = dimension.encode(values[dimension.path])
        return vector

    def learn(self, values: Sequence[float]) -> None:
        with _outside(self.sampler):
            for trial, value in zip(self._trials, values, strict=True):
                self._study.tell(trial, value)


def _suggested(trial: optuna.Trial, dimension: Dimension) -> Any:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    kind = dimension.distribution()
    if isinstance(kind, CategoricalDistribution):
        return trial.suggest_categorical(dimension.path, kind.choices)
    if isinstance(kind, IntDistribution):
        return trial.suggest_int(dimension.path, kind.low, kind.high, step=kind.step, log=kind.log)
    assert isinstance(kind, FloatDistribution)
    return trial.suggest_float(dimension.path, kind.low, kind.high, step=kind.step, log=kind.log)


def read_sampler(given: str | Sampler | BaseSampler, space: Space | None = None) -> Sampler:
    """Returns a sampler from its text form, an object of ours, or one of Optuna's.

    The seed of the study counts, not that of Optuna's object. Raises UserError if the object's arguments cannot be
    stored, or if it cannot propose values in the space, such as for want of a package.
    """
    if isinstance(given, str) and given.strip().startswith(PLACE):
        sampler: Sampler = OfOptuna(given.strip().removeprefix(PLACE))
    elif isinstance(given, str | Sampler):
        sampler = SAMPLERS.make(given)
    elif _is_sampler(type(given)):
        sampler = OfOptuna(_text(type(given), _arguments(given)))
    else:
        raise UserError(f"sampler must be a text such as 'tpe', or a sampler of turnier or Optuna, got {given!r}.")
    if isinstance(sampler, OfOptuna) and space:
        _try(sampler, space)
    return sampler


def _try(sampler: OfOptuna, space: Space) -> None:
    """Raises UserError if a sampler cannot propose values in a space, such as for want of a package."""
    study = _study(sampler.made(0, **{STARTUP: 1}))
    with _outside(sampler):
        for value in range(3):
            trial = study.ask()
            for dimension in space.dimensions:
                _suggested(trial, dimension)
            study.tell(trial, float(value))


@contextmanager
def _outside(sampler: OfOptuna) -> Iterator[None]:
    """Keeps warnings of a sampler quiet, and turns whatever it raises into UserError."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some arguments are called experimental
            yield
    except Exception as failure:
        reason = (str(failure) or type(failure).__name__).strip().splitlines()[0].rstrip(".")
        what = f"{sampler.sampler} must be able to search these parameters, got: {reason}"
        raise UserError(f"{what}; choose another, or install what it lacks.") from None


def _study(sampler: BaseSampler) -> optuna.Study:
    """Returns a study in memory; a sampler that has seen all values goes on."""
    import optuna

    study = optuna.create_study(direction="maximize", sampler=sampler)
    study.stop = lambda: None  # type: ignore[method-assign]
    return study


def _read(text: str) -> tuple[type[BaseSampler], dict[str, Any]]:
    """Returns the class and the arguments of a sampler written as in Python; raises UserError for anything else."""
    words = re.sub(r"=\s*(true|false)\b", lambda found: "=" + found[1].title(), text)
    try:
        node = ast.parse(words.strip(), mode="eval").body
        called = node if isinstance(node, ast.Call) else ast.Call(node, [], [])
        place = ast.unparse(called.func)
        arguments = {str(one.arg): ast.literal_eval(one.value) for one in called.keywords if one.arg}
        if called.args or len(arguments) < len(called.keywords):
            raise ValueError
    except (SyntaxError, ValueError):
        raise UserError(
            "a sampler of Optuna must be written with named arguments that are numbers, words in '' or lists of them,"
            f" such as TPESampler(n_startup_trials=20), got {text}."
        ) from None
    kind = _class(place.removeprefix(PLACE))
    known = [name for name in inspect.signature(kind).parameters if name != SEED]
    for name in arguments:
        if name == SEED:
            raise UserError(f"a sampler of a study must have no seed of its own, got {text}; use --seed.")
        if name not in known:
            raise unknown(f"argument of {kind.__name__}", name, known)
    return kind, arguments


def _is_sampler(found: Any) -> bool:
    from optuna.samplers import BaseSampler

    return isinstance(found, type) and issubclass(found, BaseSampler)


def _class(place: str) -> type[BaseSampler]:
    import optuna

    module, _, name = place.rpartition(".")
    try:
        found = getattr(importlib.import_module(module or "optuna.samplers"), name, None)
    except ImportError:
        found = None
    if not _is_sampler(found) or inspect.isabstract(found):
        if module:
            raise UserError(f"a sampler must be a class for Optuna, MODULE.CLASS, got {place}; install its package.")
        offered = [one for one in vars(optuna.samplers) if one.endswith("Sampler") and not one.startswith("Base")]
        raise unknown("sampler of Optuna", name, offered)
    return found  # type: ignore[return-value]


def _text(kind: type[BaseSampler], arguments: Mapping[str, Any]) -> str:
    """Returns a sampler as it is written in Python, without arguments at their defaults."""
    import optuna

    usual = inspect.signature(kind).parameters
    said = [f"{name}={value!r}" for name, value in arguments.items() if value != usual[name].default]
    place = kind.__name__ if getattr(optuna.samplers, kind.__name__, None) is kind else _place(kind)
    return f"{place}({', '.join(said)})" if said else place


def _place(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _arguments(given: BaseSampler) -> dict[str, Any]:
    """Returns the arguments that an object was made with; raises UserError if they cannot be told or stored."""
    kind, held = type(given), dict(vars(given))
    for value in vars(given).values():
        held |= value._asdict() if hasattr(value, "_asdict") else getattr(value, "__dict__", {})
    names = [name for name in inspect.signature(kind).parameters if name != SEED]
    found = {name: held.get(f"_{name}", held.get(name)) for name in names if {f"_{name}", name} & held.keys()}
    arguments = {name: value for name, value in found.items() if _is_literal(value)}
    lost = _different(given, arguments)
    if lost or kind.__module__ == "__main__" or "<" in kind.__qualname__:
        what = f"its {lost[0].strip('_')} is not a number or a word" if lost else "its class is in no module"
        raise UserError(
            f"a study must be able to store how its sampler was made, got an object {kind.__name__}: {what}; write the"
            f" sampler as a text, such as sampler='{PLACE}TPESampler(n_startup_trials=20)'."
        )
    for name in names:
        fewer = {key: value for key, value in arguments.items() if key != name}
        arguments = arguments if _different(given, fewer) else fewer
    return arguments


def _different(given: BaseSampler, arguments: Mapping[str, Any]) -> list[str]:
    """Returns the attributes in which a sampler differs from one that is made with these arguments."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = type(given)(**arguments)
    except (TypeError, ValueError):
        return list(vars(given)) or [type(given).__name__]
    other = vars(made)
    return [name for name, value in vars(given).items() if name != "_seed" and not _is_same(value, other.get(name))]


def _is_literal(value: Any) -> bool:
    try:
        return bool(ast.literal_eval(repr(value)) == value) and '"' not in repr(value)
    except (SyntaxError, ValueError):
        return False


def _is_same(value: Any, other: Any) -> bool:
    """Whether two attributes are the same, apart from random numbers."""
    if (
        type(value) is not type(other)
        or getattr(type(value), "__eq__") is not object.__eq__  # noqa: B009
        or isinstance(value, FunctionType)
    ):
        return bool(value == other)
    mine, others = getattr(value, "__dict__", {}), getattr(other, "__dict__", {})
    return type(value).__name__ == "LazyRandomState" or all(_is_same(mine[key], others.get(key)) for key in mine)
