"""Turnier: tournaments and hyperparameter search for game-playing agents."""

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

if not (Path(__file__).with_name("core") / "errors.py").exists():
    raise ImportError(
        "turnier's folders in src/turnier must be symbolic links, but this checkout has none;"
        " run: git config core.symlinks true && git checkout -- src/turnier"
    )

if TYPE_CHECKING:
    from turnier.agents.registry import AGENTS, EVALUATORS, make_agent
    from turnier.arena.match import MatchRecord, MatchSpec, Termination
    from turnier.arena.play import play_match, play_matches
    from turnier.core.errors import UserError
    from turnier.dashboards.reports.run import figure_of
    from turnier.games.registry import GAMES, make_game

__version__ = "0.1.0"

__all__ = [
    "AGENTS",
    "EVALUATORS",
    "GAMES",
    "MatchRecord",
    "MatchSpec",
    "Termination",
    "UserError",
    "figure_of",
    "make_agent",
    "make_game",
    "play_match",
    "play_matches",
]

_MODULES = {  # imported when one of their names is first used, so that `turnier --help` is quick
    "turnier.agents.registry": ("AGENTS", "EVALUATORS", "make_agent"),
    "turnier.arena.match": ("MatchRecord", "MatchSpec", "Termination"),
    "turnier.arena.play": ("play_match", "play_matches"),
    "turnier.core.errors": ("UserError",),
    "turnier.dashboards.reports.run": ("figure_of",),
    "turnier.games.registry": ("GAMES", "make_game"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'turnier' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(_MODULE_OF[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
