"""Turnier: tournaments and hyperparameter search for game-playing agents."""

from pathlib import Path

if not (Path(__file__).with_name("core") / "errors.py").exists():
    raise ImportError(
        "turnier's folders in src/turnier must be symbolic links, but this checkout has none;"
        " run: git config core.symlinks true && git checkout -- src/turnier"
    )

from turnier.agents.registry import AGENTS, EVALUATORS, make_agent
from turnier.arena.match import MatchRecord, MatchSpec, Termination
from turnier.arena.play import play_match, play_matches
from turnier.core.errors import UserError
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
    "make_agent",
    "make_game",
    "play_match",
    "play_matches",
]
