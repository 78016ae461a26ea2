"""What is asked of programs before the first game, and what they may do without losing by it."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.playing import played
from turnier.agents.agent import Agent
from turnier.agents.engines import engine
from turnier.agents.engines.engine import IDLE, EnginePlayer
from turnier.agents.registry import AGENTS
from turnier.arena.match import MatchRecord, Termination
from turnier.core.errors import UserError
from turnier.games.game import Position
from turnier.games.registry import make_game

ODD = Path(__file__).with_name("odd.py")
GAME = make_game("tictactoe")
LIMITS = {"uci": "nodes=5", "gtp": "limit=20", "json": "seconds=20"}


def odd(protocol: str, habit: str, *words: object, more: str = "") -> Agent:
    command = shlex.join([sys.executable, "-S", str(ODD), protocol, habit, *map(str, words)])
    return AGENTS.make(f'{protocol}(command="{command}",{LIMITS[protocol]},digest=none{more})')


def play(*agents: Agent, seed: int = 1) -> MatchRecord:
    return played("tictactoe", *agents, seed=seed)


@pytest.fixture(autouse=True)
def programs_end() -> Iterator[None]:
    engine._prepared.clear()
    yield
    IDLE.end_idle()


def test_a_program_gets_ready_once_before_its_first_match(tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    agent, ends_at_the_second = odd("uci", "plain", starts), odd("uci", "once", starts)
    for _ in range(3):
        agent.prepare(GAME)
    assert all(stopped(talk.process.pid) for _, talk in IDLE._idle)
    for seed in (1, 2):
        assert play(agent, odd("uci", "plain"), seed=seed).termination is Termination.NORMAL
    assert starts.read_text().splitlines() == ["started"]
    for _ in range(3):
        ends_at_the_second.prepare(GAME)
    assert starts.read_text().splitlines() == ["started"] * 2


@pytest.mark.parametrize(
    ("agent", "game", "sentence"),
    [
        (
            f'json(command="{sys.executable} no_such_file.py")',
            "tictactoe",
            r"json must be ready for tictactoe before the first game, but the engine .* ended with the exit"
            r" code 2; it said: .*no_such_file.py.*; fix its command or its settings\.",
        ),
        (odd("gtp", "sizes"), "hex(size=4)", r"answers 'boardsize 4' with '\?2? unacceptable size'; fix"),
        ('json(command="sleep 60",start_limit=0.1)', "tictactoe", r"is not ready after 0\.1 s; fix its command"),
    ],
)
def test_a_program_that_does_not_get_ready_ends_the_command(agent: Agent | str, game: str, sentence: str) -> None:
    made = AGENTS.make(agent)
    for _ in range(2):  # a failure is not remembered as a success
        with pytest.raises(UserError, match=sentence):
            made.prepare(make_game(game))


@pytest.mark.parametrize("on_failure", ["lose", "replay", "stop"])
def test_a_resignation_is_a_result_whatever_is_asked_for_failures(on_failure: str) -> None:
    speaker = shlex.join([sys.executable, "-S", str(ODD.with_name("speaker.py")), "resign"])
    agent = AGENTS.make(f'gtp(command="{speaker}",seconds=20,on_failure={on_failure})')
    record = play(odd("uci", "plain"), agent)
    assert (record.termination, record.scores) == (Termination.RESIGNED, (1.0, -1.0))


def moves_of(agent: Agent) -> tuple[list[int], list[str]]:
    """Returns the moves of a player that has both seats, and its notes."""
    player = agent.start(GAME)
    assert isinstance(player, EnginePlayer)
    position, plies, before = GAME.start(), list[int](), list[Position]()
    while len(plies) < 4:
        player.follow(plies, before)
        plies.append(player.act(position).action)
        before.append(position)
        position = position.play(plies[-1])
    player.close()
    return plies, player.notes


@pytest.mark.parametrize(
    ("protocol", "habit"),
    [("uci", "twice"), ("uci", "behind"), ("gtp", "twice"), ("gtp", "unnumbered"), ("json", "twice")],
)
def test_an_answer_that_nobody_asked_for_is_noted_and_not_the_next_move(protocol: str, habit: str) -> None:
    wanted, none = moves_of(odd(protocol, "plain"))
    got, notes = moves_of(odd(protocol, habit))
    assert got == wanted and none == []
    assert len(notes) == 1 and "a1" in notes[0] and "without being asked" in notes[0]


@pytest.mark.parametrize("protocol", LIMITS)
def test_a_program_that_ends_after_each_match_is_started_again(protocol: str, tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    agents = odd(protocol, "once", starts), odd("json", "plain")
    records = [play(*agents, seed=seed) for seed in range(3)]
    assert [record.termination for record in records] == [Termination.NORMAL] * 3, records[-1].error
    assert len(starts.read_text().splitlines()) == 3


@pytest.mark.parametrize("protocol", LIMITS)
def test_what_a_fresh_program_fails_at_counts(protocol: str, tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    agent = odd(protocol, "never", starts)
    agent.prepare(GAME)
    record = play(agent, odd("json", "plain"))
    assert (record.termination, record.scores) == (Termination.CRASHED, (-1.0, 1.0))
    assert "ended with the exit code 7" in record.error
    assert len(starts.read_text().splitlines()) == 2


@pytest.mark.parametrize("protocol", LIMITS)
def test_a_program_that_has_answered_is_not_started_again(protocol: str, tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    agent = odd(protocol, "second", starts)
    agent.prepare(GAME)
    record = play(agent, odd("json", "plain"))
    assert (record.termination, record.decisions) == (Termination.CRASHED, (1, 1))
    assert starts.read_text().splitlines() == ["started"]


def test_a_python_program_need_not_flush(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    assert play(odd("json", "unflushed"), odd("uci", "plain")).termination is Termination.NORMAL


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("Skil Level=0", r"There is no option of the engine '.*' named 'Skil Level'; did you mean Skill Level\?"),
        ("Xyz=0", r"named 'Xyz'; it has: Clear Hash, File, Own Book, Skill Level, Style\."),
        ("Skill Level=21", r"the option Skill Level of .* must be a whole number from 0 to 20, got '21'\."),
        ("skill level=high", r"must be a whole number from 0 to 20, got 'high'"),
        ("Own Book=1", r"must be true or false, got '1'"),
        ("Style=Mild", r"must be one of Solid, Wild Style, got 'Mild'"),
        ("Clear Hash=now", r"must be without a value, got 'now'"),
        ("SKILL level=0;own book=False;Style=wild style;Clear Hash;File=/any where", ""),
    ],
)
def test_options_must_be_those_that_a_program_declares(options: str, sentence: str) -> None:
    agent = odd("uci", "plain", more=f',options="{options}"')
    if sentence:
        with pytest.raises(UserError, match=sentence):
            agent.prepare(GAME)
    else:
        agent.prepare(GAME)


@pytest.mark.parametrize(
    ("text", "budget", "wanted"),
    [
        ('uci(command="x",nodes=5)', (50, "ms"), "uci(command=x,movetime=50)"),
        ('uci(command="x",clock=9,increment=1)', (50, "nodes"), "uci(command=x,nodes=50)"),
        ('uci(command="x",movetime=5)', (3, "plies"), "uci(command=x,depth=3)"),
        ('json(command="x",clock=9,increment=1)', (50, "ms"), "json(command=x,seconds=0.05)"),
        ('gtp(command="x",clock=9)', (2000, "ms"), "gtp(command=x,seconds=2.0)"),
    ],
)
def test_programs_obey_budgets(text: str, budget: tuple[int, str], wanted: str) -> None:
    assert str(AGENTS.make(text).within(*budget)) == wanted


@pytest.mark.parametrize(
    ("text", "budget", "sentence"),
    [
        ('uci(command="x",nodes=5)', (50, "rollouts"), "takes only: ms, nodes, plies"),
        ("json(command=x)", (50, "nodes"), "a budget must be in ms for json, got nodes"),
        ("gtp(command=x)", (50, "ms"), "a budget must be whole seconds for gtp, such as 2000ms, got 50ms"),
        ("gtp(command=x)", (2000, "nodes"), "got 2000nodes"),
    ],
)
def test_budgets_that_a_program_cannot_obey_are_refused(text: str, budget: tuple[int, str], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        AGENTS.make(text).within(*budget)


def stopped(pid: int) -> bool:
    """Whether a process is stopped; the system takes a moment to do it."""
    deadline = time.monotonic() + 20
    while Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "T":
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


@pytest.mark.parametrize("protocol", LIMITS)
def test_a_program_is_stopped_while_others_think(protocol: str) -> None:
    """Also while nobody plays; it ends all the same."""
    player = odd(protocol, "plain").start(GAME)
    assert isinstance(player, EnginePlayer)
    player.follow((), ())
    assert player._talk is not None
    process = player._talk.process
    position = GAME.start()
    first = player.act(position).action
    assert stopped(process.pid) and process.alive
    player.follow([first], [position])
    player.act(position.play(first))
    player.close()
    assert stopped(process.pid)
    IDLE.end_idle()
    assert not process.alive and not Path(f"/proc/{process.pid}").exists()


def test_castling_may_be_the_king_taking_its_rook() -> None:
    position = make_game('chess(fen="r3k2r/8/8/8/8/8/8/R3K1NR w KQkq - 0 1")').start()
    game, texts = position.game, {"e1a1": "e1c1", "E1A1": "e1c1", "e1c1": "e1c1", "e1d1": "e1d1"}
    for text, wanted in texts.items():
        action = game.move_of(position.state, text)
        assert action is not None and game.action_name(action) == wanted
    for text in ("e1h1", "e1g1", "e1a8", "a1e1", "e8a8", "e1b1", "O-O-O", "0000", ""):
        assert game.move_of(position.state, text) is None
