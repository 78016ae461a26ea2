"""Ludii's agents by the bridge: against a stand-in for Java that plays by our rules, and against recorded games."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.ludii.stand_in import STAND_IN, WARM
from tests.cli.running import turnier
from turnier.agents.agent import FollowingPlayer
from turnier.agents.engines.pool import end_idle_programs
from turnier.agents.ludii.agent import Ludii
from turnier.agents.ludii.bridge import IDLE
from turnier.agents.ludii.games import ludii_game, possible_moves
from turnier.agents.ludii.jar import JAR, JAVA
from turnier.agents.registry import make_agent
from turnier.arena.match import MatchRecord, MatchSpec, Termination
from turnier.arena.play import play_matches, prepare
from turnier.core.errors import UserError
from turnier.games.game import Position
from turnier.games.registry import make_game

DATA = Path(__file__).parents[2] / "data/yavalath"
STUBS = Path(__file__).parent / "stubs"
GAMES = [
    *("tictactoe", "connect_four", "othello(size=4)", "othello(size=6)", "hex(size=5)", "hex(size=4,swap=true)"),
    *("yavalath(size=4)", "yavalath(swap=true)", "yavalath(size=4,players=3)"),
]


def new_jar(folder: Path) -> Path:
    """Writes a jar of its own digest; beside it the stand-in keeps the log of all commands."""
    jar = folder / "Ludii.jar"
    jar.write_text(str(folder))
    return jar


def commands(jar: Path) -> list[list[str]]:
    return [line.split() for line in jar.with_name("log").read_text().splitlines()]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The jar of a stand-in without faults, which many tests use."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(JAVA, f"{sys.executable} {STAND_IN}")
        yield new_jar(tmp_path_factory.mktemp("ludii"))
        end_idle_programs()


@pytest.fixture
def faulty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Path]:
    """The jar of a stand-in with the fault that is the test's parameter."""
    monkeypatch.setenv(JAVA, f"{sys.executable} {STAND_IN} {request.param}")
    yield new_jar(tmp_path)
    end_idle_programs()


def ludii(jar: Path, **parameters: object) -> Ludii:
    made = Ludii(jar=str(jar), agent="UCT", iterations=5)
    return made.replace(**parameters)


def play(game: str, *agents: str, seeds: int = 1) -> list[MatchRecord]:
    made = make_game(game)
    texts = [make_agent(agent).full_text() for agent in agents]
    seats = [*texts, *["random"] * made.num_seats][: made.num_seats]
    turned = [tuple(seats[i:] + seats[:i]) for i in range(made.num_seats)]
    specs = [MatchSpec(made.full_text(), seats, seed) for seed in range(seeds) for seats in turned]
    prepare(specs[0])
    return play_matches(specs)


@pytest.mark.parametrize("game", GAMES)
def test_games_that_ludii_has_too_are_played(sound: Path, game: str) -> None:
    """In every seat, with swaps and passes; the agent wins where it can at once, so it beats random play."""
    records = play(game, str(ludii(sound)))
    assert {record.termination for record in records} == {Termination.NORMAL}, [record.error for record in records]
    assert all(5 * decided == nodes for record in records for decided, nodes in seat_of_ludii(record))


def seat_of_ludii(record: MatchRecord) -> list[tuple[int, int]]:
    seats = zip(record.spec.agents, record.decisions, record.nodes, strict=True)
    return [(decided, nodes) for agent, decided, nodes in seats if agent.startswith("ludii")]


@pytest.mark.parametrize(
    ("game", "reason"),
    [
        ("nim", "it has tictactoe, connect_four, hex, othello and yavalath"),
        ("connect_four(rows=5)", "only with 6 rows and 7 columns"),
        ("hex(size=2)", "from size 3 on"),
        ("yavalath(players=3,play_on=false)", "only with play_on=true"),
    ],
)
def test_games_that_ludii_does_not_have_are_refused(sound: Path, game: str, reason: str) -> None:
    said = ludii(sound).cannot_play(make_game(game))
    assert said is not None and reason in said and game in said


