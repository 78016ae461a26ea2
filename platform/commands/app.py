"""The `turnier` command: a table of its commands, each of which is imported when it is called.

`turnier --help`, `--version` and completion read the table alone. A command's module, too, imports what plays only
when the command runs, so that its `--help` is there at once.
"""

from __future__ import annotations

import importlib
import warnings
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import turnier
from turnier.commands.command_line import run_app
from turnier.core.errors import AgentsFailed, unknown

SECTIONS: dict[str, dict[str, tuple[str, str]]] = {  # heading -> command -> module, first line of its help
    "Games and agents": {
        "games": ("catalogue", "List the games, or the parameters of one."),
        "agents": ("catalogue", "List the agents, evaluators and learning methods, or the parameters of one."),
        "new": ("own.new", "Create a small working game, agent, evaluator or sampler of your own, with a test."),
        "check": ("own.check", "Check that a game, agent, evaluator or sampler keeps its laws."),
    },
    "Play": {
        "play": ("runs.play", "Play one match and show how it ends, or take a seat yourself."),
        "analyse": (
            "positions.analyse",
            "Show what agents think of a position: values, visits, certainty and the expected line.",
        ),
        "move": ("positions.move", "Show the best move in any position, with every move's value and chances."),
        "tournament": ("=tournament", "Play a tournament and rate its agents."),
        "compare": ("=comparison", "Have two agents play until it is clear which is stronger."),
        "certainty": ("=certainty", "Measure how often searches of the same position agree."),
        "judge": ("=judging", "Measure how often agents play a perfect move, where perfect play is known."),
    },
    "Improve": {
        "tune": ("runs.tune", "Search for the parameters with which an agent plays best."),
        "train": ("training.train", "Train an n-tuple network by self-play, or a deep network."),
        "tables": ("machine.tables", "Solve the formation tables of 2048 for the agent formations."),
        "samplers": ("catalogue", "List the samplers of turnier tune, or the parameters of one."),
        "noises": (
            "catalogue",
            "List the noise strategies of turnier tune, or the parameters of one.",
        ),
    },
    "Results": {
        "results": ("results.results", "Show scores, ratings and pairwise results."),
        "versions": ("results.versions", "List the stored versions of your code, with their ratings over time."),
        "status": ("results.status", "Show running and past runs."),
        "workers": ("workers.workers", "Show which machines have played a run, and whether their games differ."),
        "note": ("results.note", "Attach a note to a run."),
        "rename": ("results.rename", "Rename a run."),
        "delete": ("results.delete", "Delete a run from the store."),
        "purge": ("workers.purge", "Delete the games of a run that one machine has played."),
        "dashboard": ("services.dashboard", "Show the contents of the store in the browser."),
        "board": ("services.board", "Replay, play and analyse games in the browser."),
        "replay": ("results.replay", "Replay a recorded game."),
        "report": ("results.report", "Write a report on measured and published figures, or on one run."),
        "export": ("results.export", "Write the games of a run to files."),
        "verify": (
            "results.verify",
            "Check recorded games against the rules, or play a sample of a run again.",
        ),
        "archive": ("runs.archive", "Write the games of a run to an archive, or bring them back."),
    },
    "Games with other programs": {
        "serve": (
            "services.serve",
            "Serve spe_ed games with a live page, or the best moves in any game, over the network.",
        ),
        "join": ("services.join", "Have an agent play on a spe_ed server."),
        "engine": ("services.engine", "Run an agent as an engine for another program, over standard input and output."),
        "check-engine": ("services.check_engine", "Check that an engine keeps the laws of its protocol."),
    },
    "This machine": {
        "doctor": ("machine.doctor", "Check that Turnier has what it needs, and say how to fix what fails."),
        "bench": ("machine.bench", "Measure speed relative to C reference programs."),
    },
}
COMMANDS = {name: place for commands in SECTIONS.values() for name, place in commands.items()}
PLANNED = {name: place[1:] for name, (place, _) in COMMANDS.items() if place[0] == "="}  # command -> kind of its runs


class CommandTable(TyperGroup):
    """The commands of the table; a command's function has its name, with _ for -, or is generated from a plan."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        module, summary = COMMANDS[cmd_name]
        if cmd_name in PLANNED:
            from turnier.commands.planned import command_of

            function = command_of(PLANNED[cmd_name], cmd_name)
        else:
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
    warnings.simplefilter("ignore", AgentsFailed)  # commands print it at their end
    if show:
        print(f"turnier {turnier.__version__}")
        raise typer.Exit()


def main() -> None:
    run_app(app)
