"""The laws of engines that speak UCI, as lists of steps, in the order of checking."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ...agents.engines.uci import position_command
from ...games.game import Position
from ..law import LawBroken
from .checked_engine import STRANGE, CheckedEngine, Laws, Step, close_input, ends, send, told, word_after

TYPES = ("check", "spin", "combo", "button", "string")
SHORT, SHORT_SECONDS = "movetime 100", 0.1
CASTLING = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
EN_PASSANT = "4k3/8/8/8/2p1p3/8/3P4/4K3 w - - 0 1"
PROMOTION = "4k3/P7/8/8/8/8/p7/1N2K3 w - - 0 1"
# Positions of chess: a start, moves from there, and the special moves that must be possible next, asked for one by one.
SPECIAL = (
    (CASTLING, "", "e1g1 e1c1"),
    (CASTLING, "e1g1", "e8c8"),
    (CASTLING, "e1c1", "e8g8"),
    (EN_PASSANT, "d2d4", "c4d3 e4d3"),
    (EN_PASSANT, "d2d4 e4d3", ""),
    (PROMOTION, "", "a7a8q a7a8n"),
    (PROMOTION, "a7a8n", "a2a1r a2b1q"),
    (PROMOTION, "a7a8r e8d7", ""),
)


def greeting(engine: CheckedEngine) -> list[str]:
    engine.send("uci")
    lines = wait_for(engine, "uciok")
    engine.greeted = True
    return lines


def ready(engine: CheckedEngine) -> list[str]:
    """Returns the lines written until the engine is ready."""
    before = [] if engine.greeted else greeting(engine)
    engine.send("isready")
    return before + wait_for(engine, "readyok")


def best_move(line: str) -> str:
    words = line.split()
    return words[1] if len(words) > 1 else ""


def wait_for(engine: CheckedEngine, word: str) -> list[str]:
    """Returns the lines up to and including one that is that word."""
    return engine.until(lambda line: line.strip() == word)


def no_move(lines: Sequence[str], when: str) -> None:
    if any(line.startswith("bestmove") for line in lines):
        raise LawBroken(f"no bestmove must come {when}, got one")


def quiet(when: str) -> Step:
    """No move comes unasked."""
    return lambda engine: no_move(engine.rest(), when)


def search(
    engine: CheckedEngine, limits: str, plies: int = 0, seconds: float | None = None, seed: int = 1
) -> tuple[Position, list[str], float]:
    """Returns a position after some plies, the engine's lines for it up to a legal move, and the seconds."""
    ready(engine)
    position, texts = engine.line_of_play(plies, seed)
    engine.send(position_command(engine.game, texts), f"go {limits}")
    began = time.monotonic()
    lines = engine.until(lambda line: line.startswith("bestmove"), seconds)
    spent = time.monotonic() - began
    engine.legal_move(position, best_move(lines[-1]))
    return position, lines, spent


def searched(limits: str, *plies: int) -> Step:
    """A search after each of these numbers of plies is answered by a legal move."""
    return lambda engine: [search(engine, limits, some) for some in plies or (0,)]


def timed(limits: str, seconds: float) -> Step:
    """A search takes no longer than so many seconds."""

    def step(engine: CheckedEngine) -> None:
        _, _, spent = search(engine, limits, plies=6)
        if spent > seconds + engine.margin:
            raise LawBroken(f"a move must take at most {seconds:g} s, got {spent:.3g} s for `go {limits}`")

    return step


def names(engine: CheckedEngine) -> None:
    lines = greeting(engine)
    for wanted in ("id name ", "id author "):
        if not any(line.startswith(wanted) for line in lines):
            raise LawBroken(f"the answer to uci must have a line {wanted!r}, got none")


def options(engine: CheckedEngine) -> list[list[str]]:
    return [line.split() for line in greeting(engine) if line.startswith("option")]


