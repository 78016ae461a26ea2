"""`turnier check` finds what an engine does wrong; the example bots do nothing wrong."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from typer.testing import CliRunner

from turnier.agents.engines.engine import IDLE
from turnier.arena.match import MatchSpec, Termination
from turnier.arena.play import play_match
from turnier.commands.app import app
from turnier.contract.engines import checked_engine, gtp_laws, uci_laws
from turnier.contract.law import LawBroken
from turnier.core.errors import UserError
from turnier.games.registry import GAMES

ROOT = Path(__file__).parents[2]
BOTS = ROOT / "examples" / "bots"
FAKES = ROOT / "tests" / "agents" / "engines"
PYTHON = (sys.executable, "-S")
OURS = (sys.executable, "-c", "from turnier.commands.app import main; main()", "engine", "tictactoe", "random")


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checked_engine, "QUIET_SECONDS", 0.05)


def checked(*command: object, protocol: str, game: str = "tictactoe") -> tuple[int, dict[str, str]]:
    """Returns the exit code of the command, and how each law is broken that is not kept."""
    words = ["check", shlex.join(map(str, command)), "--protocol", protocol, "--game", game, "--json"]
    ended = CliRunner().invoke(app, [*words, "--margin", "5", "--limit", "20"])
    findings = json.loads(ended.stdout)
    assert len(findings) >= 25 and all(finding["must"] for finding in findings)
    return ended.exit_code, {f["law"]: f["sentence"] for f in findings if f["state"] != "kept"}


def keeps(laws: ModuleType, name: str, engine: checked_engine.CheckedEngine) -> None:
    """Raises LawBroken if an engine breaks a law."""
    for step in laws.LAWS[name][1:]:
        step(engine)


def compiled(folder: Path) -> Path:
    program = folder / "random_bot"
    subprocess.run(["g++", "-O0", "-o", program, BOTS / "random_bot.cpp"], check=True)
    return program


@pytest.mark.parametrize("language", ["python", "javascript", "c++"])
def test_the_example_bots_keep_all_laws(language: str, tmp_path: Path) -> None:
    if language == "python":
        command = [*PYTHON, str(BOTS / "random_bot.py")]
    elif language == "javascript":
        if shutil.which("node") is None:
            pytest.skip("needs node")
        command = ["node", str(BOTS / "random_bot.js")]
    else:
        if shutil.which("g++") is None:
            pytest.skip("needs g++")
        command = [str(compiled(tmp_path))]
    assert checked(*command, protocol="json", game="2048") == (0, {})


def test_what_an_engine_does_wrong_is_found() -> None:
    code, broken = checked(*PYTHON, FAKES / "bot.py", protocol="json")
    assert code == 1 and set(broken) == {"empty lines", "unknown messages"}
    code, broken = checked(*PYTHON, FAKES / "bot.py", "illegal", protocol="json")
    assert code == 1 and "whole game" in broken and "an action must be one of" in broken["whole game"]
    code, broken = checked(*PYTHON, FAKES / "speaker.py", "uci", protocol="uci")
    never_searches = {"searches until stopped", "is ready while it searches"}
    assert code == 1 and set(broken) == {"names", "empty lines"} | never_searches
    assert broken["names"] == "the answer to uci must have a line 'id author ', got none."
    code, broken = checked(*PYTHON, FAKES / "speaker.py", "gtp", protocol="gtp")
    assert code == 1 and {"version of protocol", "commands", "refuses illegal moves"} <= set(broken)
    assert "end of input" not in broken


NAMELESS = """
import sys
for line in sys.stdin:
    print({"uci": "option type check default true\\nuciok", "isready": "readyok"}.get(line.strip(), ""), flush=True)
"""


def test_answers_of_nothing_and_without_end_break_laws() -> None:
    """Each in the first law, or else every further one would wait for its answer."""
    code, broken = checked("sh", "-c", "while read l; do echo; done", protocol="gtp")
    assert code == 1 and "must begin with = or ?, got ''" in next(iter(broken.values()))
    code, broken = checked("yes", protocol="uci")
    assert code == 1 and "lines may be written at once; the last one is 'y'" in next(iter(broken.values()))


def test_an_option_without_a_name_is_a_broken_law() -> None:
    engine = checked_engine.CheckedEngine(shlex.join([*PYTHON, "-c", NAMELESS]), GAMES.make("tictactoe"), 20.0, 5.0)
    try:
        with pytest.raises(LawBroken, match="an option must have"):
            keeps(uci_laws, "options are declared", engine)
        keeps(uci_laws, "options take their defaults", engine)
    finally:
        engine.end()


def test_uci_is_checked_where_the_game_starts() -> None:
    """Black, who moves first, has one legal move."""
    command = shlex.join([*OURS[:-2], "chess", "random"])
    game = GAMES.make('chess(fen="k7/8/1K6/8/8/8/8/7R b - - 0 1")')
    engine = checked_engine.CheckedEngine(command, game, 60.0, 5.0)
    try:
        keeps(uci_laws, "moves first", engine)
        keeps(uci_laws, "searches until stopped", engine)
        keeps(uci_laws, "special moves", engine)
        keeps(uci_laws, "whole game", engine)
    finally:
        engine.end()


STUBBORN = """
import sys
for line in sys.stdin:
    said = {"uci": "uciok", "isready": "readyok"}.get(line.strip(), "bestmove e1d1" * line.startswith("go"))
    print(said, flush=True)
