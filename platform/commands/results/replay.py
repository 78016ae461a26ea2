"""Shows a played game in the terminal, or writes it as a picture, film or official log."""

from __future__ import annotations

import time
from pathlib import Path

from rich.live import Live
from rich.text import Text

from ...core.errors import UserError
from ...core.number_text import number
from ...core.terminal.console import Console
from ...server.finished_game import FinishedGame, find_game


def replay(match: str, store: str, delay: float, out: Path | None, overlay: int | None) -> None:
    """Shows a match, or writes it.

    Args:
        match: its id or the beginning of it, an official log, or FILE:LINE of exported games.
        store: the URL of the store.
        delay: seconds between two positions.
        out: a file ending in .gif, .mp4, .svg (the final position) or .json (an official spe_ed log).
        overlay: draw the position before this move, with the computations of its agent.
    """
    console, played = Console(highlight=False), find_game(match, store)
    if out is not None:
        _write(played, out, delay, overlay)
        console.print(f"{out}: {len(played.states)} positions", markup=False, soft_wrap=True)
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


def _write(played: FinishedGame, out: Path, delay: float, overlay: int | None) -> None:
    from turnier.dashboards.figures.animation import write_gif, write_mp4

    from ...server.spe_ed.official_log import encode, lines_of, log_of, write_lines

    if out.suffix == ".svg":
        picture = played.game.svg(played.states[-1]) if overlay is None else played.overlaid_board(overlay - 1)
        try:
            out.write_text(picture, encoding="utf-8")
        except OSError as failure:
            raise UserError(f"--out must name a file that can be written, got {failure}; choose another.") from None
    elif out.suffix == ".json":
        lines = log_of(played.record) if played.record else lines_of(played.names, played.states)
        write_lines(out, map(encode, lines))
    else:
        write = write_gif if out.suffix == ".gif" else write_mp4
        write(out, played.game, played.states, max(20, int(1000 * delay)))
