"""Opinions of agents on the moves of a match, computed decision by decision on demand."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator
from typing import Any

from ...agents.agent import Agent, Decision
from ...agents.registry import AGENTS, agent_of
from ...arena.analysis.reanalysis import Reanalysis, Thought
from ...arena.match import MatchRecord
from ...core.errors import UserError
from ...core.outside.classes import is_outside
from ...core.parameters import Declared, Registry, parameters_of
from ...core.text_form import Spec, parse
from ...games.drawing import Overlay
from ...games.game import Position
from ...results.frames.certainty import position_certainty, searches_frame

KEPT = 3  # matches whose agents are not asked again from the start
PATIENCE = 5.0  # s for asking an agent for all of its earlier moves


def is_harmless(text: str) -> bool:
    """Whether asking an agent runs neither programs nor code of others, which pages must not be able to start."""
    return not is_outside(text) and not _names_program(parse(text), AGENTS)


def _names_program(spec: Spec, registry: Registry[Any]) -> bool:
    """Whether a text form contains a program or a person; makes no agent, since that might read named files."""
    declared: type[Declared] = registry.load(spec.name)
    if issubclass(declared, Agent) and declared.runs_program is not Agent.runs_program:
        return True
    for field, _ in parameters_of(declared):
        part = spec.parameters.get(field.name)
        if part and isinstance(field.default, Declared):
            within = part if isinstance(part, Spec) else Spec(part)
            if _names_program(within, Registry.kinds[field.default.kind]):
                return True
    return False


def require_harmless(text: str) -> None:
    """Raises UserError for agents that are not harmless."""
    if not is_harmless(text):
        raise UserError(
            f"the board asks only agents of Turnier, got {text}; play others with `turnier play` or `turnier analyse`."
        )


def opinions(record: MatchRecord, agent: str = "") -> Iterator[dict[str, Any]]:
    """Yields an agent's opinion before each decision of a match: {move, choice, actions, unit, known}.

    The choice is an action's name; actions are [name, visits, value in the agent's unit or None, cell or -1]. Without
    an agent, those that played are asked again, except people and programs, from the first move on: so they decide as
    in the match.
    """
    review = Reanalysis(record, AGENTS.make(agent).full_text() if agent else "")
    if agent:
        agent_of(review.judge).require(review.game)
    for number, moment in enumerate(review.moments[:-1]):
        if moment.opening or not (agent or is_harmless(record.spec.agents[moment.seat])):
            continue
        thought = review.think(number)
        choice = review.game.move_text(moment.position.state, thought.decision.action)
        asked = review.agent(moment.seat)
        actions, unit = weighed(asked, moment.position, thought.decision), asked.value_unit(review.game).text
        yield {"move": number, "choice": choice, "actions": actions, "unit": unit, "known": _knows(thought)}


def _knows(thought: Thought) -> list[str]:
    """Returns the kinds of knowledge that an agent shows on the board."""
    found = thought.overlay
    if found is None:
        return []
    return ["shares"] * (found.shares is not None) + ["routes"] * bool(found.routes)


class Knowledge:
    """Boards with what an agent knew at its decisions; the last matches asked for are kept."""

    def __init__(self) -> None:
        self._reviews: dict[str, Reanalysis] = {}
        self._asking = threading.Lock()  # agents are asked for one board at a time

    def svg(self, record: MatchRecord, number: int, kinds: Collection[str]) -> str:
        """Returns the board before a decision with some kinds of its agent's knowledge; see `_knows`.

        Raises UserError if there is no such decision, or its agent cannot be asked.
        """
        with self._asking:
            review = self._reviews.pop(record.spec.id, None) or Reanalysis(record)
            self._reviews[record.spec.id] = review
            while len(self._reviews) > KEPT:
                self._reviews.pop(next(iter(self._reviews)))
            if not 0 <= number < len(review.moments) - 1:
                raise UserError(f"this match has {len(review.moments) - 1:,} decisions, got number {number}.")
            moment = review.moments[number]
            require_harmless(record.spec.agents[moment.seat])
            found = review.think(number, PATIENCE).overlay or Overlay()
            shown = Overlay(found.shares if "shares" in kinds else None, found.routes if "routes" in kinds else ())
            return review.game.overlaid_svg(moment.position.state, shown, moment.changed)


def weighed(agent: Agent, position: Position, decision: Decision) -> list[tuple[str, int, float | None, int]]:
    """Returns for each legal action: name, visits, value in the agent's unit (None if unknown), cell or -1."""
    game, state, found = position.game, position.state, []
    scale = agent.value_unit(game).scale
    for action in position.legal_actions():
        visits, clicks = int(decision.visits[action]), game.clicks(state, action)
        value = float(decision.values[action]) * scale if visits else None
        found.append((game.move_text(state, action), visits, value, clicks[-1][0] if clicks else -1))
    return found


def certainties(record: MatchRecord, repeats: int, agent: str = "") -> Iterator[dict[str, Any]]:
    """Yields the agreement of repeated searches before each decision: {move, certainty from 0 to 1}.

    With a single legal action, all searches agree.
    """
    review = Reanalysis(record, agent)
    for number, moment in enumerate(review.moments[:-1]):
        asked = agent or record.spec.agents[moment.seat]
        if moment.opening or not is_harmless(asked):
            continue
        if len(moment.position.legal_actions()) == 1:
            yield {"move": number, "certainty": 1.0}
            continue
        searches = review.search_again(number, repeats)
        yield {"move": number, "certainty": float(position_certainty(searches_frame(searches))["normalised"].iloc[0])}
