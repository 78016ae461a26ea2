"""Programs as agents: they play whole matches, and each way of failing is one record with the right loser."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import resource
import select
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import TURNIER
from turnier.agents.agent import Agent
from turnier.agents.engines.engine import IDLE
from turnier.agents.engines.pool import MAX_IDLE, Pool
from turnier.agents.engines.process import MAX_LINE, _ready
from turnier.agents.registry import AGENTS
from turnier.arena.match import MatchRecord, MatchSpec, Termination
from turnier.arena.match_json import disagreement
from turnier.arena.play import play_match
from turnier.arena.workers.make import make_executor
from turnier.arena.workers.where import Where
from turnier.core.errors import UserError
from turnier.results.frames import Standings, matches_frame, summary
from turnier.results.store.store import Store
from turnier.runs.tournament import Tournament

HERE = Path(__file__).parent
GAME = "tictactoe"


def program(file: str, *words: str) -> str:
    return shlex.join([sys.executable, "-S", str(HERE / file), *words])


def bot(*words: str, **parameters: object) -> str:
    given = {"seconds": 0.15, "margin": 0, **parameters}
    text = ",".join(f"{name}={value}" for name, value in given.items())
    return f'json(command="{program("bot.py", *words)}",{text})'


def spec(*agents: str, seed: int = 1) -> MatchSpec:
    return MatchSpec(GAME, tuple(AGENTS.make(agent).full_text() for agent in agents), seed)


def play(*agents: str) -> MatchRecord:
    try:
        return play_match(spec(*agents))
    finally:
        IDLE.end_idle()


def children(parent: int = 0) -> list[int]:
    """Returns the engines that a process, by default this one, has started and that live."""
    command = ["pgrep", "--parent", str(parent or os.getpid()), "-f", f"{HERE}/(bot|speaker).py"]
    listed = subprocess.run(command, capture_output=True, text=True)
    return [int(pid) for pid in listed.stdout.split()]


@pytest.fixture(autouse=True)
def no_process_is_left() -> Iterator[None]:
    yield
    IDLE.end_idle()
    assert children() == []


def test_a_program_plays_as_the_same_agent_in_python_would(tmp_path: Path) -> None:
    """The first legal action of both seats, then of one against chance's seat: the moves are known."""
    record = play(bot(seconds=5), bot(seconds=6))
    assert record.termination is Termination.NORMAL and record.scores == (1.0, -1.0)
    assert record.decisions == (4, 3) and record.nodes == (20, 15)
    assert disagreement(record) is None


@pytest.mark.parametrize(
    "text",
    [
        'uci(command="{uci}",nodes=5)',
        'uci(command="{uci}",clock=9,increment=0.1,options="Hash=2;Ponder=false")',
        'gtp(command="{gtp}",seconds=3)',
    ],
)
def test_uci_and_gtp_name_moves_by_their_texts(text: str) -> None:
    agent = text.format(uci=program("speaker.py", "uci"), gtp=program("speaker.py", "gtp"))
    record = play(agent, bot(seconds=5))
    assert record.termination is Termination.NORMAL, record.error
    assert record.scores == (-1.0, 1.0) or record.scores == (1.0, -1.0)
    assert record.nodes[0] == (17 * record.decisions[0] if agent.startswith("uci") else 0)
    assert disagreement(record) is None


ENDINGS = {
    "crash": (Termination.CRASHED, r"ended with the exit code 3; it said: out of memory"),
    "silent": (Termination.STALLED, r"does not answer within 0\.15 s"),
    "deaf": (Termination.STALLED, r"does not answer"),
    "late": (Termination.STALLED, r"does not answer"),
    "garbage": (Termination.CRASHED, r"answers 'nonsense ☃', which is no JSON object"),
    "illegal": (Termination.ILLEGAL_MOVE, r"plays '\{\"action\": 999\}', which is not legal here"),
    "flood": (Termination.CRASHED, f"writes a line of more than {MAX_LINE:,} bytes"),
    "signal": (Termination.CRASHED, r"was ended by signal 35$"),
    "fork": (Termination.CRASHED, r"ended with the exit code 4; it said: \d+"),
}


@pytest.mark.parametrize("fault", ENDINGS)
@pytest.mark.parametrize("seat", [0, 1])
def test_a_failure_is_the_loss_of_the_seat_that_failed(fault: str, seat: int) -> None:
    agents = [bot(fault, seconds=2 if fault in ("crash", "flood", "signal", "fork") else 0.15), bot(seconds=5)]
    record = play(*(agents if seat == 0 else agents[::-1]))
    ending, sentence = ENDINGS[fault]
    assert record.termination is ending, record.error
    assert record.scores == ((-1.0, 1.0) if seat == 0 else (1.0, -1.0))
    assert record.decisions[seat] == 2 and disagreement(record) is None
    assert re.search(sentence, record.error)
    if fault == "fork":  # what the engine has started has ended with it
        deadline = time.monotonic() + 20
        while _lives(int(record.error.rpartition(" ")[2])):
            assert time.monotonic() < deadline
            time.sleep(0.01)


