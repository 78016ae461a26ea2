"""The `turnier` command: a table of its commands, each of which is imported when it is called.

`turnier --help`, `--version` and completion read the table alone. A command's module, too, imports what plays only
when the command runs, so that its `--help` is there at once.
"""

from __future__ import annotations

import importlib
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import turnier
from turnier.commands.command_line import run_app
from turnier.core.errors import unknown

SECTIONS: dict[str, dict[str, tuple[str, str]]] = {  # heading -> command -> module, first line of its help
    "Games and agents": {
        "games": ("catalogue", "List the games, or the parameters of one."),
        "agents": ("catalogue", "List the agents, evaluators and learning methods, or the parameters of one."),
        "new": ("own.new", "Write a small working game, agent, evaluator or sampler of your own, and its test."),
        "check": ("own.check", "Check that a game, agent, evaluator or sampler keeps its laws."),
    },
    "Play": {
        "play": ("runs.play", "Play one match and show how it ends, or play yourself."),
        "analyse": (
            "positions.analyse",
            "Show what agents say of a position: values, visits, certainty and what they expect.",
        ),
        "move": ("positions.move", "Say the best move of any position, with every move's value and its chances."),
        "tournament": ("runs.tournament", "Play a tournament and rate its agents."),
        "compare": ("runs.compare", "Play two agents until it is decided which is stronger."),
        "certainty": ("runs.certainty", "Measure how often searches of the same position agree."),
        "judge": ("runs.judge", "Measure how often agents play a perfect move, where perfect play is known."),
    },
    "Improve": {
        "tune": ("runs.tune", "Search for the parameters with which an agent plays best."),
        "train": ("training.train", "Train n-tuple networks by self-play, or a deep network."),
        "tables": ("machine.tables", "Solve formation tables of 2048, for the agent formations."),
        "samplers": ("catalogue", "List the samplers of turnier tune, or the parameters of one."),
        "noises": (
            "catalogue",
            "List how often candidates may play in turnier tune, or the parameters of one strategy.",
        ),
    },
    "Results": {
        "results": ("results.results", "Show scores, ratings and pairwise results."),
        "versions": ("results.versions", "List the stored versions of your code, with their ratings over time."),
        "status": ("results.status", "Show running and past runs."),
        "note": ("results.note", "Keep a note about a run."),
        "rename": ("results.rename", "Give a run another name."),
        "delete": ("results.delete", "Delete a run from the store."),
        "dashboard": ("services.dashboard", "Show everything stored in the browser."),
        "board": ("services.board", "Replay, play and analyse games in the browser."),
        "replay": ("results.replay", "Show a played game again."),
        "report": ("results.report", "Write a page of measured and published figures, or of one run."),
        "export": ("results.export", "Write the games of a run to files."),
        "verify": ("results.verify", "Check the rules of a game against recorded games."),
    },
    "Games with other programs": {
        "serve": (
            "services.serve",
            "Serve games of spe_ed with a live page, or the best moves of any game, over the network.",
        ),
        "join": ("services.join", "Play on a server with one of our agents."),
        "engine": ("services.engine", "Be an engine that another program plays with, over standard input and output."),
        "check-engine": ("services.check_engine", "Check that an engine keeps the laws of its protocol."),
    },
    "This machine": {
        "doctor": ("machine.doctor", "Check what Turnier needs, and say what to do."),
        "bench": ("machine.bench", "Measure speed relative to C reference programs."),
    },
}
COMMANDS = {name: place for commands in SECTIONS.values() for name, place in commands.items()}


class CommandTable(TyperGroup):
    """The commands of the table; a command's function has its name, with _ for -."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        module, summary = COMMANDS[cmd_name]
        function = getattr(importlib.import_module(f"turnier.commands.{module}"), cmd_name.replace("-", "_"))
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(cmd_name, short_help=summary)(function)
        return typer.main.get_command(single)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] not in COMMANDS and not args[0].startswith("-") and not ctx.resilient_parsing:
            raise unknown("command", args[0], COMMANDS)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        width = max(map(len, COMMANDS))
        for heading, commands in SECTIONS.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), summary) for name, (_, summary) in commands.items()])


app = typer.Typer(
    cls=CommandTable,
    no_args_is_help=True,
    invoke_without_command=True,
    rich_markup_mode=None,
    help="Tournaments and parameter search for game-playing agents.",
    epilog="turnier COMMAND --help shows the options of a command, with examples.",
)


@app.callback()
def version(show: Annotated[bool, typer.Option("--version", help="print the version", is_eager=True)] = False) -> None:
    if show:
        print(f"turnier {turnier.__version__}")
        raise typer.Exit()


def main() -> None:
    run_app(app)
