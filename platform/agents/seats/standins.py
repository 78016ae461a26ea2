"""Others' agents and evaluators as the referee knows them: by the declaration alone, from their own process.

Importing a class runs its author's code, so this process does not. A stand-in has the name and parameters of the class;
its process answers questions to the code, such as whether parameters fit together.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any, ClassVar

from ...core.errors import UserError
from ...core.outside import classes
from ...core.outside.bundle import Bundle
from ...core.outside.trust import trusted
from ...core.parameters import Declared, Parameter, Registry, parameters_of
from ...games.game import Game
from ..abi import EvaluatorKernels
from ..agent import Agent, Player
from ..budget import AMOUNT
from ..evaluator import Evaluator, ValueUnit
from . import outside
from .failure import SeatFailure
from .outside import IDLE, OutsidePlayer, SeatProcess

SECONDS = 60.0  # to import the code and answer


class StandIn(Declared):
    """Base of stand-ins, which ask the process with their code."""

    code: ClassVar[Bundle]

    def check(self) -> None:
        _asked(self.code, {"make": self.full_text(), "kind": self.kind})

    def _of_game(self, question: str, game: Game) -> Any:
        return _asked(self.code, {question: self.full_text(), "kind": self.kind, "game": game.full_text()})

    def value_unit(self, game: Game) -> ValueUnit:
        return ValueUnit(*self._of_game("unit", game))


class StandInAgent(StandIn, Agent):
    """An agent whose code runs elsewhere."""

    @property
    def in_python(self) -> bool:
        return False  # threads that wait for it run in parallel

    def cannot_play(self, game: Game) -> str | None:
        found: str | None = self._of_game("cannot", game)
        return found

    def start(self, game: Game, seat: int = 0, seed: int = 0) -> Player:
        self.require(game)
        return OutsidePlayer(self, game, seat, seed)


class StandInEvaluator(StandIn, Evaluator):
    """An evaluator whose code runs elsewhere, with the agent that uses it."""

    def cannot_evaluate(self, game: Game) -> str | None:
        found: str | None = self._of_game("cannot", game)
        return found

    def kernels(self, game: Game, rollout_depth: int, score_method: int) -> EvaluatorKernels:
        raise AssertionError(f"{self} is evaluated where its code is")


_BASES: dict[str, type[StandIn]] = {"agent": StandInAgent, "evaluator": StandInEvaluator}
_FLAGS = {"agent": (), "evaluator": ("only_ranks",)}


def load(name: str, kind: str) -> type[Any]:
    """Returns the class of a name, or its stand-in; raises UserError if there is none, or if it is of another kind."""
    if trusted() or kind not in _BASES:
        return classes.load(name, kind)
    bundle, path = classes.located(name)
    known = classes.imported(bundle, path)  # by the program around us
    return classes.load(name, kind) if known else _stand_in(bundle, path, kind, name)


def kind_of(name: str) -> str:
    """Returns the kind of the class of a name; raises UserError if it derives from no class of ours."""
    if trusted():
        return classes.kind_of(name)
    bundle, path = classes.located(name)
    if classes.imported(bundle, path):
        return classes.kind_of(name)
    return str(_told(bundle, "kind_of", classes.named(bundle, path), name))


_stand_ins: dict[tuple[str, str], type[Any]] = {}


def _stand_in(bundle: Bundle, path: str, kind: str, name: str) -> type[Any]:
    full = classes.named(bundle, path)
    if (full, kind) not in _stand_ins:
        told = _told(bundle, "describe", full, name, kind)
        cls = _class_of(told, bundle, kind)
        classes.register(cls, bundle, told["path"], stands_in=True)
        _stand_ins[full, kind] = cls
    classes.remember(name, bundle)
    return _stand_ins[full, kind]


def _told(bundle: Bundle, question: str, full: str, name: str, kind: str = "") -> Any:
    """Returns an answer about a class; errors name it as the user did."""
    try:
        return _asked(bundle, {question: full, "kind": kind})
    except UserError as mistake:
        raise UserError(str(mistake).replace(full, name)) from None


def _class_of(told: Mapping[str, Any], bundle: Bundle, kind: str) -> type[Any]:
    """Returns the class for a description."""
    fields: list[Any] = []
    for each in told["parameters"]:
        default = each["default"]
        if each["of"]:
            default = Registry.kinds[each["of"]].make(default)
        said: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in each["declared"].items()}
        declared = Parameter(**said)
        fields.append((each["name"], Any, dataclasses.field(default=default, metadata={"": declared})))
    budgets = {
        unit: {name: AMOUNT if amount is None else amount for name, amount in held.items()}
        for unit, held in told["budgets"].items()
    }
    space = {"__doc__": told["doc"], "name": told["name"], "code": bundle, **told["flags"]}
    space |= {"budgets": budgets} if kind == "agent" else {}
    name = told["path"].rpartition(".")[2]
    return dataclasses.make_dataclass(name, fields, bases=(_BASES[kind],), namespace=space, frozen=True)


def _asked(bundle: Bundle, request: Mapping[str, Any]) -> Any:
    """Returns the answer of the process with the code; raises its mistakes as UserError."""
    # Not a seat's process, which is forked with the rules of its game.
    kind, question = ("asked", *outside.kind_of([bundle])), json.dumps(request).encode()
    known = IDLE.take(kind)
    process = known or SeatProcess([bundle], "")
    try:
        try:
            answered = process.tell(question, SECONDS)
        except (SeatFailure, UserError):
            if known is None or known.alive:
                raise
            process = SeatProcess([bundle], "")  # the last one has ended since its use
            answered = process.tell(question, SECONDS)
        told = json.loads(answered)
    except SeatFailure as failure:
        raise UserError(f"{bundle.place} must be importable, but {failure}; fix it.") from None
    except ValueError:
        raise UserError(f"{bundle.place} must describe itself, but its process gave no valid answer.") from None
    finally:
        if process.alive:
            IDLE.give_back(kind, process)
    if "mistake" in told:
        raise UserError(str(told["mistake"]))
    return told.get("answer")


def answer(request: Mapping[str, Any]) -> Any:
    """Returns the answer to a request, in the process with the code."""
    registry: Registry[Any] = Registry.kinds.get(request["kind"], Registry.kinds["agent"])
    if "kind_of" in request:
        return classes.kind_of(request["kind_of"])
    if "describe" in request:
        return description(registry.load(request["describe"]), request["kind"])
    if "make" in request:
        return str(registry.make(request["make"]))
    if "unit" in request:
        unit = registry.make(request["unit"]).value_unit(Registry.kinds["game"].make(request["game"]))
        return [float(unit.scale), str(unit.text)]
    made, game = registry.make(request["cannot"]), Registry.kinds["game"].make(request["game"])
    return made.cannot_play(game) if isinstance(made, Agent) else made.cannot_evaluate(game)


def description(cls: type[Any], kind: str) -> dict[str, Any]:
    """Returns the description of a class for its stand-in, as JSON."""
    parameters = []
    for field, declared in parameters_of(cls):
        default: Any = field.default
        inner = default.kind if isinstance(default, Declared) else ""
        said = {key: getattr(declared, key) for key in (each.name for each in dataclasses.fields(declared))}
        parameters.append(
            {
                "name": field.name,
                "of": inner,
                "default": default.full_text() if inner else default,
                "declared": {key: dict(v) if isinstance(v, Mapping) else v for key, v in said.items()},
            }
        )
    budgets = {
        unit: {name: None if amount is AMOUNT else amount for name, amount in held.items()}
        for unit, held in getattr(cls, "budgets", {}).items()
    }
    flags = {name: getattr(cls, name) for name in _FLAGS.get(kind, ())}
    said = {"path": cls.__qualname__, "name": cls.name, "doc": cls.__doc__, "flags": flags}
    return {**said, "budgets": budgets, "parameters": parameters}
