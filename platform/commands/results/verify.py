"""`turnier verify`: checks a game's rules against recorded games."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console


def verify(
    game: Annotated[str, typer.Argument(help='the game whose rules are checked, such as 2048 or "2048(size=3)"')],
    files: Annotated[list[Path], typer.Argument(help="JSON lines: recorded or exported games, or positions")],
) -> None:
    """Check the rules of a game against recorded games.

    Replays games or positions; exits with 0 if every line agrees, otherwise prints the first disagreement of a file
    and exits with 1.

    \b
    Examples:
      turnier export tournament:1f0c --out games.jsonl && turnier verify 2048 games.jsonl
      turnier verify 2048 tests/data/2048/moves.jsonl
    """
    from turnier.arena.match_json import is_exported, verify_exported
    from turnier.games.registry import make_game
    from turnier.games.verify import verify_file

    console, made = Console(), make_game(game)
    for file in files:
        lines, disagreement = (verify_exported if is_exported(file) else verify_file)(made, file)
        if disagreement:
            console.print(f"{file}:{disagreement}", markup=False, soft_wrap=True)
            raise typer.Exit(1)
        console.print(f"{file}: all {lines} lines agree.", soft_wrap=True)
