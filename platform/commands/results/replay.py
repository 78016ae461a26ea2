"""`turnier replay`: a played game in the terminal, as a picture, GIF or video, or as an official log."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.live import Live
from rich.text import Text

from turnier.commands.options import DEFAULT_URL, StoreOption, writable_file
from turnier.core.errors import UserError
from turnier.core.number_text import number
from turnier.core.terminal.console import Console


def replay(
    match: Annotated[
        str, typer.Argument(help="a match's id or the beginning of it, an official log, or FILE:LINE of exported games")
    ],
    delay: Annotated[float, typer.Option(help="seconds between two positions", min=0, max=3600)] = 0.15,
    gif: Annotated[Path | None, typer.Option(help="write a GIF", callback=writable_file)] = None,
    mp4: Annotated[
        Path | None, typer.Option(help="write a video (needs: pip install 'turnier[video]')", callback=writable_file)
    ] = None,
    log: Annotated[Path | None, typer.Option(help="write an official spe_ed log", callback=writable_file)] = None,
    svg: Annotated[
        Path | None, typer.Option(help="write a picture of the final position", callback=writable_file)
    ] = None,
    overlay: Annotated[
        int | None,
        typer.Option(help="with --svg, for spe_ed: the position before this move, and what its agent computed", min=1),
    ] = None,
    store: StoreOption = DEFAULT_URL,
) -> None:
    """Replay a recorded game.

    The game comes from the store, a log of the official spe_ed server, or a line of exported games. It is shown in the
    terminal, or written to the files that options name.

    \b
    Examples:
      turnier replay 3f9a1c
      turnier replay 3f9a1c --gif game.gif --mp4 game.mp4 --log game.json
      turnier replay 3f9a1c --svg move.svg --overlay 120
      turnier replay log/2026-01-01T12:00:00Z-3f9a1c00aa11.json --delay 0.05
      turnier replay games.jsonl:3
    """
    from turnier.server.finished_game import find_game

    if overlay is not None and svg is None:
        raise UserError("--overlay draws into the file of --svg, got no --svg; add it.")
    console, played = Console(highlight=False), find_game(match, store)
    if svg is not None:
        picture = played.game.svg(played.states[-1]) if overlay is None else played.overlaid_board(overlay - 1)
        try:
            svg.write_text(picture, encoding="utf-8")
        except OSError as failure:
            raise UserError(f"--svg must name a file that can be written, got {failure}; choose another.") from None
    if gif is not None:
        from turnier.dashboards.figures.animation import write_gif

        write_gif(gif, played.game, played.states, max(20, int(1000 * delay)))
    if mp4 is not None:
        from turnier.dashboards.figures.animation import write_mp4

        write_mp4(mp4, played.game, played.states, max(20, int(1000 * delay)))
    if log is not None:
        from turnier.server.spe_ed.official_log import encode, write_lines

        write_lines(log, map(encode, played.official_log()))
    written = [path for path in (svg, gif, mp4, log) if path is not None]
    if written:
        console.print(f"{', '.join(map(str, written))}: {len(played.states)} positions", markup=False, soft_wrap=True)
        return
    if not console.is_terminal:
        for state in played.states:
            console.print(played.game.draw(state) + "\n", markup=False, soft_wrap=True)
    else:
        with Live(console=console, auto_refresh=False) as live:
            for state in played.states:
                live.update(Text(played.game.draw(state)), refresh=True)
                time.sleep(delay)
    if played.record and played.record.error:
        console.print(played.record.error, markup=False, soft_wrap=True, style="red")
    scores = played.record.scores if played.record else [None] * len(played.names)
    for seat, (name, score) in enumerate(zip(played.names, scores, strict=True)):
        console.print(
            f"seat {seat}: {name}" + ("" if score is None else f", {number(score)}"), markup=False, soft_wrap=True
        )
