"""An analysis as a table for a terminal, and as data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from turnier.agents.registry import agent_of
from turnier.arena.analysis import AgentAnalysis, Analysis, LinePly
from turnier.commands.tables import AgentText, units_text
from turnier.core.number_text import duration, number
from turnier.games.abi import CHANCE
from turnier.games.game import Game
from turnier.results.frames.certainty import position_certainty, searches_frame

COLUMNS = 3  # agents side by side
CELL_WIDTH = 17  # of an agent: a value, and the visits in brackets


def analysis_text(found: Analysis, top: int) -> Group:
    """Returns tables of the `top` best moves with all agents' values and visits, and what each agent says in words."""
    parts: list[Any] = [Text(f"{found.position}\n{_to_move(found)}")]
    moves = ranked(found.agents)
    for first in range(0, len(found.agents), COLUMNS):
        parts.append(_table(found.position.game, found.agents[first : first + COLUMNS], moves[:top]))
    if len(moves) > top:
        parts.append(Text(f"{len(moves) - top} more moves; --top shows more.\n"))
    parts += [_said(found, one) for one in found.agents]
    return Group(*parts)


def ranked(agents: Sequence[AgentAnalysis]) -> list[int]:
    """Returns places in the list of legal actions, the best of the first agent first."""
    first = agents[0]
    tried = [visits > 0 for visits in first.visits]
    return sorted(range(len(first.legal)), key=lambda i: (-first.votes[i], -tried[i], -first.values[i]))


def analysis_json(found: Analysis) -> dict[str, Any]:
    """Returns an analysis as data; values are in each agent's unit, those of moves that no search tried are null."""
    game = found.position.game
    return {
        "game": game.full_text(),
        "board": game.board_text(found.position.state),
        "to_move": found.position.to_move,
        "seconds": found.seconds,
        "agents": [_agent_json(game, one) for one in found.agents],
    }


def _agent_json(game: Game, one: AgentAnalysis) -> dict[str, Any]:
    scale = one.unit.scale
    moves = [
        {
            "move": game.action_name(action),
            "action": action,
            "value": one.values[i] * scale if one.visits[i] else None,
            "visits": one.visits[i],
            "votes": one.votes[i],
        }
        for i, action in enumerate(one.legal)
    ]
    return {
        "agent": one.agent,
        "searching": one.searching,
        "searches": one.searches,
        "best": game.action_name(one.best),
        "certainty": one.certainty,
        "certainty_low": one.certainty_interval.low,
        "certainty_high": one.certainty_interval.high,
        **_measures(one),
        "unit": one.unit.text,
        "nodes": one.nodes,
        "search_seconds": one.seconds,
        "line": [ply.name for ply in one.line],
        "moves": moves,
    }


def _measures(one: AgentAnalysis) -> dict[str, float]:
    """Returns the normalised certainty and the agreement, of at least two searches of a choice."""
    if one.searches < 2 or len(one.legal) < 2:
        return {}
    row = position_certainty(searches_frame(one.records)).iloc[0]
    return {name: float(row[name]) for name in ("normalised", "agreement")}


def _to_move(found: Analysis) -> str:
    units = units_text(found.position.game, (agent_of(one.agent) for one in found.agents))
    return f"Seat {found.position.to_move} is to move. Values: {units}. In brackets: visits.\n"


def _table(game: Game, agents: Sequence[AgentAnalysis], places: Sequence[int]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("move", overflow="fold", max_width=22)
    for one in agents:
        table.add_column(AgentText(one.searching), justify="right", max_width=CELL_WIDTH, overflow="fold")
    for place in places:
        cells = [_cell(one, place) for one in agents]
        table.add_row(game.action_name(agents[0].legal[place]), *cells)
    return table


def _cell(one: AgentAnalysis, place: int) -> Text:
    """Returns the value and the visits of a move; the agent's choice is bold and has an asterisk."""
    chosen = one.legal[place] == one.best
    text = "-"
    if one.visits[place]:
        text = f"{number(one.values[place] * one.unit.scale)} ({number(one.visits[place])})"
    return Text(f"{text} *" if chosen else f"{text}  ", style="bold" if chosen else "")


def _said(found: Analysis, one: AgentAnalysis) -> Text:
    """Returns what an agent plays, how certainly, and what it expects then."""
    game, low, high = found.position.game, one.certainty_interval.low, one.certainty_interval.high
    searches = "1 search" if one.searches == 1 else f"{one.searches} searches"
    text = Text(f"{one.searching}: ", style="dim")
    text.append(game.action_name(one.best), style="bold not dim")
    shares = ", ".join(f"{name} {number(100 * value)} %" for name, value in _measures(one).items())
    certain = f", certainty {number(100 * one.certainty)} % ({number(100 * low)} to {number(100 * high)}) of {searches}"
    spent = f", {number(one.nodes)} nodes in {duration(one.seconds)}"
    text.append(f"{certain}{f', {shares}' if shares else ''}{spent}", style="not dim")
    if one.line:
        text.append(f"\n  then {' '.join(map(_ply_text, one.line))}", style="not dim")
    text.append("\n")
    return text


def _ply_text(ply: LinePly) -> str:
    return f"[{ply.name}]" if ply.seat == CHANCE else ply.name
