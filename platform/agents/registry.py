"""Every agent and evaluator by name; a new one is one line here."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Union

from ..core.errors import UserError
from ..core.outside import classes, library
from ..core.outside.trust import trusted
from ..core.parameters import Declared, Registry
from ..core.terminal.given_names import given_name
from ..core.text_form import Spec
from .budget import read_budget

if TYPE_CHECKING:  # names are looked up without the kernels
    from ..games.game import Position
    from .agent import Agent
    from .evaluator import Evaluator

# A name, an agent, its class if all parameters have defaults, or a function of a position.
AnyAgent = Union[str, "Agent", type[Any], Callable[["Position"], Any]]

AGENTS: Registry[Agent] = Registry(
    "agent",
    {
        "adaptive_combi": "turnier.agents.spe_ed.combi:AdaptiveCombi",
        "alphabeta": "turnier.agents.alphabeta.agent:AlphaBeta",
        "basic": "turnier.agents.spe_ed.basic:Basic",
        "cheating": "turnier.agents.ismcts.cheating:Cheating",
        "combi": "turnier.agents.spe_ed.combi:Combi",
        "dqn": "turnier.agents.deep.agent:Dqn",
        "expectimax": "turnier.agents.expectimax.agent:Expectimax",
        "formations": "turnier.agents.formations.agent:Formations",
        "grave": "turnier.agents.grave.agent:Grave",
        "greedy": "turnier.agents.greedy:Greedy",
        "gtp": "turnier.agents.engines.gtp:Gtp",
        "human": "turnier.agents.human.agent:Human",
        "ismcts": "turnier.agents.ismcts.agent:Ismcts",
        "json": "turnier.agents.engines.json_lines:Json",
        "limited": "turnier.agents.seats.limited:Limited",
        "ludii": "turnier.agents.ludii.agent:Ludii",
        "majority": "turnier.agents.ensembles.majority:Majority",
        "maxn": "turnier.agents.maxn:Maxn",
        "mc": "turnier.agents.mc:Mc",
        "mcts": "turnier.agents.mcts.agent:Mcts",
        "mctse": "turnier.agents.mctse.agent:Mctse",
        "minimax": "turnier.agents.spe_ed.minimax:Minimax",
        "openspiel_bot": "turnier.agents.open_spiel.bot:OpenSpielBot",
        "openspiel_mcts": "turnier.agents.open_spiel.mcts:OpenSpielMcts",
        "perfect": "turnier.agents.perfect.agent:Perfect",
        "puct": "turnier.agents.puct.agent:Puct",
        "qlearning": "turnier.agents.spe_ed.q_learning:QLearning",
        "random": "turnier.agents.random:Random",
        "rollouts": "turnier.agents.spe_ed.rollouts:Rollouts",
        "root_parallel": "turnier.agents.ensembles.root_parallel:RootParallel",
        "table_network": "turnier.agents.spe_ed.network.agent:TableNetwork",
        "tables": "turnier.agents.spe_ed.tables:TablesAgent",
        "uci": "turnier.agents.engines.uci:Uci",
    },
)
EVALUATORS: Registry[Evaluator] = Registry(
    "evaluator",
    {
        "corner2048": "turnier.agents.evaluators.corner2048:Corner2048",
        "forgetful2048": "turnier.agents.evaluators.heuristics2048:Forgetful2048",
        "heuristics2048": "turnier.agents.evaluators.heuristics2048:Heuristics2048",
        "learned_rollout": "turnier.agents.evaluators.learned_rollout:LearnedRollout",
        "matrix2048": "turnier.agents.evaluators.matrix2048:Matrix2048",
        "ntuple": "turnier.agents.ntuple.evaluator:NTuple",
        "residual": "turnier.agents.residual.evaluator:Residual",
        "rollout": "turnier.agents.evaluators.rollout:Rollout",
        "rollout_length": "turnier.agents.evaluators.rollout_length:RolloutLength",
        "rows2048": "turnier.agents.evaluators.rows2048:Rows2048",
        "score": "turnier.agents.evaluator:Score",
        "survivors": "turnier.agents.spe_ed.survivors:Survivors",
        "tile2048": "turnier.agents.evaluators.tile2048:Tile2048",
    },
)


def _load_outside(name: str, kind: str) -> type[Any]:
    from .seats.standins import load

    return load(name, kind)


def _plain(code: Any) -> type[Agent] | None:
    from .seats.plain import agent_class

    return agent_class(code)


def _gone(spec: Spec) -> type[Agent] | None:
    if not library.of_session(spec.name):
        return None
    from .seats.plain import gone_class

    return gone_class(spec)


AGENTS.gone = _gone
AGENTS.load_outside = EVALUATORS.load_outside = _load_outside
classes.stand_for[AGENTS.kind] = _plain
make_agent = AGENTS.make


def agent_of(text: str) -> Agent:
    """Returns the agent of a text form, made once per process."""
    return _agent_of(text, trusted())


@functools.lru_cache(maxsize=1024)
def _agent_of(text: str, inside: bool) -> Agent:
    return AGENTS.make(text)


@functools.lru_cache(maxsize=4096)
def short_text(text: str) -> str:
    """Returns the short text form of an agent; one that no longer exists keeps its stored text."""
    with contextlib.suppress(UserError):
        return str(AGENTS.make(text))
    return text


def label_of(text: str) -> str:
    """Returns how an agent is shown: by the name that an open store has for it, or else by its short text form."""
    return given_name(text) or short_text(text)


def agents_within(texts: Iterable[AnyAgent], budget: str) -> list[Agent]:
    """Returns the agents, each held to a budget per move such as 50ms; an empty one changes nothing.

    For agents that are not ours, the time is also enforced from outside. Raises UserError for a single agent instead of
    a list.
    """
    if isinstance(texts, str | Declared | type) or not isinstance(texts, Iterable):
        raise UserError(f'agents must be a list, got {texts!r}; write one such as ["random", "mcts(iterations=100)"].')
    agents = [AGENTS.make(text) for text in texts]
    return [_held(agent, *read_budget(budget)) for agent in agents] if budget else agents


def _held(agent: Agent, amount: int, unit: str) -> Agent:
    if not library.digests_in([agent.full_text()]):
        return agent.within(amount, unit)
    if unit != "ms":
        if not agent.budgets:
            raise UserError(
                f"a budget in {unit} must bind every agent, but {agent} declares none; choose ms, which is enforced"
                " from outside."
            )
        return agent.within(amount, unit)
    from .seats.limited import Limited

    return Limited(agent.within(amount, unit) if unit in agent.budgets else agent, amount)
