"""The laws of engines that speak GTP, as lists of steps, in the order of checking."""

from __future__ import annotations

import re
import time

from ...agents.engines.gtp import COLOURS
from ...games.game import Position
from ...games.go.game import Go
from ..law import LawBroken
from .checked_engine import STRANGE, CheckedEngine, Laws, Step, close_input, ends, told

REQUIRED = (
    "protocol_version",
    "name",
    "version",
    "known_command",
    "list_commands",
    "quit",
    "boardsize",
    "clear_board",
    "komi",
    "play",
    "genmove",
)
SECONDS_PER_MOVE = 1
OPENING = 20  # random plies, after which there are dead stones
SCORED_PLIES = 200  # in which a game must end to be scored


def answer(engine: CheckedEngine, command: str, seconds: float | None = None) -> tuple[bool, str]:
    """Returns whether a command succeeds, and its answer."""
    engine.send(command)
    *lines, _ = engine.until(lambda line: not line.strip(), seconds)
    first, *others = lines or [""]
    if not first.startswith(("=", "?")):
        raise LawBroken(f"the answer to {command} must begin with = or ?, got {told(first)}")
    return first[0] == "=", "\n".join([first[1:].strip(), *others])


def done(engine: CheckedEngine, command: str, seconds: float | None = None) -> str:
    """Returns the answer to a command, which must succeed."""
    succeeds, said = answer(engine, command, seconds)
    if not succeeds:
        raise LawBroken(f"{command} must succeed, got the error {told(said)}")
    return said


def must_refuse(engine: CheckedEngine, command: str) -> None:
    succeeds, said = answer(engine, command)
    if succeeds:
        raise LawBroken(f"{command} must be answered by an error, got {told('= ' + said)}")


def clear(engine: CheckedEngine) -> None:
    """Begins a game at the engine's fastest pace."""
    size, komi = getattr(engine.game, "size", None), getattr(engine.game, "komi", None)
    if size is not None:
        done(engine, f"boardsize {size}")
    done(engine, "clear_board")
    if komi is not None:
        done(engine, f"komi {komi:g}")
    if "time_settings" in done(engine, "list_commands").split():
        done(engine, f"time_settings 0 {SECONDS_PER_MOVE} 1")


def after(engine: CheckedEngine, plies: int, seed: int = 1) -> Position:
    """Returns the position after random moves of a new game, which are sent to the engine."""
    clear(engine)
    position = engine.game.start()
    end, texts = engine.line_of_play(plies, seed)
    for text in texts:
        done(engine, f"play {COLOURS[position.to_move]} {text}")
        position = position.play(engine.legal_move(position, text))
    return end


def generated(engine: CheckedEngine, position: Position) -> Position | None:
    """Returns the position after the engine's move, which must be legal; None if it resigns."""
    text = done(engine, f"genmove {COLOURS[position.to_move]}", engine.limit + SECONDS_PER_MOVE)
    if text.casefold() == "resign":
        return None
    return position.play(engine.legal_move(position, text))


def asked(command: str, wanted: str | None = None) -> Step:
    """A command succeeds, with the wanted answer if one is given."""

    def step(engine: CheckedEngine) -> None:
        said = done(engine, command)
        if wanted is not None and said != wanted:
            raise LawBroken(f"`{command.strip()}` must be answered by {wanted}, got {told(said)}")

    return step


def refused(command: str) -> Step:
    """A command is answered by an error."""
    return lambda engine: must_refuse(engine, command)


def if_known(command: str, *steps: Step) -> Step:
    """Steps that must hold if the engine has a command."""

    def step(engine: CheckedEngine) -> None:
        if command in done(engine, "list_commands").split():
            for one in steps:
                one(engine)

    return step


def if_go(*steps: Step) -> Step:
    """Steps that must hold in games with a komi."""
    return lambda engine: None if is_no_go(engine) else [one(engine) for one in steps]


def played(*plies: int) -> Step:
    """The engine takes random legal moves, so many in each of several games."""
    return lambda engine: [after(engine, some) for some in plies]


