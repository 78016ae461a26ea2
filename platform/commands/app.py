"""The `turnier` command: a table of its commands; each is imported when it is called.

`turnier --help`, `--version` and completion read only the table. A command's module imports the code that plays only
when the command runs, to keep its `--help` fast.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Annotated, Any, ClassVar

import typer
from typer.core import TyperGroup

from .. import __version__
from ..core.errors import AgentsFailed, UserError, unknown
from ..runs.declared.kinds import KINDS
from .command_line import run_app

Table = dict[str, tuple[str, str]]  # command -> its module (empty: generated from a plan), first line of its help
SECTIONS: dict[str, Table] = {  # by heading
    "Look": {
        "list": ("listing", "List games, agents and everything else that has a name, or the parameters of one."),
        "show": ("results.show", "Show a run, a match, your versions of a bot, or the ratings of a game."),
        "runs": ("results.runs", "List the runs of a store; annotate, rename, archive or delete one."),
        "dashboard": ("services.dashboard", "Show the contents of the store in the browser."),
        "board": ("services.board", "Replay, play and analyse games in the browser."),
    },
    "Play": {
        "play": ("runs.play", "Play one match and show how it ends, or take a seat yourself."),
        "analyse": (
            "positions.analyse",
            "Show what agents think of a position: values, visits, certainty and the expected line.",
        ),
    },
    "Improve": {
        "tables": ("machine.tables", "Solve the formation tables of 2048 for the agent formations."),
    },
    "Your own code": {
        "new": ("own.new", "Create a small working game, agent, evaluator or sampler of your own, with a test."),
        "check": ("own.check", "Check that a class, an engine or recorded games keep their laws."),
    },
    "Other programs": {
        "engine": ("services.engine", "Run an agent as an engine for another program."),
        "spe_ed": ("services.spe_ed", "Serve games of spe_ed with a live page, or join a server with an agent."),
    },
    "This machine": {
        "doctor": ("machine.doctor", "Check that everything Turnier needs works, and say how to fix what does not."),
        "upgrade": ("machine.upgrade", "Convert a store of an earlier version to the current format."),
    },
}
PLANNED: dict[str, list[str]] = {}  # command -> the kinds of runs that it plays
for kind, known in KINDS.items():
    PLANNED.setdefault(known.command, []).append(kind)
    SECTIONS[known.heading].setdefault(known.command, ("", known.summary))
COMMANDS: Table = {name: place for commands in SECTIONS.values() for name, place in commands.items()}
GROUPS: dict[str, Table] = {  # command -> its subcommands
    "runs": {
        "note": ("results.note", "Attach a note to a run."),
        "rename": ("results.rename", "Rename a run."),
        "alias": ("results.alias", "Give agents of the store short names, by which they are then shown."),
        "delete": ("results.delete", "Delete a run from the store."),
        "archive": ("runs.archive", "Write the games of a run to an archive, or restore them."),
        "workers": ("workers.workers", "Show the machines that played a run, and whether their games differ."),
        "purge": ("workers.purge", "Delete the games that one machine has played in a run."),
    },
    "spe_ed": {
        "serve": ("services.serve", "Serve spe_ed games with a live page."),
        "join": ("services.join", "Play on a spe_ed server with an agent."),
    },
}
NOW = {  # a command of earlier versions -> its present form
    **{name: f"list {name}" for name in ("games", "agents", "samplers", "noises")},
    **{name: f"runs {name}" for name in ("note", "rename", "delete", "archive", "workers", "purge")},
    "status": "runs",
    "results": "show",
    "versions": "show",
    "replay": "show",
    "replicate": "tournament --times",
    "move": "analyse GAME --best",
    "check-engine": "check COMMAND",
    "verify": "check FILE",
    "export": "show RUN --out",
    "report": "show RUN --html",
    "serve": "spe_ed serve",
    "join": "spe_ed join",
    "bench": "make bench, in a checkout",
}


def function_of(name: str, group: str = "") -> Callable[..., Any]:
    """Returns a command's function: the one of its name, with _ for -, or the one generated from a plan."""
    if name in PLANNED and not group:
        from .runs.planned import command_of

        return command_of(PLANNED[name], name)
    place, _ = (GROUPS[group] if group else COMMANDS)[name]
    module = importlib.import_module(f"turnier.commands.{place}")
    function: Callable[..., Any] = getattr(module, NAMES.get(name, name).replace("-", "_"))
    return function


NAMES = {"list": "list_names"}  # commands whose functions cannot have their names


class CommandTable(TyperGroup):
    """The commands of the table, or the subcommands of one."""

    group: ClassVar[str] = ""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(GROUPS[self.group] if self.group else COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.list_commands(ctx):
            return None
        _, summary = (GROUPS[self.group] if self.group else COMMANDS)[cmd_name]
        function = function_of(cmd_name, self.group)
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        if not self.group and cmd_name in GROUPS:
            group = type("Group", (CommandTable,), {"group": cmd_name})
            single.callback(cls=group, invoke_without_command=True, short_help=summary)(function)
            found = typer.main.get_group(single)
            found.name = cmd_name
            return found
        single.command(cmd_name, short_help=summary)(function)
        return typer.main.get_command(single)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        known = self.list_commands(ctx)
        if args[0] not in known and not args[0].startswith("-") and not ctx.resilient_parsing:
            if not self.group and args[0] in NOW:
                now = NOW[args[0]] if " in a checkout" in NOW[args[0]] else f"turnier {NOW[args[0]]}"
                raise UserError(f"turnier {args[0]} is now {now}; see turnier --help.")
            raise unknown("command", f"{self.group} {args[0]}".strip(), known)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        shown = {"Subcommands": GROUPS[self.group]} if self.group else SECTIONS
        width = max(len(name) for commands in shown.values() for name in commands)
        for heading, commands in shown.items():
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
    warnings.simplefilter("ignore", AgentsFailed)  # commands print these themselves
    if show:
        print(f"turnier {__version__}")
        raise typer.Exit()


def main() -> None:
    run_app(app)
