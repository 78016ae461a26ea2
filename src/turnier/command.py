"""What every command line here does: run, turn mistakes into one sentence, and end cleanly."""

from __future__ import annotations

import shlex
import sys

import typer

from turnier.games.errors import UserError


def run_app(app: typer.Typer) -> None:
    """Runs a command line: exit 2 with one sentence for a user's mistake, 130 with what to type after Ctrl-C."""
    try:
        app()
    except UserError as error:
        print(f"Error: {error}", file=sys.stderr)
        sys.exit(2)
    except SystemExit as end:
        if end.code != 130:  # what typer makes of Ctrl-C
            raise
        command = shlex.join([*_program(), *sys.argv[1:]])
        print(f"\nStopped; finished games are stored. To go on, type: {command}", file=sys.stderr)
        raise


def _program() -> list[str]:
    return ["python", sys.argv[0]] if sys.argv[0].endswith(".py") else ["turnier"]