def test_who_plays_is_told_by_the_digest_of_the_jar(sound: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No path is in the text; a text without path finds the jar by the environment or by an earlier path."""
    agent = ludii(sound)
    text = agent.full_text()
    assert str(sound.parent) not in text and agent.digest in text and make_agent(text) == agent
    monkeypatch.setenv(JAR, str(sound))
    assert Ludii(agent="UCT", iterations=5) == agent
    with pytest.raises(UserError, match="leave the digest out"):
        Ludii(jar=str(sound), digest="0" * 16)
    with pytest.raises(UserError, match="leave the digest out to play with that one"):
        prepare(MatchSpec("tictactoe", (ludii(sound, digest="0" * 16).full_text(), "random"), 1))


def test_processes_are_used_again(sound: Path) -> None:
    agents = [str(ludii(sound)), str(ludii(sound, iterations=6))]
    play("tictactoe", *agents)
    told = len(commands(sound))
    play("tictactoe", *agents, seeds=5)
    assert {each[0] for each in commands(sound)[told:]} == {"match", "moves", "think"}
    assert [digest for digest, _ in IDLE._idle].count(ludii(sound).digest) == 2


def test_seeds_and_seats_are_told(sound: Path) -> None:
    play("connect_four", str(ludii(sound)))
    told = len(commands(sound))
    first, again = (play("connect_four", str(ludii(sound)), seeds=3) for _ in range(2))
    assert [record.plies for record in first] == [record.plies for record in again]
    begun = [each for each in commands(sound)[told:] if each[0] == "match"]
    assert {each[2] for each in begun} == {"1", "2"} and len({each[1] for each in begun}) == 6


def test_a_new_process_warms_up_where_time_counts(sound: Path) -> None:
    told = len(commands(sound))
    timed = ludii(sound, iterations=0, milliseconds=20, warm_up=1, agent="Biased MCTS (Uniform Playouts)")
    play("tictactoe", str(timed))
    thoughts = [each for each in commands(sound)[told:] if each[0] == "think"]
    assert {tuple(each[1:]) for each in thoughts} == {("1.0", "0"), ("0.02", "0")}
    told = len(commands(sound))
    play("tictactoe", str(timed))
    assert {each[1] for each in commands(sound)[told:] if each[0] == "think"} == {"0.02"}


def test_recorded_games_are_followed_from_any_opening(sound: Path) -> None:
    """Ludii's own games of Yavalath: with each ply the stand-in must be in the position that follows it here."""
    for file, text in (("random_2p_swap", "yavalath(swap=true)"), ("careful_3p", "yavalath(players=3)")):
        for line in (DATA / f"{file}.jsonl").read_text().splitlines()[:2]:
            game, plies = make_game(text), json.loads(line)["cells"]
            for first in (0, 5):
                players = [ludii(sound).start(game, seat) for seat in range(game.num_seats)]
                before: list[Position] = []
                position = game.start()
                for number, ply in enumerate(plies):
                    if number >= first:
                        player = players[position.to_move]
                        assert isinstance(player, FollowingPlayer)
                        player.follow(plies[:number], before)
                        assert player.act(position).action in position.legal_actions()
                    before.append(position)
                    position = position.play(ply)
                for player in players:
                    assert isinstance(player, FollowingPlayer)
                    player.close()
    with pytest.raises(UserError, match="got only the position"):
        ludii(sound).start(make_game("tictactoe")).act(make_game("tictactoe").start())


def test_ludiis_labels_of_yavalath_are_ours() -> None:
    lines = [json.loads(line) for line in (DATA / "coordinates.jsonl").read_text().splitlines()]
    labels = [line["label"] for line in sorted(lines, key=lambda line: int(line["ludii_site"]))]
    (moves,) = possible_moves(make_game("yavalath(swap=true)"), labels)
    assert all(moves.word(line["idx"], False) == str(line["ludii_site"]) for line in lines)
    assert moves.word(61, False) == "swap" and moves.action("60", True) == 0
    with pytest.raises(UserError, match=r"must have the 37 sites of yavalath.size=4., got 61 from A1 to I9"):
        next(possible_moves(make_game("yavalath(size=4)"), labels))


def test_options_of_games_are_declared() -> None:
    assert ludii_game(make_game("yavalath(size=6,players=3)")).options == ("Players/3 Players", "Board Size/6x6")
    assert ludii_game(make_game("hex(swap=true)")).options == ("Board Size/11x11", "Swap Rules/On")
    own = Ludii(options="Variant/A;Board Size/9x9").game_of(make_game("yavalath"))
    assert own.options == ("Variant/A", "Board Size/9x9")


def failed(jar: Path, **parameters: object) -> MatchRecord:
    """Plays a match that Ludii must lose."""
    agent = ludii(jar, iterations=0, milliseconds=10, margin=500, warm_up=0, **parameters)
    (record,) = play_matches([MatchSpec("tictactoe", (agent.full_text(), "random"), 1)])
    assert record.scores == (-1.0, 1.0) and record.decisions[0] == WARM
    return record


@pytest.mark.parametrize(
    ("faulty", "ending", "said"),
    [
        (
            *("dies", Termination.CRASHED),
            "ended with the exit code 3; it said: java.lang.OutOfMemoryError: Java heap space",
        ),
        pytest.param(
            *("garbage", Termination.CRASHED, "the engine \"Ludii's bridge\" must answer ok or error, got 'what?'"),
            marks=pytest.mark.long,
        ),
        ("illegal", Termination.ILLEGAL_MOVE, "plays '999', which is not legal here"),
    ],
    indirect=["faulty"],
)
def test_failures_are_losses_and_say_why(faulty: Path, ending: Termination, said: str) -> None:
    record = failed(faulty)
    assert record.termination == ending and said in record.error


@pytest.mark.parametrize("faulty", ["hangs"], indirect=True)
def test_what_hangs_is_ended_with_all_that_it_has_started(faulty: Path) -> None:
    record = failed(faulty)
    assert record.termination == Termination.STALLED and "does not answer within 0.51 s" in record.error
    child = int(faulty.with_name("child").read_text())
    for _ in range(100):
        if not alive(child):
            break
        time.sleep(0.05)
    assert not alive(child)


def alive(process: int) -> bool:
    """Whether a process runs; one that nobody has waited for does not."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


@pytest.mark.parametrize(
    ("faulty", "said"),
    [
        ("protocol", "must speak turnier-ludii 1, got turnier-ludii 0"),
        ("rules", "by the same rules, got this difference: moves must be"),
    ],
    indirect=["faulty"],
)
def test_what_cannot_play_is_told_before_work(faulty: Path, said: str) -> None:
    with pytest.raises(UserError, match=said):
        play("tictactoe", str(ludii(faulty)))


def test_agents_that_ludii_does_not_have_are_told_before_work(sound: Path) -> None:
    with pytest.raises(UserError, match="Ludii has no agent named Nobody"):
        play("tictactoe", str(ludii(sound, agent="Nobody")))


def test_missing_jar_and_java_are_told_before_work(
    sound: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for agent in (Ludii(), Ludii(digest="0" * 16)):
        with pytest.raises(UserError, match=r"needs your Ludii.jar: download it"):
            prepare(MatchSpec("tictactoe", (agent.full_text(), "random"), 1))
    with pytest.raises(UserError, match=r"jar must be a Ludii.jar that can be read, got no.jar"):
        make_agent("ludii(jar=no.jar)")
    with pytest.raises(UserError, match="got /dev/null: it is not a file"):  # other devices never end
        make_agent("ludii(jar=/dev/null)")
    monkeypatch.setenv(JAVA, "no-such-java -Xmx1g")
    with pytest.raises(UserError, match="needs Java 17 or newer, got no command no-such-java"):
        play("tictactoe", str(ludii(new_jar(tmp_path))))


OWN = "ludii(agent=UCT,iterations=3)"
STORED = ("--store", "sqlite:///s.db")


def test_trainings_are_evaluated_against_it(sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(JAR, str(sound))
    network = "ntuple(network=cells,cells=0.1.2.3)"
    counts = ["--games", "20", "--evaluate-every", "10", "--evaluation-games", "2"]
    words = ["train", "yavalath(size=3)", network, *counts, "--against", OWN, "--out", "w.npz"]
    assert "UCT" in turnier(*words, *STORED, folder=tmp_path)


def test_a_match_with_it_is_shown(sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(JAR, str(sound))
    assert "UCT" in turnier("play", "yavalath(swap=true)", OWN, OWN, folder=tmp_path)


@pytest.mark.long
def test_tournaments_and_comparisons_have_it(sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process for each thread, and no path in what is shown."""
    monkeypatch.setenv(JAR, str(sound))
    threads = ["--executor", "threads", "--workers", "2"]
    words = ["tournament", "tictactoe", OWN, "random", "mcts(iterations=5)", "--games", "8"]
    shown = turnier(*words, *threads, *STORED, folder=tmp_path)
    assert "UCT" in shown and str(sound) not in shown
    words = ["compare", OWN, "random", "--game", "yavalath(size=3)", "--games", "20"]
    assert "UCT" in turnier(*words, *threads, *STORED, folder=tmp_path)


@pytest.mark.skipif(not shutil.which("javac"), reason="needs a JDK: apt install openjdk-17-jdk-headless")
def test_the_bridge_is_java_that_plays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled with hand-written classes that have the signatures of Ludii's, which play tic-tac-toe."""
    monkeypatch.delenv(JAVA, raising=False)
    classes, jar = tmp_path / "classes", tmp_path / "Ludii.jar"
    sources = list(map(str, STUBS.rglob("*.java")))
    subprocess.run(["javac", "-d", classes, *sources], check=True)
    subprocess.run(["jar", "--create", "--file", jar, "-C", classes, "."], check=True)
    try:
        records = play("tictactoe", str(ludii(jar)), seeds=3)
        assert {record.termination for record in records} == {Termination.NORMAL}, records[0].error
        assert next(bridge.version for digest, bridge in IDLE._idle if digest == ludii(jar).digest) == "1.3.14"
        with pytest.raises(UserError, match=r"refuses the command match: Ludii has no agent named None\.$"):
            play("tictactoe", str(ludii(jar, agent="None")))
    finally:
        end_idle_programs()