def declared(engine: CheckedEngine) -> None:
    for words in options(engine):
        line, kind, default = " ".join(words), word_after(words, "type"), word_after(words, "default")
        if not word_after(words, "name") or kind not in TYPES:
            raise LawBroken(f"an option must have a name and one of the types {', '.join(TYPES)}, got {told(line)}")
        if kind == "check" and default not in ("true", "false"):
            raise LawBroken(f"the default of a check must be true or false, got {told(line)}")
        if kind == "spin":
            try:
                low, given, high = (int(word_after(words, name)) for name in ("min", "default", "max"))
            except ValueError:
                raise LawBroken(f"a spin must have a min, a max and a default, got {told(line)}") from None
            if not low <= given <= high:
                raise LawBroken(f"a spin's default must be within its limits, got {told(line)}")
        if kind == "combo":
            values, (declared, *_) = line.split(" var ")[1:], line.partition(" default ")[2].split(" var ")
            if declared not in values:
                raise LawBroken(f"the default of a combo must be one of its values, got {told(line)}")


def set_to_defaults(engine: CheckedEngine) -> None:
    for words in options(engine):
        if word_after(words, "name") and word_after(words, "type") in ("check", "spin"):
            name = " ".join(words[words.index("name") + 1 : words.index("type")])
            engine.send(f"setoption name {name} value {word_after(words, 'default')}")


def new_game(engine: CheckedEngine) -> None:
    ready(engine)
    engine.send("ucinewgame")
    ready(engine)


def special_moves(engine: CheckedEngine) -> None:
    if engine.game.name != "chess":
        return
    for fen, moves, special in SPECIAL:
        position = engine.game.replace(fen=fen).start()
        for text in moves.split():
            position = position.play(engine.legal_move(position, text))
        for wanted in special.split() or [""]:
            new_game(engine)
            engine.send(position_command(position.game, moves.split()))
            engine.send(f"go depth 1{f' searchmoves {wanted}' * bool(wanted)}")
            said = best_move(engine.until(lambda line: line.startswith("bestmove"))[-1])
            try:
                engine.legal_move(position, said)
            except LawBroken as broken:
                raise LawBroken(f"{broken}, in the position {fen}{' moves ' * bool(moves)}{moves}") from None
    new_game(engine)  # no position is left over for later laws


def numbers_found(engine: CheckedEngine) -> None:
    _, lines, _ = search(engine, SHORT, plies=4)
    for words in (line.split() for line in lines if line.startswith("info") and " string " not in line):
        for name in ("depth", "seldepth", "time", "nodes", "nps", "hashfull", "multipv"):
            if name in words and not word_after(words, name).isdecimal():
                raise LawBroken(f"{name} must be followed by a number, got {told(' '.join(words))}")
        if "score" in words and word_after(words, "score") not in ("cp", "mate", "lowerbound", "upperbound"):
            raise LawBroken(f"score must be followed by cp or mate, got {told(' '.join(words))}")


def legal_lines(engine: CheckedEngine) -> None:
    start, lines, _ = search(engine, SHORT, plies=4)
    for words in (line.split() for line in lines if line.startswith("info") and " pv " in line):
        position = start
        for text in words[words.index("pv") + 1 :]:
            if position.over:
                break  # draws by rule end our games, engines may look further
            position = position.play(engine.legal_move(position, text))


def begin_infinite(engine: CheckedEngine) -> None:
    ready(engine)
    engine.send(position_command(engine.game, []), "go infinite")


def end_infinite(engine: CheckedEngine) -> None:
    engine.send("stop")
    lines = engine.until(lambda line: line.startswith("bestmove"))
    engine.legal_move(engine.game.start(), best_move(lines[-1]))


def ready_while_searching(engine: CheckedEngine) -> None:
    engine.send("isready")
    no_move(wait_for(engine, "readyok"), "before stop")


def many_games(engine: CheckedEngine) -> None:
    for seed in range(10):
        new_game(engine)
        search(engine, "depth 1", plies=seed, seed=seed)


