"""What an engine that speaks UCI has to do, step by step; each law's text is what must hold."""

from __future__ import annotations

import time

from turnier.agents.engines.uci import position_command
from turnier.contract.engines.checked_engine import STRANGE, CheckedEngine, told, word_after
from turnier.contract.law import LawBroken
from turnier.games.game import Position

TYPES = ("check", "spin", "combo", "button", "string")
MOVETIME = 0.1
CASTLING = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
EN_PASSANT = "4k3/8/8/8/2p1p3/8/3P4/4K3 w - - 0 1"
PROMOTION = "4k3/P7/8/8/8/8/p7/1N2K3 w - - 0 1"
# Positions of chess: a start, the moves from there, and the special ones that follow, of which each is asked for.
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
    lines = engine.until(lambda line: line.strip() == "uciok")
    engine.greeted = True
    return lines


def ready(engine: CheckedEngine) -> list[str]:
    """Returns what is written until the engine is ready."""
    before = [] if engine.greeted else greeting(engine)
    engine.send("isready")
    return before + engine.until(lambda line: line.strip() == "readyok")


def best_move(line: str) -> str:
    words = line.split()
    return words[1] if len(words) > 1 else ""


def search(
    engine: CheckedEngine, limits: str, plies: int = 0, seconds: float | None = None, seed: int = 1
) -> tuple[Position, list[str], float]:
    """Returns a position after some plies, what the engine writes of it, up to a legal move, and the seconds."""
    ready(engine)
    position, texts = engine.line_of_play(plies, seed)
    engine.send(position_command(engine.game, texts), f"go {limits}")
    began = time.monotonic()
    lines = engine.until(lambda line: line.startswith("bestmove"), seconds)
    spent = time.monotonic() - began
    engine.legal_move(position, best_move(lines[-1]))
    return position, lines, spent


def in_time(engine: CheckedEngine, limits: str, seconds: float) -> None:
    _, _, spent = search(engine, limits, plies=6)
    if spent > seconds + engine.margin:
        raise LawBroken(f"a move must take {seconds:g} s at most, got {spent:.3g} s for `go {limits}`")


def law_handshake(engine: CheckedEngine) -> None:
    """`uci` is answered by `uciok` in time."""
    greeting(engine)


def law_names(engine: CheckedEngine) -> None:
    """The answer to `uci` has an `id name` and an `id author`."""
    lines = greeting(engine)
    for wanted in ("id name ", "id author "):
        if not any(line.startswith(wanted) for line in lines):
            raise LawBroken(f"the answer to uci must have a line {wanted!r}, got none")


def options(engine: CheckedEngine) -> list[list[str]]:
    return [line.split() for line in greeting(engine) if line.startswith("option")]


def law_options_are_declared(engine: CheckedEngine) -> None:
    """Every option has a name, a type of UCI's, and a default within its limits."""
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


def law_is_ready(engine: CheckedEngine) -> None:
    """`isready` is answered by `readyok`."""
    ready(engine)


def law_options_take_their_defaults(engine: CheckedEngine) -> None:
    """Every check and spin can be set to its default."""
    ready(engine)
    for words in options(engine):
        if word_after(words, "name") and word_after(words, "type") in ("check", "spin"):
            name = " ".join(words[words.index("name") + 1 : words.index("type")])
            engine.send(f"setoption name {name} value {word_after(words, 'default')}")
    ready(engine)


def law_unknown_options(engine: CheckedEngine) -> None:
    """An option that the engine does not have does no harm."""
    ready(engine)
    engine.send("setoption name NoSuchOption value 7")
    ready(engine)


def new_game(engine: CheckedEngine) -> None:
    ready(engine)
    engine.send("ucinewgame")
    ready(engine)


def law_new_game(engine: CheckedEngine) -> None:
    """After `ucinewgame` the engine is ready."""
    new_game(engine)


def law_moves_first(engine: CheckedEngine) -> None:
    """In the start position the move is legal."""
    search(engine, f"movetime {1000 * MOVETIME:.0f}")


def law_moves_later(engine: CheckedEngine) -> None:
    """After eleven and after forty moves the move is legal."""
    for plies in (11, 40):
        search(engine, f"movetime {1000 * MOVETIME:.0f}", plies)


def law_special_moves(engine: CheckedEngine) -> None:
    """In chess: castling, capturing en passant and promoting are understood, and played by legal moves."""
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
    new_game(engine)  # no law is about what is left of a position


def law_keeps_movetime(engine: CheckedEngine) -> None:
    """`go movetime` is kept."""
    in_time(engine, f"movetime {1000 * MOVETIME:.0f}", MOVETIME)


def law_depth(engine: CheckedEngine) -> None:
    """`go depth 1` is answered."""
    search(engine, "depth 1")


def law_nodes(engine: CheckedEngine) -> None:
    """`go nodes 100` is answered."""
    search(engine, "nodes 100")


def law_clock(engine: CheckedEngine) -> None:
    """With a clock of 2 s the move takes less."""
    in_time(engine, "wtime 2000 btime 2000", 2.0)


def law_clock_with_increment(engine: CheckedEngine) -> None:
    """With a clock of 1 s and an increment the move takes less than the clock."""
    in_time(engine, "wtime 1000 btime 1000 winc 100 binc 100", 1.0)


