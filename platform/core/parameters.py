"""Declared parameters: one field has the default, the range and the meaning of a parameter, for everybody.

The command line, the search space of studies, the results store and the dashboards all read the same declaration.
"""

from __future__ import annotations

import dataclasses
import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from types import FunctionType
from typing import Any, ClassVar, Generic, Self, TypeVar, cast

from .errors import UserError, unknown
from .number_text import number
from .outside import carried, classes
from .outside.files import FileName, file_name, is_file_text
from .text_form import Spec, parse

T = TypeVar("T", bound="Declared")


@dataclass(frozen=True)
class Parameter:
    """The declaration of a parameter besides its default: range (inclusive) or choices, and meaning."""

    help: str
    low: float | None = None
    high: float | None = None
    log: bool = False  # searched by factors, if the range begins above 0
    search: tuple[float, float] | None = None  # the range of a search by default; None = the whole range
    choices: tuple[str, ...] = ()
    when: Mapping[str, Sequence[Any]] = dataclasses.field(default_factory=dict)  # matters with these values of others
    later: bool = False  # newer than stored games: full texts omit it at its default, so that they keep their ids
    file: bool = False  # the path of a file; its content is part of the version
    carried: bool = False  # the path of a file that travels to workers; its digest is another parameter
    was: Any = None  # the first default, if that has changed: what stored texts that leave it out mean, see `pinned`

    def contains(self, value: Any) -> bool:
        if isinstance(value, float) and not math.isfinite(value):
            return False
        return self.low is None or self.high is None or self.low <= value <= self.high

    def range_text(self) -> str:
        if self.choices:
            return " | ".join(self.choices)
        return "" if self.low is None or self.high is None else f"from {_bound(self.low)} to {_bound(self.high)}"

    def search_text(self) -> str:
        """Returns the range of a search by default, if that is not the whole range."""
        if self.search is None:
            return ""
        low, high = map(_bound, self.search)
        return f"from {low} to {high}{', log' if self.log else ''}"


def _bound(value: float) -> str:
    return number(value, digits=12)


def parameter(
    default: Any,
    help: str,
    *,
    low: float | None = None,
    high: float | None = None,
    log: bool = False,
    search: tuple[float, float] | None = None,
    choices: Sequence[str] = (),
    when: Mapping[str, Sequence[Any]] | None = None,
    later: bool = False,
    file: bool = False,
    carried: bool = False,
    was: Any = None,
) -> Any:
    """Declares a parameter as a dataclass field.

    `low` and `high` bound the values that are accepted; `search` is the part of this range in which a search looks for
    good values. With `file`, the value is the path of a file, or "" for none; its content is part of the version of the
    class. `carried` is for classes that check their files by a digest of their own: workers get the file as well, and
    `carried_path` returns its place. Who changes a default declares the first one as `was`.
    """
    declared = Parameter(help, low, high, log, search, tuple(choices), when or {}, later, file, carried, was)
    return dataclasses.field(default=default, metadata={"": declared})


def redeclared(declared: type[Declared], name: str, default: Any) -> Any:
    """Declares an inherited parameter again, with another default."""
    (inherited,) = (found for field, found in parameters_of(declared) if field.name == name)
    return dataclasses.field(default=default, metadata={"": dataclasses.replace(inherited, later=False, was=None)})


_NOUNS: dict[type, str] = {bool: "true or false", int: "a whole number", float: "a number", str: "a word"}


