"""`turnier spe_ed`: games of spe_ed over the network; its subcommands have modules of their own."""

from __future__ import annotations

import typer

from ...core.terminal.visible import say


def spe_ed(context: typer.Context) -> None:
    """Serve games of spe_ed with a live page, or join a server with an agent.

    \b
    Examples:
      turnier spe_ed serve --keys keys.txt
      turnier spe_ed join --key secret --agent combi
    """
    if context.invoked_subcommand is None:
        say(context.get_help())
