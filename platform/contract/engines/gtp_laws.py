"""What an engine that speaks GTP has to do, step by step; each law's text is what must hold."""

from __future__ import annotations

import re
import time

from turnier.agents.engines.gtp import COLOURS
from turnier.contract.engines.checked_engine import STRANGE, CheckedEngine, told
from turnier.contract.law import LawBroken
from turnier.games.game import Position
from turnier.games.go.game import Go

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
SCORED_PLIES = 200  # in which a game should end that is counted


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


def refused(engine: CheckedEngine, command: str) -> None:
    succeeds, said = answer(engine, command)
    if succeeds:
        raise LawBroken(f"{command} must be answered by an error, got {told('= ' + said)}")


def clear(engine: CheckedEngine) -> None:
    """Begins a game as quickly as the engine can play it."""
    size, komi = getattr(engine.game, "size", None), getattr(engine.game, "komi", None)
    if size is not None:
        done(engine, f"boardsize {size}")
    done(engine, "clear_board")
    if komi is not None:
        done(engine, f"komi {komi:g}")
    if "time_settings" in done(engine, "list_commands").split():
        done(engine, f"time_settings 0 {SECONDS_PER_MOVE} 1")


def after(engine: CheckedEngine, plies: int, seed: int = 1) -> Position:
    """Returns the position after random moves of a new game, which the engine is told."""
    clear(engine)
    position = engine.game.start()
    end, texts = engine.line_of_play(plies, seed)
    for text in texts:
        done(engine, f"play {COLOURS[position.to_move]} {text}")
        position = position.play(engine.legal_move(position, text))
    return end


def generated(engine: CheckedEngine, position: Position) -> Position | None:
    """Returns the position after the engine's move, which must be legal; None where it resigns."""
    text = done(engine, f"genmove {COLOURS[position.to_move]}", engine.limit + SECONDS_PER_MOVE)
    if text.casefold() == "resign":
        return None
    return position.play(engine.legal_move(position, text))


def law_answers(engine: CheckedEngine) -> None:
    """A command is answered in time."""
    answer(engine, "protocol_version")


def law_version_of_protocol(engine: CheckedEngine) -> None:
    """`protocol_version` is answered by 2."""
    if (said := done(engine, "protocol_version")) != "2":
        raise LawBroken(f"the protocol's version must be 2, got {told(said)}")


def law_names(engine: CheckedEngine) -> None:
    """`name` and `version` are answered, the name not by nothing."""
    if not done(engine, "name"):
        raise LawBroken("the name must not be empty")
    done(engine, "version")


def law_commands(engine: CheckedEngine) -> None:
    """`list_commands` names all that GTP requires."""
    listed = done(engine, "list_commands").split()
    if missing := [name for name in REQUIRED if name not in listed and not (name == "komi" and is_no_go(engine))]:
        raise LawBroken(f"list_commands must name what GTP requires, but lacks {', '.join(missing)}")


def is_no_go(engine: CheckedEngine) -> bool:
    return getattr(engine.game, "komi", None) is None


def law_known_commands(engine: CheckedEngine) -> None:
    """`known_command` tells commands from other words."""
    for word, wanted in (("genmove", "true"), ("nosuchcommand", "false")):
        if (said := done(engine, f"known_command {word}")) != wanted:
            raise LawBroken(f"known_command {word} must be answered by {wanted}, got {told(said)}")


def law_numbered_commands(engine: CheckedEngine) -> None:
    """The answer to a command with a number repeats it."""
    engine.send("17 protocol_version")
    first = engine.until(lambda line: not line.strip())[0]
    if not re.fullmatch(r"=17 +2\s*", first):
        raise LawBroken(f"the answer to `17 protocol_version` must be `=17 2`, got {told(first)}")


def law_comments(engine: CheckedEngine) -> None:
    """Comments, empty lines, tabs and spaces around words mean nothing."""
    engine.send("# a comment", "", "   ", "\t")
    if done(engine, "  protocol_version \t # another one") != "2":
        raise LawBroken("protocol_version with a comment must be answered by 2")


def law_unknown_commands(engine: CheckedEngine) -> None:
    """A command that the engine does not have is answered by an error."""
    refused(engine, "nosuchcommand 1 2")


def law_garbage(engine: CheckedEngine) -> None:
    """A line of 200 strange characters is answered by an error."""
    refused(engine, STRANGE * 50)
    done(engine, "protocol_version")


def law_sizes(engine: CheckedEngine) -> None:
    """`boardsize` takes the game's size, and refuses one that is no size."""
    if (size := getattr(engine.game, "size", None)) is not None:
        done(engine, f"boardsize {size}")
    refused(engine, "boardsize -3")
    refused(engine, "boardsize many")


def law_clears_the_board(engine: CheckedEngine) -> None:
    """After `clear_board` the first move can be played again."""
    for _ in range(2):
        after(engine, 3)


