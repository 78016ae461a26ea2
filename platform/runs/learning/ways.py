"""The plan of a training by the name of its learner: a network or a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...agents.agent import Agent
from ...agents.deep.agent import Dqn
from ...agents.deep.learning import DeepQ
from ...agents.evaluator import Evaluator
from ...agents.learning.plan import LearningPlan
from ...agents.ntuple.evaluator import NTuple
from ...agents.ntuple.network import Network
from ...agents.ntuple.plans.moved import moved_text
from ...agents.ntuple.plans.presets import preset_for
from ...agents.ntuple.td import LEARNING, Td, method_for, td_of
from ...agents.ntuple.training import Plan as TdPlan
from ...agents.ntuple.weights import read_config, read_values
from ...agents.puct.agent import Puct
from ...agents.puct.self_play import SelfPlay
from ...agents.registry import AGENTS, EVALUATORS
from ...agents.spe_ed.network.agent import TableNetwork
from ...agents.spe_ed.network.learning import Outcomes
from ...core.errors import UserError, unknown
from ...core.outside.classes import is_outside
from ...core.parameters import Declared
from ...core.text_form import parse
from ...games.game import Game
from ...games.registry import GAMES
from ..self_play.loop import Plan as SelfPlayPlan
from ..self_play.table_network import Plan as TablePlan
from . import LEARNERS
from .deep import Plan as DeepPlan


def learning_plan(
    game: Game,
    network: str | Evaluator | Agent,
    learning: str,
    seed: int,
    every: int,
    *,
    out: Path,
    begins: Sequence[Path] = (),
    hours: float = 0.0,
    threads: int = 1,
) -> LearningPlan:
    """Returns the plan; raises UserError if nothing of that name learns, or not by that method.

    Args:
        game: the game to learn.
        network: the learner; empty = that of the file, or of the first to begin with, its tuples moved to the game's
            board, or the best one for so many hours.
        learning: the method, as text; empty = the default for the network and the game.
        seed: seed of the training.
        every: games per point of the curve.
        out: file of checkpoints.
        begins: files of weights whose mean a network of n-tuples begins with.
        hours: limit on the training time; 0 = none.
        threads: threads that learn at once.
    """
    if not network:
        network, learning = _left_open(game, learning, out, begins, hours, threads)
    learner = _learner(network)
    if isinstance(learner, NTuple):
        return TdPlan(game, learner, _td(game, learning, out), seed, every, tuple(begins))
    if isinstance(learner, Dqn):
        return DeepPlan(game, learner, method_for(game, learning, DeepQ), seed, every)
    if isinstance(learner, Puct):
        return SelfPlayPlan(game, learner, method_for(game, learning, SelfPlay), seed, every)
    if isinstance(learner, TableNetwork):
        return TablePlan(game, learner, method_for(game, learning, Outcomes), seed, every)
    raise UserError(
        f'a training needs a network or a search that learns, got {learner}; write "ntuple(network=4x6)",'
        ' "dqn(layers=128.64)" or "puct(selection=gumbel,evaluator=ntuple)".'
    )


def plan_of_definition(definition: Mapping[str, Any]) -> LearningPlan:
    """Returns the plan of a stored training; its files need not exist."""
    game, seed, every = GAMES.make(definition["game"]), definition["seed"], definition["every"]
    method: Any = LEARNING.make(definition["learning"])
    if "evaluator" in definition:
        network: Any = EVALUATORS.make(definition["evaluator"])
        return TdPlan(game, network, method, seed, every)
    learner: Any = AGENTS.make(learner_of(definition))
    kinds: dict[type, Any] = {Dqn: DeepPlan, Puct: SelfPlayPlan, TableNetwork: TablePlan}
    kind: Any = kinds[type(learner)]
    plan: LearningPlan = kind(game, learner, method, seed, every)
    return plan


def learner_of(definition: Mapping[str, Any]) -> str:
    """Returns the learner of a stored training, as text."""
    return str(next(definition[key] for key in ("evaluator", "network", "agent") if key in definition))


def _learner(network: str | Declared) -> Declared:
    if isinstance(network, Declared):
        return network
    name = parse(network).name
    if name in EVALUATORS.places:
        return EVALUATORS.make(network)
    if not (name in AGENTS.places or is_outside(name) or name in AGENTS.installed()):
        raise unknown("network", name, LEARNERS)
    return AGENTS.make(network)


def _left_open(
    game: Game, learning: str, out: Path, begins: Sequence[Path], hours: float, threads: int
) -> tuple[str, str]:
    """Returns the network and the method of the file, of the first one to begin with, or those for the hours."""
    if out.exists():
        stored = read_config(out)["training"]
        return stored["evaluator"], learning or stored["learning"]
    if begins:
        config = read_values(begins[0])
        return moved_text(Network.from_json(config["network"]), game), learning or config["training"]["learning"]
    if not hours:
        raise UserError('training needs a network, or hours of learning for 2048; write "ntuple(network=4x6)".')
    preset = preset_for(game, hours, threads)
    return preset.network, learning or preset.learning


def _td(game: Game, text: str, out: Path) -> Td:
    """Returns the method; if the file's method has exactly this text, the file's is used."""
    plain = td_of(text)
    if out.exists() and read_config(out)["training"]["learning"] == plain.full_text():
        return plain
    return method_for(game, text, Td)
