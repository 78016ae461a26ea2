"""An analysis as a table for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from ...agents.registry import agent_of
from ...arena.analysis import AgentAnalysis, Analysis, Goal, MoveOutlook, Outlook
from ...core.number_text import duration, estimate, number, plus_minus
from ...games.abi import CHANCE
from ...games.game import Position
from ...server.analysis_data import measures
from ..tables import AgentText, units_text

COLUMNS = 3  # agents side by side
CELL_WIDTH = 17  # of an agent: a value, and the visits in brackets


def analysis_text(found: Analysis, top: int) -> Group:
    """Returns tables of the `top` best moves with all agents' values and visits, and each agent's summary in words."""
    parts: list[Any] = [Text(f"{found.position}\n{_to_move(found)}")]
    moves = ranked(found.agents)
    for first in range(0, len(found.agents), COLUMNS):
        outlook = None if first else found.outlook
        parts.append(_table(found.position, found.agents[first : first + COLUMNS], moves[:top], outlook))
    if len(moves) > top:
        parts.append(Text(f"{len(moves) - top} more moves; --top shows more.\n"))
    parts += [_said(found, one) for one in found.agents]
    if found.outlook:
        parts.append(Text(_said_of_games(found.outlook)))
    return Group(*parts)


def ranked(agents: Sequence[AgentAnalysis]) -> list[int]:
    """Returns indices of legal actions, the first agent's best action first."""
    first = agents[0]
    tried = [visits > 0 for visits in first.visits]
    return sorted(range(len(first.legal)), key=lambda i: (-first.votes[i], -tried[i], -first.values[i]))


def _to_move(found: Analysis) -> str:
    units = units_text(found.position.game, (agent_of(one.agent) for one in found.agents))
    return f"Seat {found.position.to_move} is to move. Values: {units}. In brackets: visits.\n"


def _table(
    position: Position, agents: Sequence[AgentAnalysis], places: Sequence[int], outlook: Outlook | None
) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("move", overflow="fold", max_width=22)
    for one in agents:
        table.add_column(AgentText(one.searching), justify="right", max_width=CELL_WIDTH, overflow="fold")
    for heading in _headings(outlook):
        table.add_column(heading, justify="right")
    for place in places:
        cells = [_cell(one, place) for one in agents]
        played = _cells_of_games(outlook.moves[place], outlook.goal) if outlook else []
        table.add_row(position.game.move_text(position.state, agents[0].legal[place]), *cells, *played)
    return table


def _headings(outlook: Outlook | None) -> list[str]:
    if outlook is None:
        return []
    return [*([f"chance of {outlook.goal}"] if outlook.goal else []), "result", "games"]


def _cells_of_games(one: MoveOutlook, goal: Goal | None) -> list[str]:
    n, (mean, half) = len(one.results), one.result
    share, low, high = one.chance
    chance = estimate(100 * share, 100 * low, 100 * high, " %") if n else "-"
    return [*([chance] if goal else []), plus_minus(mean, half) if n > 1 else number(mean) if n else "-", str(n)]


def _said_of_games(outlook: Outlook) -> str:
    if outlook.games:
        return (
            f"Chances and results, with 95 % intervals, are of games that {outlook.player} continued from every move."
        )
    return "No round of games ended in time; raise --game-seconds, or choose a faster --games-by."


def _cell(one: AgentAnalysis, place: int) -> Text:
    """Returns the value and the visits of a move; the agent's choice is bold and has an asterisk."""
    chosen = one.legal[place] == one.best
    text = "-"
    if one.visits[place]:
        text = f"{number(one.values[place] * one.unit.scale)} ({number(one.visits[place])})"
    return Text(f"{text} *" if chosen else f"{text}  ", style="bold" if chosen else "")


def _said(found: Analysis, one: AgentAnalysis) -> Text:
    """Returns an agent's move, its certainty, and the expected line."""
    position, low, high = found.position, one.certainty_interval.low, one.certainty_interval.high
    text = Text(f"{one.searching}: ", style="dim")
    text.append(position.game.move_text(position.state, one.best), style="bold not dim")
    shares = ", ".join(f"{name} {number(100 * value)} %" for name, value in measures(one).items())
    certain = f", certainty {number(100 * one.certainty)} % ({number(100 * low)} to {number(100 * high)})"
    certain = f"{certain} of {one.searches} searches" if one.searches > 1 else ""
    spent = f", {number(one.nodes)} nodes in {duration(one.seconds)}"
    text.append(f"{certain}{f', {shares}' if shares else ''}{spent}", style="not dim")
    if one.line:
        plies = [f"[{ply.name}]" if ply.seat == CHANCE else ply.name for ply in one.line]
        text.append(f"\n  then {' '.join(plies)}", style="not dim")
    text.append("\n")
    return text
