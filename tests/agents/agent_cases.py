"""Our agents as the contract checks them: which variants in which games, and what only agents of ours must keep.

`variants` derives small-parameter variants of a registry agent from its declared parameters, so a new agent is under
the contract with its registry line; only a new *kind* of costly parameter needs a line in SMALL.
"""

from __future__ import annotations

import random
from typing import Any

from turnier.agents.agent import Agent
from turnier.agents.open_spiel.player import SpielAgent
from turnier.agents.registry import AGENTS, EVALUATORS, make_agent
from turnier.agents.spe_ed.player import SpeEdAgent
from turnier.contract.agents import AGENT_LAWS, first_decisions
from turnier.contract.law import Law
from turnier.core.parameters import Declared, parameters_of
from turnier.games.game import Game
from turnier.games.registry import make_game

GAMES = ("tictactoe", "connect_four(rows=4,columns=4)", "nim", "2048(size=2)", "2048(size=3)", "2048")
FEW_GAMES = ("tictactoe", "2048(size=2)", "2048")
# Agents of one game play that one only, in which no action is ever the only one.
OF_SPE_ED = {name for name in AGENTS.names() if issubclass(AGENTS.load(name), SpeEdAgent)}
OF_OPEN_SPIEL = {name for name in AGENTS.names() if issubclass(AGENTS.load(name), SpielAgent)}
PROGRAMS = {name for name in AGENTS.names() if make_agent(name).runs_program}  # tests/agents/engines plays them
OPEN_SPIEL_GAMES = ("openspiel",)
OF_HIDDEN = {"cheating", "ismcts"}  # for games that hide something
HIDDEN_GAMES = ("openspiel(game=kuhn_poker)", "openspiel(game=liars_dice)")
SPE_ED_GAMES = ("spe_ed(width=8,height=9)", "spe_ed(width=12,height=9,players=3)")
# What makes a variant cheap, where an agent has the parameter.
SMALL: dict[str, Any] = {"iterations": 10, "rollout_depth": 6, "maxnodes": 12, "depth": 2, "deepest": 2, "members": 2}
SMALL |= {"rollouts": 20, "table_rounds": 2, "simulations": 20}
INTERLEAVED = ("mctse",)  # agents whose decisions depend on timing as soon as several threads make them


def small(name: str) -> Agent:
    """Returns a registry agent with the parameters of SMALL, at every depth."""
    agent = make_agent(name)
    known = {field.name: field.default for field, _ in parameters_of(type(agent))}
    inner = {key: small(value.name) for key, value in known.items() if isinstance(value, Agent)}
    return agent.replace(**{key: value for key, value in SMALL.items() if key in known}, **inner)


def variants(name: str) -> list[Agent]:
    """Returns small variants, each off the base in one parameter: any agent, evaluator, choice, or lowest value."""
    base = small(name)
    found = [base]
    for field, declared in parameters_of(type(base)):
        default = field.default
        values: list[Any] = []
        if isinstance(default, Declared) and default.kind == "evaluator":
            values = [EVALUATORS.make(evaluator) for evaluator in EVALUATORS.names()]
        elif isinstance(default, Agent):
            values = [small(agent) for agent in AGENTS.names()]
        elif isinstance(default, bool):
            values = [not default]
        elif field.name == "threads":
            values = [2] if name not in INTERLEAVED else []
        elif declared.choices:
            values = list(declared.choices)
        elif isinstance(default, int) and declared.high is not None and declared.high - declared.low <= 5:
            values = list(range(int(declared.low), int(declared.high) + 1))
        elif isinstance(default, int | float) and declared.low is not None:
            values = [type(default)(declared.low)]
        found += [base.replace(**{field.name: value}) for value in values]
    return list({str(agent): agent for agent in found}.values())


def cases(all_variants: bool = False) -> list[tuple[str, str]]:
    """Returns (agent, game) in text form: each small agent in every game that it can play, its variants in one each.

    Variants take the games in turn, in a seeded order, and play all games that the small agent cannot play. With
    `all_variants` every variant plays every game that it can.
    """
    found: list[tuple[str, str]] = []
    for name in sorted(AGENTS.names()):
        base = small(name)
        familiar = _playable(base, base)
        order = random.Random(name).sample(familiar, len(familiar))
        for turn, agent in enumerate(variants(name)):
            games = _playable(agent, base)
            if games and agent != base and not all_variants and set(games) <= set(familiar):
                in_turn = [game for game in order if game in games]
                games = [in_turn[turn % len(in_turn)]]
            found += [(str(agent), game) for game in games]
    return found


def _playable(agent: Agent, base: Agent) -> list[str]:
    """Returns the games in which a variant of a small agent is tried: those of one kind where it plays no others."""
    if agent.name in OF_HIDDEN:
        return [game for game in HIDDEN_GAMES if agent.cannot_play(make_game(game)) is None]
    usual = GAMES if _inner(agent) == _inner(base) else FEW_GAMES
    for games in (usual, SPE_ED_GAMES, OPEN_SPIEL_GAMES):
        if found := [game for game in games if agent.cannot_play(make_game(game)) is None]:
            return found
    return []


def _inner(agent: Agent) -> list[Any]:
    """What is inside an agent: an evaluator, an ensemble's members. Variants of those do not play all games again."""
    values = [getattr(agent, field.name) for field, _ in parameters_of(type(agent))]
    return [value for value in values if isinstance(value, Declared)]


def law_best_mean(agent: Agent, game: Game) -> None:
    """The max-child rule (Kutsch 2017, 4.1): of the actions that were tried, one with the best mean is played."""
    for _, decision in first_decisions(agent, game):
        tried = decision.visits > 0
        if tried.any():
            best = decision.values[tried].max()
            assert decision.values[decision.action] == best, f"{agent} chose {decision.action} of {decision.values}"


# Agents that play the action with the best mean, where they have no `final` that says otherwise.
BEST_MEAN = ("alphabeta", "expectimax", "greedy", "maxn", "mc", "mcts", "mctse", "perfect", "root_parallel")


def laws_of(agent: Agent) -> tuple[Law, ...]:
    """Returns the laws that a registry agent keeps when it plays."""
    best_mean = agent.name in BEST_MEAN and getattr(agent, "final", "max") == "max"
    return (*AGENT_LAWS, law_best_mean) if best_mean else AGENT_LAWS


def law_sentence(reason: str | None) -> None:
    """`cannot_play` answers with a sentence that says what does not fit and what to do."""
    assert reason is not None and len(reason.split()) >= 5, f"no sentence: {reason}"
    assert reason.endswith(".") and "\n" not in reason and not reason.endswith("..")
