"""The values that the shell proposes: names of games, agents, evaluators, samplers, noise strategies and runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def names_of(what: str) -> Sequence[str]:
    """Returns the names of a kind; none for an unknown kind."""
    return _NAMES[what]() if what in _NAMES else ()


def proposing(what: str) -> Callable[[str], list[str]]:
    """Returns a completion for the shell: the names of a kind that begin with the typed text."""
    return lambda incomplete: [name for name in names_of(what) if name.startswith(incomplete)]


def _games() -> Sequence[str]:
    from ..games.registry import GAMES

    return list(GAMES.places)


def _agents() -> Sequence[str]:
    from ..agents.registry import AGENTS

    return list(AGENTS.places)


def _samplers() -> Sequence[str]:
    from ..search.samplers.registry import SAMPLERS

    return list(SAMPLERS.places)


def _noises() -> Sequence[str]:
    from ..search.noise import NOISES

    return list(NOISES.places)


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
    "game": _games,
    "agent": _agents,
    "learner": _learners,
    "sampler": _samplers,
    "noise": _noises,
    "run": _runs,
}