@dataclass(frozen=True)
class Declared:
    """Base of games, agents and evaluators: a frozen dataclass whose fields are its parameters."""

    name: ClassVar[str] = ""
    kind: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for field, declared in parameters_of(type(self)):
            value = getattr(self, field.name)
            if type(field.default) is float and type(value) is int:
                value = float(value)  # so that equal agents have equal texts
                object.__setattr__(self, field.name, value)
            if declared.file and isinstance(value, str):
                value = file_name(value, classes.folder_of(type(self)), self._what(field.name))
                object.__setattr__(self, field.name, value)
            if isinstance(value, FileName):
                carried.note(value.text, value)
            elif declared.carried and value:
                carried.note(value, carried.path_of(value))
            self._check_value(field, declared, value)
        try:
            self.check()
        except ValueError as error:
            raise UserError(f"{self.name or type(self).__name__}: its parameters must fit together: {error}") from error

    def _check_value(self, field: dataclasses.Field[Any], declared: Parameter, value: Any) -> None:
        what = self._what(field.name)
        default: Any = field.default
        if isinstance(default, Declared):
            if not isinstance(value, Declared) or value.kind != default.kind:
                raise UserError(f"{what} must be an {default.kind}, got {value!r}.")
        elif type(value) is not type(default) and not (isinstance(default, str) and isinstance(value, FileName)):
            raise UserError(f"{what} must be {_NOUNS[type(default)]}, got {value!r}.")
        elif isinstance(value, str) and '"' in value:
            raise UserError(f'{what} must have no ", which encloses words in text forms, got {value!r}.')
        elif declared.choices and value not in declared.choices:
            raise UserError(f"{what} must be one of {', '.join(declared.choices)}, got {value}.")
        elif isinstance(value, int | float) and not declared.contains(value):
            raise UserError(f"{what} must be {declared.range_text() or 'a finite number'}, got {value}.")

    def _what(self, parameter: str) -> str:
        return f"{self.name or type(self).__name__}: {parameter}"

    def check(self) -> None:
        """Raises UserError, or ValueError, if the parameters do not fit together."""

    def file_path(self, parameter: str) -> Path:
        """Returns the path of the file that a parameter names; raises UserError if it has changed or is gone."""
        value = getattr(self, parameter)
        if not isinstance(value, FileName):
            raise UserError(
                f"{self._what(parameter)} must name a file, got {value!r}; write {parameter}=PATH, and declare it by"
                " parameter(..., file=True)."
            )
        return value.require(self._what(parameter))

    def carried_path(self, parameter: str) -> Path:
        """Returns the path on this machine of the file that a `carried` parameter names, if it is here."""
        return Path(carried.path_of(getattr(self, parameter)))

    def require_files(self) -> None:
        """Raises UserError if a file that it or a part of it names is gone or has changed."""
        for field, _ in parameters_of(type(self)):
            value = getattr(self, field.name)
            if isinstance(value, Declared):
                value.require_files()
            elif isinstance(value, FileName):
                value.require(self._what(field.name))

    def spec(self, defaults: bool = False) -> Spec:
        """Returns the text form's tree; with `defaults`, parameters at their default value as well."""
        values: dict[str, str | Spec] = {}
        for field, declared in parameters_of(type(self)):
            value = getattr(self, field.name)
            if isinstance(value, FileName):
                values[field.name] = value.text if defaults else value.short
            elif value != field.default or (defaults and not declared.later):
                values[field.name] = value.spec(defaults) if isinstance(value, Declared) else format_value(value)
        name = text_name(type(self))
        return Spec(name if defaults else classes.shortened(name), values)

    def __str__(self) -> str:
        return str(self.spec())

    def full_text(self) -> str:
        """Returns the text form with every parameter, so that later defaults cannot change its meaning."""
        return str(self.spec(defaults=True))

    def replace(self, **changes: Any) -> Self:
        return dataclasses.replace(self, **changes)

    @classmethod
    def of_values(cls, values: Mapping[str, Any]) -> Self:
        """Returns the object of a text form with just these parameters."""
        return cls(**values)


def text_name(cls: type[Declared]) -> str:
    """Returns a class's name in text forms: a short one if it is ours, otherwise its place and version."""
    if cls not in _text_names:
        registry = Registry.kinds.get(cls.kind)
        here = f"{cls.__module__}:{cls.__qualname__}"
        known = registry.places.get(cls.name) == here if registry else False
        _text_names[cls] = cls.name if known or here.startswith("turnier.") else classes.name_of(cls)
    return _text_names[cls]


