"""`turnier verify`: checks a game's rules against recorded games, or a run's games by playing some again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from turnier.commands.options import DEFAULT_URL, StoreOption
from turnier.core.terminal.console import Console

if TYPE_CHECKING:
    from turnier.games.game import Game


def verify(
    game: Annotated[
        str,
        typer.Argument(
            metavar="GAME|RUN",
            help='the game whose rules are checked, such as 2048 or "2048(size=3)"; with --sample: the run',
        ),
    ],
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="JSON lines: recorded or exported games, positions, or an official log of spe_ed"),
    ] = None,
    sample: Annotated[
        str, typer.Option(help="play this share of a run's games again here, such as 5%, and compare them")
    ] = "",
    store: StoreOption = DEFAULT_URL,
) -> None:
    """Check recorded games against the rules, or play a sample of a run again.

    Replays games or positions. Exits with 0 if every line agrees; otherwise prints the first disagreement in a file and
    exits with 1.

    With --sample, a share of a run's games is played again on this machine, and the command says how many are the same
    and which machines have played the others; if there are any, it exits with 1. Games that seeds do not decide are
    left out: those of programs, of agents that a clock stops, and of code that is not Turnier's own.

    \b
    Examples:
      turnier verify last --sample 5%
      turnier show tournament:1f0c --out games.jsonl && turnier verify 2048 games.jsonl
      turnier verify 2048 tests/data/2048/moves.jsonl
    """
    from turnier.core.errors import UserError, require_regular_file
    from turnier.games.registry import make_game

    if bool(sample) == bool(files):
        raise UserError("turnier verify must have either files of games or --sample; name one of them.")
    if sample:
        from turnier.commands.workers.sample import verify_sample

        return verify_sample(game, sample, store)
    console, made = Console(), make_game(game)
    for file in files or ():
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