def whole_game(engine: CheckedEngine) -> None:
    new_game(engine)
    position, texts = engine.game.start(), list[str]()
    while not position.over and len(texts) < 60:
        engine.send(position_command(engine.game, texts), "go movetime 10")
        text = best_move(engine.until(lambda line: line.startswith("bestmove"))[-1])
        action = engine.legal_move(position, text)
        texts.append(text)
        position = position.play(action)


LAWS: Laws = {
    "handshake": ("`uci` is answered by `uciok` in time.", greeting),
    "names": ("The answer to `uci` has an `id name` and an `id author`.", names),
    "options are declared": ("Every option has a name, a type of UCI's, and a default within its limits.", declared),
    "is ready": ("`isready` is answered by `readyok`.", ready),
    "options take their defaults": ("Every check and spin can be set to its default.", ready, set_to_defaults, ready),
    "unknown options": (
        "An option that the engine does not have does no harm.",
        ready,
        send("setoption name NoSuchOption value 7"),
        ready,
    ),
    "new game": ("After `ucinewgame` the engine is ready.", new_game),
    "moves first": ("In the start position the move is legal.", searched(SHORT)),
    "moves later": ("After eleven and after forty moves the move is legal.", searched(SHORT, 11, 40)),
    "special moves": (
        "In chess: castling, capturing en passant and promoting are understood, and played by legal moves.",
        special_moves,
    ),
    "keeps movetime": ("`go movetime` is obeyed.", timed(SHORT, SHORT_SECONDS)),
    "depth": ("`go depth 1` is answered.", searched("depth 1")),
    "nodes": ("`go nodes 100` is answered.", searched("nodes 100")),
    "clock": ("With a clock of 2 s the move takes less.", timed("wtime 2000 btime 2000", 2.0)),
    "clock with increment": (
        "With a clock of 1 s and an increment the move takes less than the clock.",
        timed("wtime 1000 btime 1000 winc 100 binc 100", 1.0),
    ),
    "moves to go": ("With 1 s for five moves the move takes less.", timed("wtime 1000 btime 1000 movestogo 5", 1.0)),
    "short of time": ("With a clock of 50 ms the move does not take longer.", timed("wtime 50 btime 50", 0.05)),
    "says what it finds": (
        "Lines of `info` have numbers where UCI has numbers, and a score in cp or mate.",
        numbers_found,
    ),
    "lines are legal": ("The moves of each `pv` can be played one after another.", legal_lines),
    "one answer": ("One `go` is answered by one `bestmove`.", searched("depth 1"), quiet("after another one")),
    "searches until stopped": (
        "`go infinite` searches until `stop`, which is answered by a legal `bestmove`.",
        begin_infinite,
        quiet("before stop"),
        end_infinite,
    ),
    "is ready while it searches": (
        "`isready` is answered during a search, which continues.",
        begin_infinite,
        ready_while_searching,
        end_infinite,
    ),
    "stop without search": (
        "`stop` without a search is not answered by a move, and does no harm.",
        ready,
        send("stop"),
        lambda engine: no_move(ready(engine), "without a search"),
        quiet("without a search"),
    ),
    "unknown commands": (
        "A command that UCI does not have does no harm.",
        ready,
        send("nosuchcommand with words", "joho debug on"),
        ready,
    ),
    "empty lines": (
        "Empty lines, and spaces around words, do no harm.",
        ready,
        send("", "   ", "  isready  "),
        lambda engine: wait_for(engine, "readyok"),
        ready,
    ),
    "garbage": ("A line of 200 strange characters does no harm.", ready, send(STRANGE * 50), searched("depth 1")),
    "many games": ("Ten games in a row begin well.", many_games),
    "whole game": ("In a game against itself, of up to 60 plies, every move is legal.", whole_game),
    "quit": ("`quit` ends the engine with exit code 0.", ready, send("quit"), ends),
    "quit while it searches": ("`quit` ends a search and the engine.", begin_infinite, send("quit"), ends),
    "end of input": ("The engine ends when its input does.", ready, close_input, ends),
}