def test_an_answer_to_being_stopped_is_late_and_a_resignation_is_a_result() -> None:
    late = f'uci(command="{program("speaker.py", "late")}",movetime=100,margin=0)'
    record = play(late, bot(seconds=5))
    assert (record.termination, record.scores) == (Termination.TIMEOUT, (-1.0, 1.0))
    floods = f'uci(command="{program("speaker.py", "lines")}",movetime=100,margin=0)'
    record = play(floods, bot(seconds=5))
    assert (record.termination, record.scores) == (Termination.STALLED, (-1.0, 1.0)), record.error
    resigns = f'gtp(command="{program("speaker.py", "resign")}",seconds=5)'
    record = play(bot(seconds=5), resigns)
    assert (record.termination, record.scores) == (Termination.RESIGNED, (1.0, -1.0))
    assert "resigns" in record.error


def test_an_answer_without_an_end_is_no_more_than_a_line_may_be() -> None:
    record = play(f'gtp(command="{program("speaker.py", "endless")}",seconds=20)', bot(seconds=5))
    assert record.termination is Termination.CRASHED
    assert f"answers 'genmove b' with more than {MAX_LINE:,} bytes" in record.error


def test_pipes_are_watched_however_many_files_are_open() -> None:
    """A board with many tables has more files open than `select` can look at."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    reading, writing = os.pipe()
    high = fcntl.fcntl(reading, fcntl.F_DUPFD, 1500)
    try:
        with os.fdopen(high, "rb") as pipe:
            assert _ready([pipe], select.POLLIN, 0.0) == []
            os.write(writing, b"a line")
            assert _ready([pipe], select.POLLIN, 0.0) == [pipe]
    finally:
        os.close(reading)
        os.close(writing)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_only_so_many_engines_stay_idle() -> None:
    class Engine:
        alive = True

        def end(self) -> None:
            self.alive = False

    pool, engines = Pool[int, Engine](), [Engine() for _ in range(MAX_IDLE + 2)]
    for kind, engine in enumerate(engines):
        pool.give_back(kind, engine)
    assert [engine.alive for engine in engines] == [False] * 2 + [True] * MAX_IDLE
    assert pool.take(0) is None and pool.take(2) is engines[2] and pool.take(2) is None
    pool.end_idle()
    assert [engine for engine in engines if engine.alive] == [engines[2]]


def test_uci_engines_are_told_where_a_game_of_chess_starts(tmp_path: Path) -> None:
    """Our own engine would move white's men from the usual start; what the FEN leaves out is written out."""
    told, logged = tmp_path / "told", tmp_path / "logged"
    logged.write_text(f"tee {told} | {shlex.join([*TURNIER, 'engine', 'chess', 'random'])}")
    agents = ("random", f'uci(command="sh {logged}",nodes=1,start_limit=60)')
    try:
        record = play_match(MatchSpec('chess(fen="k7/8/1K6/8/8/8/8/7R b")', agents, 1, max_plies=3))
    finally:
        IDLE.end_idle()
    assert record.termination is Termination.LIMIT and record.decisions == (1, 2), record.error
    first, second = (line for line in told.read_text().splitlines() if line.startswith("position"))
    assert first == "position fen k7/8/1K6/8/8/8/8/7R b - - 0 1"
    assert second.startswith(f"{first} moves a8b8 ")


@pytest.mark.parametrize("opening", [(), (4, 0), (4, 0, 8)])
def test_gtp_engines_are_told_their_time_once_a_match_also_behind_an_opening(
    opening: tuple[int, ...], tmp_path: Path
) -> None:
    told = tmp_path / "told"
    agents = [f'gtp(command="{program("speaker.py", "gtp")} {told}",seconds=1.9,digest=none)', "random"]
    texts = tuple(AGENTS.make(agent).full_text() for agent in (agents if len(opening) % 2 == 0 else agents[::-1]))
    for seed in (1, 2):
        assert play_match(MatchSpec("tictactoe", texts, seed, opening=opening)).termination is Termination.NORMAL
    assert told.read_text().splitlines() == ["time_settings 0 1 1"] * 2


def test_gtp_engines_are_told_no_more_time_than_they_have(tmp_path: Path) -> None:
    told = tmp_path / "told"
    agent = f'gtp(command="{program("speaker.py", "gtp")} {told}",clock=0.9,margin=3600000)'
    record = play(agent, "random")
    assert record.termination is Termination.NORMAL, record.error
    assert told.read_text().splitlines() == ["time_left b 0 0"] * record.decisions[0]