def moved(*plies: int) -> Step:
    """The engine's moves are legal after each of these numbers of plies."""
    return lambda engine: [generated(engine, after(engine, some)) for some in plies]


def names(engine: CheckedEngine) -> None:
    if not done(engine, "name"):
        raise LawBroken("the name must not be empty")
    done(engine, "version")


def commands(engine: CheckedEngine) -> None:
    listed = done(engine, "list_commands").split()
    if missing := [name for name in REQUIRED if name not in listed and not (name == "komi" and is_no_go(engine))]:
        raise LawBroken(f"list_commands must name the commands that GTP requires, but lacks {', '.join(missing)}")


def is_no_go(engine: CheckedEngine) -> bool:
    return getattr(engine.game, "komi", None) is None


def numbered(*numbers: int) -> Step:
    """Numbered commands sent at once are answered in order, with the same numbers."""

    def step(engine: CheckedEngine) -> None:
        engine.send(*(f"{number} protocol_version" for number in numbers))
        for number in numbers:
            first = engine.until(lambda line: not line.strip())[0]
            if not re.fullmatch(rf"={number} +2\s*", first):
                raise LawBroken(f"the answer to `{number} protocol_version` must be `={number} 2`, got {told(first)}")

    return step


def has_size(engine: CheckedEngine) -> None:
    if (size := getattr(engine.game, "size", None)) is not None:
        done(engine, f"boardsize {size}")


def capitals(engine: CheckedEngine) -> None:
    clear(engine)
    position, texts = engine.line_of_play(2, 1)
    for colour, text in zip(("BLACK", "white"), (texts[0].lower(), texts[1].upper()), strict=True):
        done(engine, f"play {colour} {text}")
    generated(engine, position)


def illegal_moves(engine: CheckedEngine) -> None:
    clear(engine)
    _, texts = engine.line_of_play(1, 1)
    done(engine, f"play b {texts[0]}")
    must_refuse(engine, f"play w {texts[0]}")
    must_refuse(engine, "play w Z99")


def refusals_change_nothing(engine: CheckedEngine) -> None:
    position = after(engine, 4)
    must_refuse(engine, f"play {COLOURS[position.to_move]} Z99")
    generated(engine, position)


def plays_what_it_says(engine: CheckedEngine) -> None:
    clear(engine)
    text = done(engine, "genmove b", engine.limit + SECONDS_PER_MOVE)
    if text.casefold() not in ("pass", "resign"):
        must_refuse(engine, f"play w {text}")


def keeps_time(engine: CheckedEngine) -> None:
    position = after(engine, 6)
    began = time.monotonic()
    generated(engine, position)
    if (spent := time.monotonic() - began) > SECONDS_PER_MOVE + engine.margin:
        raise LawBroken(f"a move must take at most {SECONDS_PER_MOVE} s, got {spent:.3g} s")


def takes_back(engine: CheckedEngine) -> None:
    clear(engine)
    _, texts = engine.line_of_play(1, 1)
    for command in (f"play b {texts[0]}", "undo", f"play b {texts[0]}"):
        done(engine, command)
    clear(engine)
    must_refuse(engine, "undo")


def many_games(engine: CheckedEngine) -> None:
    for seed in range(10):
        generated(engine, after(engine, 2, seed))


def play_itself(engine: CheckedEngine, opening: int, plies: int) -> Position | None:
    """Returns the position after an engine's game against itself; None if it resigned."""
    position: Position | None = after(engine, opening)
    for _ in range(plies):
        if position is None or position.over:
            break
        position = generated(engine, position)
    return position


