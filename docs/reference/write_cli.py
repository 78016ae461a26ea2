"""Writes docs/reference/cli.md, the options of every command, from the commands themselves."""

from __future__ import annotations

from pathlib import Path

import click
import typer

from turnier.commands.app import SECTIONS, app

PAGE = Path(__file__).with_name("cli.md")
WIDTH = 100


def page() -> str:
    """Returns the page as it must be."""
    group = typer.main.get_command(app)
    parts = ["# Command line", f"Written by `python docs/reference/{Path(__file__).name}`."]
    with click.Context(group, info_name="turnier") as parent:
        for section, commands in SECTIONS.items():
            parts.append(f"## {section}")
            for name in commands:
                command = group.get_command(parent, name)  # type: ignore[attr-defined]
                context = _context(command, name, parent)
                parts.append(_help(command, context))
                for below in command.list_commands(context) if isinstance(command, click.Group) else ():
                    subcommand = command.get_command(context, below)
                    parts.append(_help(subcommand, _context(subcommand, below, context)))
    return "\n\n".join(parts) + "\n"


def _context(command: click.Command, name: str, parent: click.Context) -> click.Context:
    return click.Context(command, info_name=name, parent=parent, terminal_width=WIDTH, max_content_width=WIDTH)


def _help(command: click.Command, context: click.Context) -> str:
    level = "#" * (context.command_path.count(" ") + 2)
    return f"{level} {context.command_path}\n\n```text\n{command.get_help(context)}\n```"


if __name__ == "__main__":
    PAGE.write_text(page())
