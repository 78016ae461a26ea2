"""Turnier: tournaments and hyperparameter search for game-playing agents."""

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

if not (Path(__file__).with_name("core") / "errors.py").exists():
    raise ImportError(
        "turnier's folders in src/turnier must be symbolic links, but this checkout has none;"
        " run: git config core.symlinks true && git checkout -- src/turnier"
    )

from turnier.core.compilation.machine import calculate_alike
from turnier.runs.declared.kinds import KINDS, SHOWN_BY, Kind

calculate_alike()  # before numpy is loaded

if TYPE_CHECKING:
    from turnier.agents.agent import Agent, CompiledAgent, Decision, Player
    from turnier.agents.evaluator import Evaluator
    from turnier.agents.registry import AGENTS, EVALUATORS, make_agent
    from turnier.arena.analysis import analyse
    from turnier.arena.match import MatchRecord, MatchSpec, Termination
    from turnier.arena.play import play_match, play_matches
    from turnier.arena.workers.where import Where
    from turnier.core.errors import AgentsFailed, UserError
    from turnier.core.kernel import kernel
    from turnier.core.outside.trust import trust
    from turnier.core.parameters import parameter
    from turnier.dashboards.notebook import figure_of
    from turnier.games.abi import CHANCE, TERMINAL
    from turnier.games.game import Game, Ints, Position
    from turnier.games.python.python_game import PythonGame
    from turnier.games.registry import GAMES, make_game
    from turnier.results import frames
    from turnier.results.store.store import Store
    from turnier.runs.certainty import Certainty
    from turnier.runs.comparison import Comparison, Race
    from turnier.runs.experiments.experiment import Experiment
    from turnier.runs.judging.judging import Judging
    from turnier.runs.profile import Profile
    from turnier.runs.repeated_training import RepeatedTraining
    from turnier.runs.results import RunResults
    from turnier.runs.tournament import Tournament
    from turnier.runs.training import Training
    from turnier.search.balance.plan import Balance
    from turnier.search.for_optuna.function_study import create_study
    from turnier.search.samplers.sampler import History, Sampler, Search, Vectors
    from turnier.search.space import Space
    from turnier.search.study import Study

__version__ = "0.1.0"

KINDS.update(  # a kind of run is its plan, its drawing in dashboards/kinds, and a line here
    tournament=Kind("turnier.runs.tournament:Tournament", "tournament", "Play a tournament and rate its agents."),
    comparison=Kind(
        "turnier.runs.comparison:Comparison", "compare", "Compare two agents until it is clear which is stronger."
    ),
    race=Kind("turnier.runs.comparison:Race", "compare", ""),
    certainty=Kind(
        "turnier.runs.certainty:Certainty", "certainty", "Measure how often searches of the same position agree."
    ),
    judging=Kind(
        "turnier.runs.judging.judging:Judging",
        "judge",
        "Measure how often agents play a perfect move, where perfect play is known.",
    ),
    replication=Kind("turnier.runs.replication:Replication", "tournament", ""),
    profile=Kind(
        "turnier.runs.profile:Profile",
        "profile",
        "Measure what a game is like: its first move, draws, length, choices, thinking and chance.",
    ),
    study=Kind(
        "turnier.search.study:Study",
        "tune",
        "Search for the parameters with which an agent plays best.",
        "Improve",
    ),
    balance=Kind("turnier.search.balance.plan:Balance", "tune", "", "Improve"),
    training=Kind("turnier.runs.training:Training", "train", "Train a network by games against itself.", "Improve"),
    repeated_training=Kind("turnier.runs.repeated_training:RepeatedTraining", "train", ""),
)

SHOWN_BY["notebook"] = "turnier.dashboards.notebook"

__all__ = [
    "AGENTS",
    "CHANCE",
    "EVALUATORS",
    "GAMES",
    "TERMINAL",
    "Agent",
    "AgentsFailed",
    "Balance",
    "Certainty",
    "Comparison",
    "CompiledAgent",
    "Decision",
    "Evaluator",
    "Experiment",
    "Game",
    "History",
    "Ints",
    "Judging",
    "MatchRecord",
    "MatchSpec",
    "Player",
    "Position",
    "Profile",
    "PythonGame",
    "Race",
    "RepeatedTraining",
    "RunResults",
    "Sampler",
    "Search",
    "Space",
    "Store",
    "Study",
    "Termination",
    "Tournament",
    "Training",
    "UserError",
    "Vectors",
    "Where",
    "analyse",
    "create_study",
    "figure_of",
    "frames",
    "kernel",
    "make_agent",
    "make_game",
    "parameter",
    "play_match",
    "play_matches",
    "trust",
]

_MODULES = {  # imported when one of their names is first used, so that `turnier --help` is quick
    "turnier.agents.agent": ("Agent", "CompiledAgent", "Decision", "Player"),
    "turnier.agents.evaluator": ("Evaluator",),
    "turnier.agents.registry": ("AGENTS", "EVALUATORS", "make_agent"),
    "turnier.arena.analysis": ("analyse",),
    "turnier.arena.match": ("MatchRecord", "MatchSpec", "Termination"),
    "turnier.arena.play": ("play_match", "play_matches"),
    "turnier.arena.workers.where": ("Where",),
    "turnier.core.errors": ("AgentsFailed", "UserError"),
    "turnier.core.kernel": ("kernel",),
    "turnier.core.outside.trust": ("trust",),
    "turnier.core.parameters": ("parameter",),
    "turnier.dashboards.notebook": ("figure_of",),
    "turnier.games.abi": ("CHANCE", "TERMINAL"),
    "turnier.games.game": ("Game", "Ints", "Position"),
    "turnier.games.python.python_game": ("PythonGame",),
    "turnier.games.registry": ("GAMES", "make_game"),
    "turnier.results": ("frames",),
    "turnier.results.store.store": ("Store",),
    "turnier.runs.certainty": ("Certainty",),
    "turnier.runs.comparison": ("Comparison", "Race"),
    "turnier.runs.experiments.experiment": ("Experiment",),
    "turnier.runs.judging.judging": ("Judging",),
    "turnier.runs.profile": ("Profile",),
    "turnier.runs.repeated_training": ("RepeatedTraining",),
    "turnier.runs.results": ("RunResults",),
    "turnier.runs.tournament": ("Tournament",),
    "turnier.runs.training": ("Training",),
    "turnier.search.balance.plan": ("Balance",),
    "turnier.search.for_optuna.function_study": ("create_study",),
    "turnier.search.samplers.sampler": ("History", "Sampler", "Search", "Vectors"),
    "turnier.search.space": ("Space",),
    "turnier.search.study": ("Study",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'turnier' has no attribute {name!r}")
    module = importlib.import_module(_MODULE_OF[name])
    if not hasattr(module, name):  # a module of a package
        importlib.import_module(f"{module.__name__}.{name}")
    value = globals()[name] = getattr(module, name)
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
