"""`turnier tables`: solves formation tables of 2048 into a file, and resumes where it stopped."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Annotated

import typer

from ...core.errors import UserError
from ...core.terminal.console import Console
from ..options import WorkersOption, writable_file


def tables(
    game: Annotated[str, typer.Argument(help="2048, the only game with formation tables")],
    out: Annotated[Path, typer.Option(help="file for the tables", callback=writable_file)],
    size: Annotated[str, typer.Option(help="tiny (tests), small (7 GB), medium (16 GB) or large (48 GB)")] = "small",
    workers: WorkersOption = None,
) -> None:
    """Solve the formation tables of 2048 for the agent formations.

    The agent uses them to keep large tiles in place. Solving takes as much disk space as the file and little memory;
    playing is fast if the file fits into memory, where all processes of a machine share it. Repeat the command to
    resume after a stop; for a finished file, it checks every byte.

    \b
    Examples:
      turnier tables 2048 --out small.tables
      turnier tournament 2048 "formations(table=small.tables)"
    """
    from ...agents.formations import table_file
    from ...agents.formations.sizes import FORMATIONS, SIZES
    from ...agents.formations.solver import Solver
    from ...core.text_form import parse
    from ...games.registry import make_game
    from ...runs.bar import game_bar

    if make_game(str(parse(game))) != make_game("2048"):
        raise UserError(f"formation tables exist only for 2048 on its 4x4 board, got {game}; write 2048.")
    if size not in SIZES:
        raise UserError(f"--size must be one of {', '.join(SIZES)}, got {size}.")
    console = Console()
    with game_bar("laying out", 1, unit="files") as bar:
        solver = Solver(out, FORMATIONS[size], os.cpu_count() or 1 if workers is None else workers)
        bar.advance(1)
    if out.exists():
        digest = table_file.read_digest(out)
        with game_bar("checking", out.stat().st_size, unit="bytes") as bar:
            head = table_file.check(out, bar.advance)
        if head != solver.head:
            raise UserError(
                f"{out} is undamaged, but differs from the tables of --size {size} that this version solves:"
                f" its digest is {digest}; give its --size, or choose another --out."
            )
        console.print(f"{out} is finished and undamaged: digest {digest}", soft_wrap=True, highlight=False)
        return
    with game_bar(f"solving {size}", solver.states, unit="states") as bar:
        digest = solver.solve(bar.skip, bar.advance)
    console.print(f"{out}: {solver.states:,} states, digest {digest}", soft_wrap=True, highlight=False)
    console.print(f"To play with it: turnier tournament 2048 {shlex.quote(f'formations(table={out})')}", soft_wrap=True)