_text_names: dict[type[Declared], str] = {}


def format_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, FileName):
        return value.text
    return repr(value) if isinstance(value, int | float) else str(value)


def parameters_of(declared: type[Declared]) -> tuple[tuple[dataclasses.Field[Any], Parameter], ...]:
    """Returns the parameters of a game, agent or evaluator class in declared order.

    Raises UserError if a field is not a parameter: text forms would lose it, and different agents would be the same.
    """
    if declared not in _parameters:
        fields = [field for field in dataclasses.fields(declared) if field.init or "" in field.metadata]
        for field in fields:
            _check_declaration(field, declared.__name__)
        _parameters[declared] = tuple((field, field.metadata[""]) for field in fields)
    return _parameters[declared]


_parameters: dict[type[Declared], tuple[tuple[dataclasses.Field[Any], Parameter], ...]] = {}


def _check_declaration(field: dataclasses.Field[Any], cls: str) -> None:
    if "" not in field.metadata:
        raise UserError(
            f"the field {field.name} of {cls} must be made by parameter(...), got none; write {field.name}: TYPE ="
            " parameter(DEFAULT, MEANING), or annotate a constant as ClassVar."
        )
    declared: Parameter = field.metadata[""]
    default: Any = field.default
    what = f"the parameter {field.name} of {cls}"
    if not isinstance(default, Declared) and type(default) not in _NOUNS:
        nouns = ", ".join(_NOUNS.values())
        raise UserError(f"the default of {what} must be {nouns}, an agent or the like, got {default!r}; change it.")
    if declared.file and not isinstance(default, str):
        raise UserError(f"the default of {what} must be a path, since it has file=True, got {default!r}; change it.")
    for bound in (declared.low, declared.high, *(declared.search or ())):
        if not isinstance(bound, Real | None):
            raise UserError(f"low=, high= and search= of {what} must be numbers, got {bound!r}; change it.")
    if declared.was is not None and (declared.later or type(declared.was) is not type(default)):
        raise UserError(
            f"was= of {what} must be a default of earlier releases, of the same type, and no parameter can be later="
            f" then, got {declared.was!r}; change it."
        )
    for choice in declared.choices:
        if not isinstance(choice, str):
            raise UserError(f"choices= of {what} must be words, got {choice!r}; change it.")


