"""Games as GIFs and videos of their boards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from io import BytesIO
from itertools import chain
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from turnier.arena.match import MatchRecord
from turnier.core.errors import UserError, require_extra
from turnier.games.drawing import PAPER
from turnier.games.game import Game, Ints
from turnier.server.finished_game import of_record

SIDE = 600  # pixels of the longer side of a board
MILLISECONDS = 120  # per board in a film of a match
LAST = 2000  # milliseconds for the final board


def frames(game: Game, states: Sequence[Ints]) -> Iterator[Image.Image]:
    """Yields a picture of each position's board, all of the same size."""
    boxes = np.array([_size(game.svg(state)) for state in states])
    scale = SIDE / boxes.max()
    width, height = np.ceil(scale * boxes.max(axis=0)).astype(int).tolist()
    return (_frame(game.svg(state), scale, (width, height)) for state in states)


def _size(svg: str) -> tuple[float, float]:
    """Returns the width and height of a board's view box."""
    _, _, width, height = svg.partition('viewBox="')[2].partition('"')[0].split()
    return float(width), float(height)


def _frame(svg: str, scale: float, size: tuple[int, int]) -> Image.Image:
    import vl_convert  # it brings a JavaScript engine: much memory for those that draw no film

    width, height = _size(svg)
    sized = svg.replace("<svg", f'<svg width="{scale * width:g}" height="{scale * height:g}"', 1)
    board = Image.open(BytesIO(vl_convert.svg_to_png(sized, ppi=72)))
    image = Image.new("RGB", size, "#ffffff")
    image.paste(board, mask=board)
    return image


def write_gif(path: Path, game: Game, states: Sequence[Ints], milliseconds: int) -> None:
    """Writes a game, one frame per position; raises UserError if the file cannot be written."""
    first, *others = (image.quantize(64, dither=Image.Dither.NONE) for image in frames(game, states))
    times = [milliseconds] * len(others) + [LAST]
    try:
        first.save(path, "GIF", save_all=True, append_images=others, duration=times, loop=0)
    except OSError as failure:
        raise UserError(f"a GIF must be written to a folder with room, got {failure}; choose another.") from None


def write_mp4(path: Path, game: Game, states: Sequence[Ints], milliseconds: int) -> None:
    """Writes a game as a video for browsers (H.264), one frame per position; raises UserError if it cannot."""
    require_extra("a video", "video", "av")
    import av

    try:
        with av.open(str(path), "w", format="mp4", options={"movflags": "faststart"}) as file:
            stream = file.add_stream("libx264", rate=Fraction(1000, milliseconds), options={"crf": "18"})
            images = map(_even, frames(game, states))
            first = next(images)
            stream.pix_fmt, stream.width, stream.height = "yuv420p", *first.size
            for image in chain((first,), images):
                file.mux(stream.encode(av.VideoFrame.from_image(image)))
            file.mux(stream.encode(None))
    except OSError as failure:
        raise UserError(f"a video must be written to a folder with room, got {failure}; choose another.") from None


def write_film(path: Path, record: MatchRecord) -> None:
    """Writes a stored match as a GIF or a video, depending on the file's ending."""
    match = of_record(record)
    write = write_gif if path.suffix == ".gif" else write_mp4
    write(path, match.game, match.states, MILLISECONDS)


def _even(image: Image.Image) -> Image.Image:
    """Returns a picture with even sides, which videos need, adding a line on the right or below."""
    width, height = image.size
    return ImageOps.expand(image, (0, 0, width % 2, height % 2), PAPER)
