"""`turnier verify`: checks a game's rules against recorded games."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from turnier.core.terminal.console import Console

if TYPE_CHECKING:
    from turnier.games.game import Game


def verify(
    game: Annotated[str, typer.Argument(help='the game whose rules are checked, such as 2048 or "2048(size=3)"')],
    files: Annotated[
        list[Path],
        typer.Argument(help="JSON lines: recorded or exported games, positions, or an official log of spe_ed"),
    ],
) -> None:
    """Check the rules of a game against recorded games.

    Replays games or positions. Exits with 0 if every line agrees; otherwise prints the first disagreement in a file and
    exits with 1.

    \b
    Examples:
      turnier export tournament:1f0c --out games.jsonl && turnier verify 2048 games.jsonl
      turnier verify 2048 tests/data/2048/moves.jsonl
    """
    from turnier.core.errors import require_regular_file
    from turnier.games.registry import make_game

    console, made = Console(), make_game(game)
    for file in files:
        require_regular_file(file, "a file of recorded games")
        lines, disagreement = _verified(made, file)
        if disagreement:
            console.print(f"{file}:{disagreement}", markup=False, soft_wrap=True)
            raise typer.Exit(1)
        console.print(f"{file}: all {lines} lines agree.", markup=False, soft_wrap=True)


def _verified(game: Game, file: Path) -> tuple[int, str | None]:
    """Returns the lines of a file of any of the formats, and its first disagreement as `line: sentence`, if any."""
    from turnier.arena.match_json import is_exported, verify_exported
    from turnier.games.verify import verify_file
    from turnier.server.spe_ed.log_check import is_official_log, verify_log

    if is_exported(file):
        return verify_exported(game, file)
    if is_official_log(file):
        return verify_log(game, file)
    return verify_file(game, file)