def test_what_follows_a_failure_is_the_users_choice(tmp_path: Path) -> None:
    once = tmp_path / "once"
    once.touch()
    record = play(bot("crash", str(once), on_failure="replay", seconds=5, digest="none"), bot(seconds=5))
    assert record.termination is Termination.NORMAL and not once.exists()
    record = play(bot("crash", on_failure="replay", seconds=5), bot(seconds=5))
    assert record.termination is Termination.CRASHED
    with pytest.raises(UserError, match=r"every engine must play to the end, but seat 0, .* exit code 3"):
        play(bot("crash", on_failure="stop", seconds=5), bot(seconds=5))


def test_a_process_plays_many_matches_and_none_outlives_its_executor() -> None:
    agents = bot(seconds=5), bot(seconds=6)
    seen: set[int] = set()
    with make_executor(Where("serial")) as executor:
        for _ in executor.play([spec(*agents, seed=seed) for seed in range(6)]):
            seen |= set(children())
    assert len(seen) == 2 and children() == []


def test_engines_end_with_a_process_that_is_killed() -> None:
    code = f"""
import time
from tests.agents.engines.test_engines import bot, spec
from turnier.arena.play import play_match
play_match(spec({bot(seconds=5)!r}, {bot(seconds=6)!r}))
print("played", flush=True)
time.sleep(60)
"""
    environment = os.environ | {"PYTHONPATH": ":".join(path for path in (str(HERE.parents[2]), *sys.path) if path)}
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment)
    assert process.stdout is not None and process.stdout.readline() == b"played\n"
    engines = children(process.pid)
    assert len(engines) == 2
    process.send_signal(signal.SIGKILL)
    process.wait()
    deadline = time.monotonic() + 20
    while any(_lives(engine) for engine in engines):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _lives(pid: int) -> bool:
    status = Path(f"/proc/{pid}/status")  # nobody may reap it here
    with contextlib.suppress(OSError):
        return "State:\tZ" not in status.read_text()
    return False


def test_forfeits_count_as_results_and_as_failures_of_the_loser(tmp_path: Path) -> None:
    crashes = bot("crash", seconds=5)
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        planned = Tournament(GAME, [crashes, bot(seconds=5)], games=4)
        planned.run(store, where=Where("serial"), progress=False)
        planned.run(store, where=Where("serial"), progress=False)
        frame = matches_frame(store)
        assert planned.skipped == 4  # a forfeit is not played again
    failures = {row["agent"]: row["failures"] for row in summary(frame).to_dict("records")}
    wins = {row["agent"]: (row["wins"], row["losses"]) for row in summary(frame).to_dict("records")}
    loser, winner = sorted(failures, key=lambda agent: -failures[agent])
    assert (failures[winner], failures[loser]) == (0, 4)
    assert (wins[winner], wins[loser]) == ((2, 0), (0, 2))  # of four games two differ: neither draws random numbers
    assert not len(Standings.of(frame).ratings)  # nobody who always fails is rated, nor who has met nobody else


def test_more_nodes_than_can_be_are_not_counted(tmp_path: Path) -> None:
    speaker = f'uci(command="{program("speaker.py", "many")}",nodes=5)'
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        Tournament(GAME, [speaker, bot("many", seconds=5)], games=2).run(store, where=Where("serial"), progress=False)
        nodes = {row["agent"]: row["nodes"] / row["decisions"] for row in matches_frame(store).to_dict("records")}
    assert sorted(nodes.values()) == [0, 17]  # what UCI said last that can be


def test_a_program_is_refused_where_it_cannot_play() -> None:
    refused = {
        ("uci(nodes=1)", "tictactoe"): r'uci needs a program: uci\(command="PROGRAM ARGUMENTS"\)',
        ('uci(command="x",nodes=1)', "2048"): "uci plays games without chance",
        ('gtp(command="x")', "yavalath(players=3)"): "gtp plays games of two seats without chance",
        ('gtp(command="x",seconds=0.5)', GAME): "gtp sends whole seconds, so seconds must be 0 or at least 1, got 0.5",
        ('json(command="x")', "spe_ed"): "json is told all moves, so it plays games without hidden information",
    }
    from turnier.games.registry import make_game

    for (agent, game), sentence in refused.items():
        with pytest.raises(UserError, match=sentence):
            AGENTS.make(agent).require(make_game(game))
    with pytest.raises(UserError, match="uci needs a budget per move: set movetime"):
        AGENTS.make('uci(command="x")')
    with pytest.raises(UserError, match="majority needs an agent that searches single positions, got json"):
        AGENTS.make('majority(agent=json(command="x"))').require(make_game(GAME))
    missing: Agent = AGENTS.make('json(command="/no/such/program",on_failure=lose)')
    with pytest.raises(UserError, match="there is no program '/no/such/program'"):
        missing.prepare(make_game(GAME))