"""
PASSES = """
import sys
for line in sys.stdin:
    answers = {"genmove": "pass", "final_score": "B+99.5", "list_commands": "final_score"}
    print("=", answers.get(line.split()[0], ""), "\\n", flush=True)
"""


def test_an_engine_that_does_not_know_special_moves_is_found() -> None:
    """Its move is legal only while white has not castled."""
    command = shlex.join([*PYTHON, "-c", STUBBORN])
    engine = checked_engine.CheckedEngine(command, GAMES.make("chess"), 20.0, 5.0)
    try:
        with pytest.raises(LawBroken, match=r"got 'e1d1', in the position r3k2r/8.* moves e1g1$"):
            keeps(uci_laws, "special moves", engine)
    finally:
        engine.end()
    other = checked_engine.CheckedEngine(command, GAMES.make("tictactoe"), 20.0, 5.0)
    keeps(uci_laws, "special moves", other)  # which has none


def test_an_engine_that_scores_otherwise_is_found() -> None:
    """As GNU Go does without its words for rules by area."""
    ours = shlex.join([*OURS[:-2], "go(size=5)", "random", "--protocol", "gtp"])
    broken = r"final_score must be W\+[\d.]+ after both have passed, got 'B\+99\.5': dead stones must be captured"
    for command, sentence in ((shlex.join([*PYTHON, "-c", PASSES]), broken), (ours, "")):
        engine = checked_engine.CheckedEngine(command, GAMES.make("go(size=5,komi=20)"), 60.0, 5.0)
        try:
            if sentence:
                with pytest.raises(LawBroken, match=sentence):
                    keeps(gtp_laws, "scores as we do", engine)
            else:
                keeps(gtp_laws, "scores as we do", engine)
        finally:
            engine.end()


def test_nothing_else_is_checked_of_an_engine_that_does_not_answer() -> None:
    code, broken = checked(sys.executable, "-c", "raise SystemExit(3)", protocol="uci")
    assert code == 1 and len(broken) == 31
    assert "ended with the exit code 3" in broken.pop("handshake")
    assert set(broken.values()) == {"it needs the law `handshake`"}


def test_a_mistake_is_a_sentence() -> None:
    mistakes = {
        ("no-such-program", "--protocol", "uci"): "there is no program 'no-such-program'",
        ("python3", "--protocol", "xboard"): "There is no protocol named 'xboard'; there are: gtp, json, uci.",
        ("python3", "--game", "2048", "--protocol", "uci"): "uci plays games without chance",
    }
    for words, sentence in mistakes.items():
        error = CliRunner().invoke(app, ["check", *words]).exception
        assert isinstance(error, UserError) and sentence in str(error)


@pytest.mark.long
@pytest.mark.parametrize("protocol", ["uci", "gtp", "json"])
def test_our_own_engines_keep_all_laws(protocol: str) -> None:
    assert checked(*OURS, "--protocol", protocol, protocol=protocol) == (0, {})


def program(name: str) -> str:
    found = shutil.which(name, path="/usr/games:/usr/bin:/usr/local/bin")
    if found is None:
        pytest.skip(f"needs {name}")
    return found


def test_stockfish_meets_gnu_chess_and_gnu_go_us() -> None:
    stockfish = f'uci(command="{program("stockfish")}",nodes=20,options="Hash=1")'
    gnuchess = f'uci(command="{program("gnuchess")} --uci",depth=1,options="OwnBook=false")'
    gnugo = f'gtp(command="{program("gnugo")} --mode gtp --level 0")'
    try:
        for game, agents in {"chess": (stockfish, gnuchess), "go(size=5)": ("random", gnugo)}.items():
            record = play_match(MatchSpec(game, agents, 1))
            assert record.termination in (Termination.NORMAL, Termination.RESIGNED), record.error
            assert min(record.decisions) > 3
    finally:
        IDLE.end_idle()
