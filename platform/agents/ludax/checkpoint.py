"""Reads the checkpoint of the package ludax-agents, which is a pickle, without unpickling it.

`pickletools` takes a pickle apart into opcodes. Here they build dictionaries, tuples and `Made`, which notes what a
pickle would call instead of calling it; nothing that the file names is imported or run.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import pickletools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from turnier.core.array_files import not_finite
from turnier.core.errors import MALFORMED, UserError, require_extra

PACKAGE, FILE = "ludax_agents", "checkpoints/reversi.ckpt"
ARRAYS = ("numpy.core.multiarray._reconstruct", "numpy._core.multiarray._reconstruct")  # of numpy 1 and 2
MODULES = (PACKAGE, "ludax", "haiku", "mctx", "jax")  # what playing imports


class Checkpoint(NamedTuple):
    """A network as haiku takes it: arrays by name of the layer and name in it."""

    channels: int
    blocks: int
    second_version: bool  # of residual blocks
    parameters: dict[str, dict[str, Any]]
    statistics: dict[str, dict[str, Any]]  # of batch normalisation

    @property
    def actions(self) -> int:
        """How many actions its policy knows."""
        return int(self.parameters["az_net/linear"]["w"].shape[1])


@dataclass
class Made:
    """What a pickle would make by calling `name` with `arguments`, and then fill with `state`."""

    name: str
    arguments: Any = None
    state: Any = None


def require_ludax() -> None:
    """Raises UserError where the package, or what it needs, is not installed; imports nothing."""
    require_extra("ludax", "ludax", *MODULES)


def installed_digest() -> str:
    """Returns 16 hexadecimal digits that say which checkpoint is installed; empty without one."""
    found = _path()
    return _digest(found) if found else ""


def _path() -> Path | None:
    spec = importlib.util.find_spec(PACKAGE)  # which imports nothing
    path = Path(spec.origin).parent / FILE if spec and spec.origin else None
    return path if path and path.is_file() else None


@functools.cache
def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def installed_checkpoint(digest: str) -> Checkpoint:
    """Returns the installed network; raises UserError where there is none, or where it has another digest."""
    require_ludax()
    path, got = _path(), installed_digest()
    if path is None or got != digest:
        raise UserError(
            f"ludax must play with the network that has the digest {digest or 'of a package'}, got"
            f" {got or 'a package without one'}; leave the digest out to play with the installed one."
        )
    return read_checkpoint(path)


def read_checkpoint(path: Path) -> Checkpoint:
    """Reads a checkpoint of Ludax' trainer; raises UserError where it has another form."""
    try:
        data = plain(path.read_bytes())
        config = data["config"].state["__dict__"]
        parameters, statistics = map(_arrays, data["model"])
        return Checkpoint(config["num_channels"], config["num_layers"], config["resnet_v2"], parameters, statistics)
    except MALFORMED as error:
        raise UserError(
            f"{path} must be a checkpoint of Ludax' AlphaZero, got another form ({error}); install ludax-agents 1.0.0."
        ) from error


def _arrays(tree: Any) -> Any:
    """Returns nested dictionaries with their arrays in place of `Made`."""
    return {name: _arrays(part) for name, part in tree.items()} if isinstance(tree, dict) else _array(tree)


def _array(made: Made) -> Any:
    """Returns what numpy's own way of pickling would make, if it has plain numbers."""
    _, shape, kind, by_column, raw = made.state
    if made.name not in ARRAYS or by_column or kind.arguments[0] not in ("f4", "i4"):
        raise ValueError(f"no array of numbers by rows: {made.name} of {kind.arguments[0]}")
    array = np.frombuffer(raw, np.dtype(kind.arguments[0]).newbyteorder("<")).reshape(shape)
    if not_finite({"weights": array}):
        raise ValueError("NaN or infinity in its weights")
    return array


# Opcodes that push their argument, and those that push something new.
_GIVEN = {"BININT", "BININT1", "BININT2", "BINFLOAT", "BINUNICODE", "SHORT_BINUNICODE", "BINBYTES", "SHORT_BINBYTES"}
_NEW: dict[str, Callable[[], Any]] = {
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
    "EMPTY_DICT": dict,
    "EMPTY_SET": set,
    "EMPTY_TUPLE": tuple,
}


def plain(pickled: bytes) -> Any:
    """Returns what a pickle holds, with `Made` for all that is no plain data; raises ValueError for other opcodes."""
    stack: list[Any] = []
    marks: list[int] = []
    memo: list[Any] = []

    def taken(count: int) -> list[Any]:
        values = stack[len(stack) - count :]
        del stack[len(stack) - count :]
        return values

    def since_mark() -> list[Any]:
        return taken(len(stack) - marks.pop())

    argument: Any
    for opcode, argument, _ in pickletools.genops(pickled):
        match opcode.name:
            case name if name in _GIVEN:
                stack.append(argument)
            case name if name in _NEW:
                stack.append(_NEW[name]())
            case "MARK":
                marks.append(len(stack))
            case "MEMOIZE":
                memo.append(stack[-1])
            case "BINGET" | "LONG_BINGET":
                stack.append(memo[argument])
            case "TUPLE1" | "TUPLE2" | "TUPLE3" as name:
                stack.append(tuple(taken(int(name[-1]))))
            case "TUPLE":
                stack.append(tuple(since_mark()))
            case "SETITEM":
                key, value = taken(2)
                stack[-1][key] = value
            case "SETITEMS":
                values = since_mark()
                stack[-1].update(zip(values[::2], values[1::2], strict=True))
            case "ADDITEMS":
                values = since_mark()
                stack[-1].update(values)
            case "STACK_GLOBAL":
                stack.append(Made(".".join(taken(2))))
            case "REDUCE" | "NEWOBJ":
                made, arguments = taken(2)
                stack.append(Made(made.name, arguments))
            case "BUILD":
                (state,) = taken(1)
                stack[-1].state = state
            case "PROTO" | "FRAME":
                pass
            case "STOP":
                return stack[-1]
            case name:
                raise ValueError(f"the opcode {name}")
    raise ValueError("no end")