def law_komi(engine: CheckedEngine) -> None:
    """`komi` takes numbers and refuses words."""
    if is_no_go(engine):
        return
    done(engine, "komi 6.5")
    refused(engine, "komi much")


def law_plays_moves(engine: CheckedEngine) -> None:
    """`play` takes twenty legal moves."""
    after(engine, 20)


def law_capitals(engine: CheckedEngine) -> None:
    """Colours and moves are the same in capitals or not, and colours can be written out."""
    clear(engine)
    position, texts = engine.line_of_play(2, 1)
    for colour, text in zip(("BLACK", "white"), (texts[0].lower(), texts[1].upper()), strict=True):
        done(engine, f"play {colour} {text}")
    generated(engine, position)


def law_refuses_illegal_moves(engine: CheckedEngine) -> None:
    """A move onto a stone is refused, and so is one off the board."""
    clear(engine)
    _, texts = engine.line_of_play(1, 1)
    done(engine, f"play b {texts[0]}")
    refused(engine, f"play w {texts[0]}")
    refused(engine, "play w Z99")


def law_refusals_change_nothing(engine: CheckedEngine) -> None:
    """After a refused move the game continues where it was."""
    position = after(engine, 4)
    refused(engine, f"play {COLOURS[position.to_move]} Z99")
    generated(engine, position)


def law_moves_first(engine: CheckedEngine) -> None:
    """The first move of a game is legal."""
    generated(engine, after(engine, 0))


def law_moves_later(engine: CheckedEngine) -> None:
    """Moves after five and after twelve others are legal, of either colour."""
    for plies in (5, 12):
        generated(engine, after(engine, plies))


def law_plays_what_it_says(engine: CheckedEngine) -> None:
    """A move of `genmove` is on the board: the other side cannot play there."""
    clear(engine)
    text = done(engine, "genmove b", engine.limit + SECONDS_PER_MOVE)
    if text.casefold() not in ("pass", "resign"):
        refused(engine, f"play w {text}")


def law_keeps_time(engine: CheckedEngine) -> None:
    """With one second per move an answer takes no longer."""
    if "time_settings" not in done(engine, "list_commands").split():
        return
    position = after(engine, 6)
    began = time.monotonic()
    generated(engine, position)
    if (spent := time.monotonic() - began) > SECONDS_PER_MOVE + engine.margin:
        raise LawBroken(f"a move must take {SECONDS_PER_MOVE} s at most, got {spent:.3g} s")


def law_time_left(engine: CheckedEngine) -> None:
    """`time_left`, if it is known, is taken for both colours."""
    clear(engine)
    if "time_left" in done(engine, "list_commands").split():
        for colour in COLOURS:
            done(engine, f"time_left {colour} 30 0")


def law_takes_back(engine: CheckedEngine) -> None:
    """`undo`, if it is known, takes back a move, but none at the start."""
    if "undo" not in done(engine, "list_commands").split():
        return
    clear(engine)
    _, texts = engine.line_of_play(1, 1)
    done(engine, f"play b {texts[0]}")
    done(engine, "undo")
    done(engine, f"play b {texts[0]}")
    clear(engine)
    refused(engine, "undo")


def law_shows_the_board(engine: CheckedEngine) -> None:
    """`showboard`, if it is known, is answered."""
    if "showboard" in done(engine, "list_commands").split():
        done(engine, "showboard")


def law_many_commands_at_once(engine: CheckedEngine) -> None:
    """Commands that come at once are answered in their order."""
    engine.send(*(f"{number} protocol_version" for number in range(1, 21)))
    for number in range(1, 21):
        first = engine.until(lambda line: not line.strip())[0]
        if not first.startswith(f"={number} "):
            raise LawBroken(f"the answer number {number} must be the next, got {told(first)}")


def law_many_games(engine: CheckedEngine) -> None:
    """Ten games on end begin well."""
    for seed in range(10):
        generated(engine, after(engine, 2, seed))


def law_whole_game(engine: CheckedEngine) -> None:
    """In a game against itself, of up to 60 plies, every move is legal."""
    position: Position | None = after(engine, 0)
    for _ in range(60):
        if position is None or position.over:
            break
        position = generated(engine, position)


def law_scores_as_we_do(engine: CheckedEngine) -> None:
    """In Go: after a game against itself `final_score`, if it is known, is ours: by area, stones on the board live."""
    if not isinstance(engine.game, Go) or "final_score" not in done(engine, "list_commands").split():
        return
    position: Position | None = after(engine, OPENING)
    for _ in range(SCORED_PLIES):
        if position is None or position.over:
            break
        position = generated(engine, position)
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


def law_quit(engine: CheckedEngine) -> None:
    """`quit` is answered, and ends the engine with exit code 0."""
    done(engine, "quit")
    engine.must_end()


def law_end_of_input(engine: CheckedEngine) -> None:
    """The engine ends where its input does."""
    done(engine, "protocol_version")
    engine.process.close_input()
    engine.must_end()
