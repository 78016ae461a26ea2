"""The values that the shell proposes: names of games, agents, evaluators, samplers, noise strategies and runs."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..core.parameters import Registry


def names_of(what: str) -> Sequence[str]:
    """Returns the names of a kind; none for an unknown kind."""
    return _NAMES[what]() if what in _NAMES else ()


def proposing(what: str) -> Callable[[str], list[str]]:
    """Returns a completion for the shell: the names of a kind that begin with the typed text."""

    def proposals(incomplete: str) -> list[str]:
        return [name for name in names_of(what) if name.startswith(incomplete)]

    proposals.what = what  # type: ignore[attr-defined]
    return proposals


def described(app: Any, name: str, function: Callable[..., Any]) -> dict[str, Any]:
    """Returns what the arguments and options of a command take, for `known_values.values_for`.

    Values: the word for a kind of names; empty if the shell proposes files or nothing; None for a flag without a value.
    """
    import typer

    kinds: dict[str, str] = {}
    for each, annotation in inspect.get_annotations(function, eval_str=True).items():
        for about in getattr(annotation, "__metadata__", ()):
            kinds[each] = getattr(getattr(about, "autocompletion", None), "what", "")
    for each, parameter in inspect.signature(function).parameters.items():
        for about in getattr(parameter.annotation, "__metadata__", ()):
            kinds[each] = getattr(getattr(about, "autocompletion", None), "what", "")
    table: Any = typer.main.get_command(app)
    command = table.get_command(None, name)
    options: dict[str, str | None] = {"--help": None}
    places = []
    more = False
    for one in command.params:
        if one.param_type_name == "argument":
            places.append(kinds.get(one.name, ""))
            more = one.nargs != 1
        else:
            value = None if one.is_flag or one.count else kinds.get(one.name, "")
            options |= dict.fromkeys((*one.opts, *one.secondary_opts), value)
    return {"options": options, "places": places, "more": more}


REGISTRIES = {  # by the words of `turnier list`; each is imported when its names are asked for
    "games": ("turnier.games.registry", "GAMES"),
    "agents": ("turnier.agents.registry", "AGENTS"),
    "evaluators": ("turnier.agents.registry", "EVALUATORS"),
    "methods": ("turnier.agents.ntuple.td", "LEARNING"),
    "samplers": ("turnier.search.samplers.registry", "SAMPLERS"),
    "noises": ("turnier.search.noise", "NOISES"),
}


def registry_of(title: str) -> Registry[Any]:
    place, name = REGISTRIES[title]
    found: Registry[Any] = getattr(importlib.import_module(place), name)
    return found


def _all_of(title: str) -> Callable[[], Sequence[str]]:
    return lambda: list(registry_of(title).places)


def _listed() -> Sequence[str]:
    return [*REGISTRIES, *(name for title in REGISTRIES for name in registry_of(title).places)]


def _runs() -> Sequence[str]:
    from ..results.store import default_url
    from ..results.store.database import NoResults
    from ..results.store.store import Store

    try:
        with Store.open(default_url(), read_only=True) as store:
            return ["last", *(run.id for run in store.runs())]
    except NoResults:
        return []


def _learners() -> Sequence[str]:
    from ..runs.learning import LEARNERS

    return LEARNERS


_NAMES: dict[str, Callable[[], Sequence[str]]] = {
    "game": _all_of("games"),
    "agent": _all_of("agents"),
    "learner": _learners,
    "sampler": _all_of("samplers"),
    "noise": _all_of("noises"),
    "listed": _listed,
    "run": _runs,
}
NAMED = tuple(what for what in _NAMES if what != "run")  # kinds whose names only a new version changes
