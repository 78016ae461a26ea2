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
                context = click.Context(
                    command, info_name=name, parent=parent, terminal_width=WIDTH, max_content_width=WIDTH
                )
                parts.append(f"### turnier {name}\n\n```text\n{command.get_help(context)}\n```")
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
