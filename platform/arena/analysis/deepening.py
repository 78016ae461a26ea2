"""Deeper searches of an agent: its declared budget doubled, or one ply more."""

from __future__ import annotations

from ...agents.agent import Agent
from ...agents.budget import AMOUNT
from ...agents.ensembles.ensemble import Ensemble
from ...core.errors import UserError
from ...core.parameters import parameters_of

_STEPWISE = "plies"  # one ply more already multiplies the work
_UNITS = ("rollouts", "nodes", _STEPWISE, "ms")  # units independent of the clock come first


def deepened(agent: Agent, level: int) -> Agent | None:
    """Returns the agent with its budget doubled `level` times; None if no budget can grow so far.

    The budget is the first declared one that limits the agent as it is; a budget in plies grows by one per level. An
    ensemble deepens its members.
    """
    if level == 0:
        return agent
    if isinstance(agent, Ensemble):
        inner = deepened(agent.agent, level)
        return None if inner is None else agent.replace(agent=inner)
    for unit in _UNITS:
        for name, amount in agent.budgets.get(unit, {}).items():
            own = getattr(agent, name)
            if amount is AMOUNT and own > 0 and not _by_clock(agent, unit):
                return _within_range(agent, name, own + level if unit == _STEPWISE else own << level)
    return None


def _by_clock(agent: Agent, unit: str) -> bool:
    """Returns whether the clock limits the agent instead of this unit."""
    return unit != "ms" and getattr(agent, "milliseconds", 0) > 0


def _within_range(agent: Agent, name: str, value: int) -> Agent | None:
    declared = next(info for field, info in parameters_of(type(agent)) if field.name == name)
    if not declared.contains(value):
        return None
    try:
        return agent.replace(**{name: value})
    except UserError:  # parameters of this size do not fit each other
        return None
