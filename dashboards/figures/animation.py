"""Games as GIFs and videos: boards of spe_ed in colours, those of other games as the text that the terminal shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
from PIL import Image, ImageColor, ImageDraw, ImageFont, ImageOps

from turnier.core.errors import UserError
from turnier.games.drawing import INK, PAPER, SEAT_COLOURS
from turnier.games.game import Game, Ints
from turnier.games.spe_ed.board import ACTIVE, HEIGHT, PLAYERS, ROUND, WIDTH, X, Y
from turnier.games.spe_ed.messages import cells_of

OUT = "#555555"  # whose player is
SIDE = 600  # about so many pixels has the longer side of a board
LAST = 2000  # milliseconds that the end is shown


def _mixed(colour: str, share: float) -> tuple[int, ...]:
    pair = zip(ImageColor.getrgb(colour), ImageColor.getrgb(PAPER), strict=True)
    return tuple(round(share * a + (1 - share) * b) for a, b in pair)


def board_image(state: Ints) -> Image.Image:
    """Returns a board of spe_ed as a picture."""
    width, height = int(state[WIDTH]), int(state[HEIGHT])
    side = max(4, SIDE // max(width, height))
    table = np.array([_mixed(PAPER, 1), *(_mixed(c, 0.62) for c in SEAT_COLOURS), _mixed(INK, 1)], np.uint8)
    pixels = np.ascontiguousarray(table[cells_of(state)])  # -1, a crash, is the last colour
    image = Image.fromarray(pixels, "RGB").resize((side * width, side * height), Image.Resampling.NEAREST)
    pen = ImageDraw.Draw(image)
    for seat in range(int(state[PLAYERS])):
        x, y = side * int(state[X + seat]), side * int(state[Y + seat])
        pen.rectangle((x, y, x + side - 1, y + side - 1), fill=SEAT_COLOURS[seat] if state[ACTIVE + seat] else OUT)
    pen.text((4, 2), f"round {state[ROUND]}", fill="#000000")
    return image


def text_image(game: Game, size: tuple[int, int], state: Ints) -> Image.Image:
    """Returns a position as a picture of its text."""
    image = Image.new("RGB", size, "#ffffff")
    ImageDraw.Draw(image).multiline_text((10, 10), game.draw(state), fill="#1d2430", font=_font())
    return image


def _font() -> ImageFont.FreeTypeFont:
    from matplotlib.font_manager import findfont

    return ImageFont.truetype(findfont("DejaVu Sans Mono"), 15)


def frames(game: Game, states: Sequence[Ints]) -> Iterator[Image.Image]:
    """Returns a picture for each position, all of one size."""
    if game.name == "spe_ed":
        return map(board_image, states)
    pen = ImageDraw.Draw(Image.new("RGB", (1, 1)))
    boxes = [pen.multiline_textbbox((10, 10), game.draw(state), font=_font()) for state in states]
    size = (int(max(box[2] for box in boxes)) + 10, int(max(box[3] for box in boxes)) + 10)
    return map(partial(text_image, game, size), states)


def write_gif(path: Path, game: Game, states: Sequence[Ints], milliseconds: int) -> None:
    """Writes a game, a frame a position; raises UserError where the file cannot be written."""
    first, *others = (image.quantize(64, dither=Image.Dither.NONE) for image in frames(game, states))
    times = [milliseconds] * len(others) + [LAST]
    try:
        first.save(path, "GIF", save_all=True, append_images=others, duration=times, loop=0)
    except OSError as failure:
        raise UserError(f"a GIF must be written to a folder with room, got {failure}; choose another.") from None


def write_mp4(path: Path, game: Game, states: Sequence[Ints], milliseconds: int) -> None:
    """Writes a game as a video that browsers play (H.264), a frame a position; raises UserError where it cannot."""
    try:
        import av
    except ImportError:
        raise UserError(
            "a video needs the package av, which is missing; install it with pip install 'turnier[video]', or write a"
            " GIF."
        ) from None

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


def _even(image: Image.Image) -> Image.Image:
    """Returns a picture with even sides, which videos need, by a line more on the right and below."""
    width, height = image.size
    return ImageOps.expand(image, (0, 0, width % 2, height % 2), PAPER)