def law_moves_to_go(engine: CheckedEngine) -> None:
    """With 1 s for five moves the move takes less."""
    in_time(engine, "wtime 1000 btime 1000 movestogo 5", 1.0)


def law_short_of_time(engine: CheckedEngine) -> None:
    """With a clock of 50 ms the move does not take longer."""
    in_time(engine, "wtime 50 btime 50", 0.05)


def law_says_what_it_finds(engine: CheckedEngine) -> None:
    """Lines of `info` have numbers where UCI has numbers, and a score in cp or mate."""
    _, lines, _ = search(engine, f"movetime {1000 * MOVETIME:.0f}", plies=4)
    for words in (line.split() for line in lines if line.startswith("info") and " string " not in line):
        for name in ("depth", "seldepth", "time", "nodes", "nps", "hashfull", "multipv"):
            if name in words and not word_after(words, name).isdecimal():
                raise LawBroken(f"{name} must be followed by a number, got {told(' '.join(words))}")
        if "score" in words and word_after(words, "score") not in ("cp", "mate", "lowerbound", "upperbound"):
            raise LawBroken(f"score must be followed by cp or mate, got {told(' '.join(words))}")


def law_lines_are_legal(engine: CheckedEngine) -> None:
    """The moves of each `pv` can be played one after another."""
    start, lines, _ = search(engine, f"movetime {1000 * MOVETIME:.0f}", plies=4)
    for words in (line.split() for line in lines if line.startswith("info") and " pv " in line):
        position = start
        for text in words[words.index("pv") + 1 :]:
            if position.over:
                break  # draws by rule end our games, engines may look further
            position = position.play(engine.legal_move(position, text))


def law_one_answer(engine: CheckedEngine) -> None:
    """One `go` is answered by one `bestmove`."""
    search(engine, "depth 1")
    if any(line.startswith("bestmove") for line in engine.rest()):
        raise LawBroken("one bestmove must follow a go, got another one")


def law_searches_until_stopped(engine: CheckedEngine) -> None:
    """`go infinite` searches until `stop`, which is answered by a legal `bestmove`."""
    begin_infinite(engine)
    if any(line.startswith("bestmove") for line in engine.rest()):
        raise LawBroken("no bestmove must come before stop, got one after go infinite")
    end_infinite(engine)


def begin_infinite(engine: CheckedEngine) -> None:
    ready(engine)
    engine.send(position_command(engine.game, []), "go infinite")


def end_infinite(engine: CheckedEngine) -> None:
    engine.send("stop")
    lines = engine.until(lambda line: line.startswith("bestmove"))
    engine.legal_move(engine.game.start(), best_move(lines[-1]))


def law_is_ready_while_it_searches(engine: CheckedEngine) -> None:
    """`isready` is answered during a search, which continues."""
    begin_infinite(engine)
    engine.send("isready")
    before = engine.until(lambda line: line.strip() == "readyok")
    if any(line.startswith("bestmove") for line in before):
        raise LawBroken("isready must not end a search, got a bestmove")
    end_infinite(engine)


def law_stop_without_search(engine: CheckedEngine) -> None:
    """`stop` without a search is not answered by a move, and does no harm."""
    ready(engine)
    engine.send("stop")
    if any(line.startswith("bestmove") for line in ready(engine) + engine.rest()):
        raise LawBroken("stop without a search must have no answer, got a bestmove")


def law_unknown_commands(engine: CheckedEngine) -> None:
    """A command that UCI does not have does no harm."""
    ready(engine)
    engine.send("nosuchcommand with words", "joho debug on")
    ready(engine)


def law_empty_lines(engine: CheckedEngine) -> None:
    """Empty lines, and spaces around words, do no harm."""
    ready(engine)
    engine.send("", "   ", "  isready  ")
    engine.until(lambda line: line.strip() == "readyok")
    ready(engine)


def law_garbage(engine: CheckedEngine) -> None:
    """A line of 200 strange characters does no harm."""
    ready(engine)
    engine.send(STRANGE * 50)
    search(engine, "depth 1")


def law_many_games(engine: CheckedEngine) -> None:
    """Ten games on end begin well."""
    for seed in range(10):
        new_game(engine)
        search(engine, "depth 1", plies=seed, seed=seed)


def law_whole_game(engine: CheckedEngine) -> None:
    """In a game against itself, of up to 60 plies, every move is legal."""
    new_game(engine)
    position, texts = engine.game.start(), list[str]()
    while not position.over and len(texts) < 60:
        engine.send(position_command(engine.game, texts), "go movetime 10")
        text = best_move(engine.until(lambda line: line.startswith("bestmove"))[-1])
        action = engine.legal_move(position, text)
        texts.append(text)
        position = position.play(action)


def law_quit(engine: CheckedEngine) -> None:
    """`quit` ends the engine with exit code 0."""
    ready(engine)
    engine.send("quit")
    engine.must_end()


def law_quit_while_it_searches(engine: CheckedEngine) -> None:
    """`quit` ends a search and the engine."""
    begin_infinite(engine)
    engine.send("quit")
    engine.must_end()


def law_end_of_input(engine: CheckedEngine) -> None:
    """The engine ends where its input does."""
    ready(engine)
    engine.process.close_input()
    engine.must_end()