class Registry(Generic[T]):
    """Names of one kind (game, agent, evaluator) and the places of their classes, which are imported when needed."""

    kinds: ClassVar[dict[str, Registry[Any]]] = {}

    def __init__(self, kind: str, places: Mapping[str, str]) -> None:
        self.kind = kind
        self.places = dict(places)
        self.load_outside: Callable[[str, str], type[Any]] = classes.load
        self.gone: Callable[[Spec], type[T] | None] = lambda _: None  # class of a stored name that cannot run
        Registry.kinds[kind] = self

    def names(self) -> list[str]:
        """Returns the names of our own classes."""
        return sorted(self.places)

    def installed(self) -> dict[str, str]:
        """Returns the places, by name, that installed packages offer as entry points of the group `turnier.KINDs`."""
        from importlib import metadata  # slow to import

        found = metadata.entry_points(group=f"turnier.{self.kind}s")
        return {point.name: point.value for point in found if point.name not in self.places}

    def load(self, name: str) -> type[T]:
        """Returns the class of that name; raises UserError, with the closest name, if there is none.

        A name is our own, one of `installed`, or a place: `file.py:Class` or `module:Class`.
        """
        if name in self.places:
            module, _, cls = self.places[name].partition(":")
            found: type[T] = getattr(importlib.import_module(module), cls)
            return found
        installed = {} if classes.is_outside(name) else self.installed()
        if name not in installed and not classes.is_outside(name):
            raise unknown(self.kind, name, [*self.places, *installed])
        found = self.load_outside(installed.get(name, name), self.kind)
        if found.name in self.places:
            raise UserError(
                f"{name} must have a name of its own, got name = {found.name!r}, which is taken; choose another."
            )
        return found

    def make(self, text: str | Spec | T | type[Any] | Callable[..., Any]) -> T:
        """Builds the object of a text form, class or function; raises UserError if it fits no declaration."""
        if isinstance(text, Declared):
            return self._made(text)
        if isinstance(text, type | FunctionType):
            made: T = classes.of_kind(text, self.kind)()
            return made
        if not isinstance(text, str | Spec):
            raise UserError(
                f"{self.kind}s are named by text, or are objects or classes of turnier's class {self.kind.capitalize()}"
                f", got {text!r}; write a name, such as {next(iter(self.places))!r}."
            )
        spec = parse(text) if isinstance(text, str) else text
        cls = self.gone(spec) or self.load(spec.name)
        declared = {field.name: (field, info) for field, info in parameters_of(cls)}
        values = {}
        for key, value in spec.parameters.items():
            if key not in declared:
                if not declared:
                    raise UserError(f"{spec.name} has no parameters, got {key}; write just {spec.name}.")
                raise unknown(f"parameter of {spec.name}", key, declared)
            values[key] = _convert(f"{spec.name}: {key}", value, declared[key][0].default)
        for key, (field, info) in declared.items():  # paths may start from the folder of the class's file
            if not info.file and not (
                classes.is_outside(spec.name) and names_file(values.get(key), field.default, info)
            ):
                continue
            path, folder = values.get(key, declared[key][0].default), classes.folder_of(cls, spec.name)
            values[key] = file_name(path, folder, f"{cls.name}: {key}")
        return cls.of_values(values)

    def pinned(self, text: str, stored: bool = False) -> str:
        """Returns a text of an object with the values of parameters whose defaults have changed.

        A text that is stored in short is pinned before, so that it keeps its meaning. With `stored`, it comes from a
        store, maybe of a release that did not pin it: what it leaves out has the first default. Full texts and texts
        without such parameters stay the same, word for word.
        """
        spec = parse(text)
        pinned = self._pinned(spec, stored)
        return text if pinned == spec else str(pinned)

    def _pinned(self, spec: Spec, stored: bool) -> Spec:
        if spec.name not in self.places:
            return spec
        values = dict(spec.parameters)
        for field, info in parameters_of(self.load(spec.name)):
            default, value = field.default, values.get(field.name)
            if isinstance(default, Declared):
                known = default.spec() if value is None else value if isinstance(value, Spec) else Spec(value)
                pinned = Registry.kinds[default.kind]._pinned(known, stored)
                if pinned != known:
                    values[field.name] = pinned
            elif info.was is not None and value is None:
                values[field.name] = format_value(info.was if stored else default)
        return Spec(spec.name, values)

    def _made(self, made: Declared) -> T:
        """Returns the object; raises UserError if it is of another kind, or of a class that has changed."""
        if made.kind != self.kind:
            raise UserError(f"this must be of the kind {self.kind}, got {made}, which is of the kind {made.kind}.")
        classes.require_unchanged(type(made))
        return cast(T, made)


def names_file(value: Any, default: Any, declared: Parameter) -> bool:
    """Whether a text parameter of others names a file without being declared so: its content then counts as well."""
    return isinstance(default, str) and not declared.choices and isinstance(value, str) and is_file_text(value)


def _convert(what: str, value: str | Spec, default: Any) -> Any:
    if isinstance(default, Declared):
        return Registry.kinds[default.kind].make(value if isinstance(value, Spec) else Spec(value))
    if isinstance(value, Spec):
        raise UserError(f"{what} must be a single value, got {value}.")
    if isinstance(default, bool):
        if value not in ("true", "false"):
            raise UserError(f"{what} must be {_NOUNS[bool]}, got {value}.")
        return value == "true"
    if isinstance(default, int | float):
        kind = type(default)
        try:
            return kind(value)
        except ValueError:
            raise UserError(f"{what} must be {_NOUNS[kind]}, got {value}.") from None
    return value