def scores_as_we_do(engine: CheckedEngine) -> None:
    if not isinstance(engine.game, Go):
        return
    position = play_itself(engine, OPENING, SCORED_PLIES)
    if position is None or not position.over:
        return  # it resigns, or does not pass
    said, lead = done(engine, "final_score"), engine.game.lead(position.state)
    if re.match(r"(0|[BW]\+\d+(\.\d*)?)(\s|$)", said, re.IGNORECASE) is None:
        raise LawBroken(f"final_score must be 0 or like B+7.5, got {told(said)}")
    ours = f"{'B' if lead > 0 else 'W'}+{abs(lead):g}" if lead else "0"
    theirs = float(said.split()[0][2:] or 0) * (-1 if said[0] in "Ww" else 1)
    if theirs != lead:
        raise LawBroken(
            f"final_score must be {ours} after both have passed, got {told(said)}: dead stones must be captured before,"
            " and area counted"
        )


LAWS: Laws = {
    "answers": ("A command is answered in time.", lambda engine: answer(engine, "protocol_version")),
    "version of protocol": ("`protocol_version` is answered by 2.", asked("protocol_version", "2")),
    "names": ("`name` and `version` are answered, and the name is not empty.", names),
    "commands": ("`list_commands` names all commands that GTP requires.", commands),
    "known commands": (
        "`known_command` tells commands from other words.",
        asked("known_command genmove", "true"),
        asked("known_command nosuchcommand", "false"),
    ),
    "numbered commands": ("The answer to a command with a number repeats it.", numbered(17)),
    "comments": (
        "Comments, empty lines, tabs and spaces around words are ignored.",
        lambda engine: engine.send("# a comment", "", "   ", "\t"),
        asked("  protocol_version \t # another one", "2"),
    ),
    "unknown commands": (
        "A command that the engine does not have is answered by an error.",
        refused("nosuchcommand 1 2"),
    ),
    "garbage": (
        "A line of 200 strange characters is answered by an error.",
        refused(STRANGE * 50),
        asked("protocol_version"),
    ),
    "sizes": (
        "`boardsize` takes the game's size, and refuses an impossible one.",
        has_size,
        refused("boardsize -3"),
        refused("boardsize many"),
    ),
    "clears the board": ("After `clear_board` the first move can be played again.", played(3, 3)),
    "komi": ("`komi` takes numbers and refuses words.", if_go(asked("komi 6.5"), refused("komi much"))),
    "plays moves": ("`play` takes twenty legal moves.", played(20)),
    "capitals": ("Colours and moves may be in capitals, and colours may be written out.", capitals),
    "refuses illegal moves": ("A move onto a stone is refused, and so is one off the board.", illegal_moves),
    "refusals change nothing": ("A refused move changes nothing in the game.", refusals_change_nothing),
    "moves first": ("The first move of a game is legal.", moved(0)),
    "moves later": ("Moves of either colour, after five and after twelve others, are legal.", moved(5, 12)),
    "plays what it says": (
        "`genmove` plays its move on the board: the other side cannot play there.",
        plays_what_it_says,
    ),
    "keeps time": ("With one second per move an answer takes no more.", if_known("time_settings", keeps_time)),
    "time left": (
        "`time_left`, if it is known, is accepted for both colours.",
        if_known("time_left", clear, *(asked(f"time_left {colour} 30 0") for colour in COLOURS)),
    ),
    "takes back": ("`undo`, if it is known, takes back a move, but none at the start.", if_known("undo", takes_back)),
    "shows the board": ("`showboard`, if it is known, is answered.", if_known("showboard", asked("showboard"))),
    "many commands at once": ("Commands sent at once are answered in order.", numbered(*range(1, 21))),
    "many games": ("Ten games in a row begin well.", many_games),
    "whole game": (
        "In a game against itself, of up to 60 plies, every move is legal.",
        lambda engine: play_itself(engine, 0, 60),
    ),
    "scores as we do": (
        "In Go: after a game against itself `final_score`, if it is known, is ours: by area, stones on the board live.",
        if_known("final_score", scores_as_we_do),
    ),
    "quit": ("`quit` is answered, and ends the engine with exit code 0.", asked("quit"), ends),
    "end of input": ("The engine ends when its input does.", asked("protocol_version"), close_input, ends),
}
