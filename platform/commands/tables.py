"""Tables of agents for a terminal, apart from those of runs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import rich.console
from rich import box
from rich.console import ConsoleOptions, RenderResult
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from ..agents.agent import Agent
    from ..games.game import Game

AGENT_WIDTH = 20  # a column of agents shrinks to this if the table is too wide


def units_text(game: Game, agents: Iterable[Agent]) -> str:
    """Names the unit of the agents' values; each agent's if they differ."""
    named: dict[str, dict[str, None]] = {}
    for agent in agents:
        named.setdefault(agent.value_unit(game).text, {})[str(agent)] = None
    if len(named) == 1:
        return next(iter(named))
    return "; ".join(f"{text} ({', '.join(those)})" for text, those in named.items())


class AgentText:
    """An agent's text form in a cell of a table: lines break after commas and brackets, not within a word."""

    def __init__(self, text: str) -> None:
        self.pieces = re.findall(r"[^,(]*[,(]+|[^,(]+$", text)

    def __rich_measure__(self, console: rich.console.Console, options: ConsoleOptions) -> Measurement:
        longest = max(map(len, self.pieces), default=0)
        return Measurement(min(longest + 1, AGENT_WIDTH), min(sum(map(len, self.pieces)), options.max_width))

    def __rich_console__(self, console: rich.console.Console, options: ConsoleOptions) -> RenderResult:
        lines = [""]
        for piece in self.pieces:
            for part in [piece] if len(piece) < options.max_width else re.findall(r"[^=]+=*", piece):
                if lines[-1] and len(lines[-1]) + len(part) > options.max_width:
                    lines.append(" ")  # continuation lines begin one column later
                lines[-1] += part
        yield Text("\n".join(lines), overflow="fold")


def agent_table(title: str, *headings: str, caption: str | None = None, numbered: bool = False) -> Table:
    """Returns an empty table of agents, narrow enough for eight columns of numbers in 80 characters."""
    shown = Table(title=escape(title), caption=caption and escape(caption), box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    if numbered:
        shown.add_column("", justify="right", no_wrap=True)
    shown.add_column("agent", overflow="fold", min_width=16)
    for heading in headings:
        shown.add_column(heading, justify="right", no_wrap=True)
    return shown
