"""The options for the place where a run plays, declared once; commands receive them as one `Where`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import typer

from ..arena.workers.where import Where

T = TypeVar("T")
_RULE = "auto (threads; Ray on a cluster, or if agents in Python take long), ray, threads or serial"
OPTIONS: dict[str, Any] = {
    "executor": Annotated[str, typer.Option(help=f"how games are played: {_RULE}")],
    "workers": Annotated[int | None, typer.Option(help="number of workers; default: all cores")],
    "address": Annotated[
        str | None, typer.Option(help="address of the Ray cluster to join, such as auto; default: RAY_ADDRESS")
    ],
    "nodes": Annotated[
        list[str] | None,
        typer.Option(help="play only on nodes with this label (zone=a) or resource (big); repeat for more"),
    ],
    "priority": Annotated[
        float, typer.Option(help="share of the cluster while other runs want it too, relative to theirs")
    ],
}


def placed(command: Callable[..., T]) -> Callable[..., T]:
    """Replaces a command's parameter `where: Where` by the options of a place; its default gives theirs."""
    signature = inspect.signature(command, eval_str=True)
    default: Where = signature.parameters["where"].default
    values = {name: getattr(default, name) for name in OPTIONS} | {"nodes": None}
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=values[name], annotation=kind)
        for name, kind in OPTIONS.items()
    ]
    parameters: list[inspect.Parameter] = []
    for each in signature.parameters.values():
        parameters += options if each.name == "where" else [each.replace(kind=inspect.Parameter.KEYWORD_ONLY)]

    @functools.wraps(command)
    def with_options(**given: Any) -> T:
        place = {name: given.pop(name) for name in OPTIONS}
        return command(**given, where=Where(**place | {"nodes": tuple(place["nodes"] or ())}))

    with_options.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    with_options.__annotations__ = {each.name: each.annotation for each in parameters}
    return with_options


def words_of(where: Where) -> list[str]:
    """Returns the options that differ from the defaults, as words of a command line."""
    default, words = Where(), []
    for name in OPTIONS:
        value = getattr(where, name)
        if value != getattr(default, name):
            words += [word for each in (value if name == "nodes" else [value]) for word in (f"--{name}", str(each))]
    return words
