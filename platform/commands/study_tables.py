"""What a study found, as a table of parameters."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console
from rich.table import Table

from turnier.agents.agent import Agent
from turnier.search.study import Study


def print_parameters(console: Console, study: Study, agents: Mapping[str, Agent]) -> None:
    """Prints the searched parameters of the named agents, and each agent's text form."""
    table = Table(title="searched parameters")
    table.add_column("parameter")
    values = [study.space.of_agent(agent) for agent in agents.values()]
    for label in agents:
        table.add_column(label, justify="right")
    for dimension in study.space.dimensions:
        row = [v.get(dimension.path, "") for v in values]  # a baseline may have another evaluator
        table.add_row(dimension.path, *(f"{x:.4f}" if isinstance(x, float) else str(x).lower() for x in row))
    console.print(table)
