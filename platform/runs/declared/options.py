"""Options of runs: their declarations beside type and default, and checks of values.

Plans declare them in the signature of `__init__`, by `Annotated[int, Option("games per group of agents", low=1)]`. The
command line, the checks of values, the store and the help read the same declaration. Nothing large is imported here:
help must appear at once.
"""

from __future__ import annotations

import builtins
import inspect
import math
import sys
import types
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Union, get_args, get_origin

from ...core.errors import UserError, unknown
from ...core.number_text import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...agents.registry import AnyAgent
    from ...games.game import Game


@dataclass(frozen=True)
class Option:
    """The declaration of an option of a run."""

    help: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    more: bool = False  # does not define the run: resuming may change it
    complete: str = ""  # kind of names that the shell proposes: game, agent, learner, sampler or noise
    default: str = ""  # meaning of the default, unless it is the value itself
    named: bool = False  # positional in Python, but not on the command line
    also: str = ""  # a second flag on the command line

    def range_text(self) -> str:
        """Returns the possible values as text; empty if all are."""
        low, high = (None if end is None else number(end, digits=12) for end in (self.low, self.high))
        if self.choices:
            return "one of " + ", ".join(self.choices)
        if low is None:
            return "" if high is None else f"at most {high}"
        return f"from {low} to {high}" if high is not None else f"{low} or larger"


class Declared(NamedTuple):
    """An option of a plan."""

    name: str
    option: Option
    type: Any  # without the metadata, such as `int` or `float | None`
    default: Any  # inspect.Parameter.empty if a value must be given
    by_place: bool  # may be positional

    @property
    def argument(self) -> bool:
        """Whether it is positional on the command line."""
        return self.by_place and not self.option.named

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty

    @property
    def types(self) -> tuple[Any, ...]:
        """The possible types of a value."""
        return get_args(self.type) if get_origin(self.type) in (Union, types.UnionType) else (self.type,)

    @property
    def is_list(self) -> bool:
        return all(get_origin(each) is not None and get_origin(each) is not Annotated for each in self.types)

    def checked(self, value: Any, of: str) -> Any:
        """Returns a value converted to its type; raises UserError if it is not allowed."""
        value = self._typed(value, f"{of}: {self.name}")
        if isinstance(value, str) and self.option.choices and value not in self.option.choices:
            raise unknown(self.name, value, self.option.choices)
        if isinstance(value, int | float) and not isinstance(value, bool) and not self._contains(value):
            raise UserError(f"{of}: {self.name} must be {self.option.range_text()}, got {value:,}.")
        return value

    def _contains(self, value: float) -> bool:
        low, high = self.option.low, self.option.high
        if math.isnan(value):
            return low is None and high is None
        return (low is None or value >= low) and (high is None or value <= high)

    def _typed(self, value: Any, what: str) -> Any:
        kinds = self.types
        if value is None and type(None) in kinds:
            return None
        if self.is_list:
            if isinstance(value, str | bytes) or not isinstance(value, Iterable):
                raise UserError(f"{what} must be a list, got {value!r}; write [{value!r}].")
            return value if isinstance(value, Mapping) else list(value)
        if bool in kinds and isinstance(value, bool):
            return value
        if int in kinds and isinstance(value, Integral) and not isinstance(value, bool):
            return int(value)
        if float in kinds and isinstance(value, Real) and not isinstance(value, bool):
            return float(value)
        nouns = [noun for kind, noun in _NOUNS.items() if kind in kinds]
        if nouns and len(kinds) == len(nouns) + (type(None) in kinds) and type(value) not in kinds:
            raise UserError(f"{what} must be {' or '.join(nouns)}, got {value!r}.")
        return value


_NOUNS: dict[type, str] = {bool: "True or False", int: "a whole number", float: "a number", str: "a text"}


class _Names(dict[str, Any]):
    """The names in annotations; names imported only for type checkers stand for any type."""

    def __missing__(self, name: str) -> Any:
        return getattr(builtins, name, Any)


def declared_of(init: Callable[..., Any]) -> dict[str, Declared]:
    """Returns the options that a plan's `__init__` declares, by name, in order."""
    module, found = vars(sys.modules[init.__module__]), {}
    for name, each in list(inspect.signature(init).parameters.items())[1:]:
        hint = eval(each.annotation, {}, _Names(module)) if isinstance(each.annotation, str) else each.annotation
        kind, *metadata = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        option = next((item for item in metadata if isinstance(item, Option)), None)
        if option is None:
            raise TypeError(f"{init.__qualname__}: {name} must be declared by Annotated[..., Option(...)]")
        found[name] = Declared(name, option, kind, each.default, each.kind is not each.KEYWORD_ONLY)
    return found


def require_known(given: Collection[str], known: Mapping[str, Declared], of: str) -> None:
    """Raises UserError for an unknown option, and if an option without a default is missing."""
    for name in given:
        if name not in known:
            raise unknown(f"option of a {of}", name, known)
    if missing := [each.name for each in known.values() if each.required and each.name not in given]:
        raise UserError(f"a {of} needs {' and '.join(missing)}; {missing[0]}: {known[missing[0]].option.help}.")


GAME = Option('a game, such as yavalath or "2048(size=3)"', complete="game")
AGENTS = Option('agents, such as random "mc(iterations=200)"', complete="agent")
SEED = Option("same seed, same games, whatever the number of workers", low=0)
OPENINGS = Option("start from positions after at most this many plies", low=0)
PER_MOVE = Option("limit of every agent per move: 50ms, 1000rollouts, 1000nodes or 4plies")

if TYPE_CHECKING:
    GameOption = Annotated[str | Game, GAME]
    AgentsOption = Annotated[Sequence[AnyAgent], AGENTS]
else:  # the same names, without importing games and agents
    GameOption = Annotated[Any, GAME]
    AgentsOption = Annotated[list[Any], AGENTS]
SeedOption = Annotated[int, SEED]
OpeningsOption = Annotated[int, OPENINGS]
PerMoveOption = Annotated[str, PER_MOVE]
