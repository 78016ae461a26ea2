"""`turnier play` with people: what they type, what is stored, and how strong they are said to be."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.cli.running import turnier
from turnier.agents.registry import make_agent
from turnier.arena.match import Termination
from turnier.commands.app import app
from turnier.commands.runs import play_people
from turnier.commands.runs.play_people import Series, Session, chosen_move, play_series, with_names
from turnier.core.errors import UserError
from turnier.core.terminal.console import Console
from turnier.games.registry import make_game
from turnier.results.store.store import Store
from turnier.runs.people.human_rating import next_opponent, rating_of


def typed(folder: Path, lines: str, *words: str) -> str:
    """Returns what `turnier play` prints to somebody who types these lines."""
    url = f"sqlite:///{folder / 'games.db'}"
    ended = CliRunner().invoke(app, ["play", *words, "--store", url], input=lines, env={"COLUMNS": "80"})
    assert ended.exit_code == 0, (ended.output, ended.exception)
    return ended.stdout


def stored(folder: Path) -> list[Termination]:
    with Store.open(f"sqlite:///{folder / 'games.db'}", read_only=True) as store:
        return [
            record.termination for run in store.runs() for batch in store.records_of_run(run.id) for record in batch
        ]


def test_a_game_in_the_terminal(tmp_path: Path) -> None:
    lines = "help\nmoves\nb\nhint\nhint nobody\nzz\nmove\nundo\nB2\nundo\nboard\nb2\nresign\n"
    shown = typed(tmp_path, lines, "tictactoe", "human", "mcts(iterations=50)", "--name", "Ann")
    for text in (
        "take back your last move",
        "a1  b1  c1",
        "unambiguous, got 'b', which begins b1, b2, b3",
        "mcts(iterations=50): ",
        "There is no agent named 'nobody'",
        "no move or command 'zz'; possible: a1",
        "no move or command 'move'; did you mean moves?",
        "You have no move to take back yet",
        "seat 1, mcts(iterations=50), plays",
        "seat 0, human(name=Ann): -1, resigned",
        "Ann: Elo -",
    ):
        assert text in shown, text
    assert stored(tmp_path) == [Termination.RESIGNED]
    listed = turnier("show", "--store", f"sqlite:///{tmp_path / 'games.db'}", folder=tmp_path)
    assert "human(name=Ann)" in listed


def test_a_game_that_was_left_goes_on_and_the_next_one_is_another(tmp_path: Path) -> None:
    game = ("2048(size=2)", "human(name=Ann)")
    assert "The game is kept" in typed(tmp_path, "left\n", *game)
    assert stored(tmp_path) == [Termination.UNFINISHED]
    assert "it resumes" in typed(tmp_path, "resign\n", *game)
    assert stored(tmp_path) == [Termination.RESIGNED]
    assert "seed 2" in typed(tmp_path, "", *game)
    with pytest.raises(UserError, match="with seed 1 is over"):
        CliRunner().invoke(
            app, ["play", *game, "--seed", "1", "--store", f"sqlite:///{tmp_path}/games.db"], catch_exceptions=False
        )


def test_hidden_choices_are_not_shown(tmp_path: Path) -> None:
    shown = typed(tmp_path, "change\n", "spe_ed(width=8,height=8,players=3)", "random", "human", "random")
    assert shown.count("has chosen") >= 3 and "plays" not in shown and "seat 1 (help)" in shown


def test_several_people_at_one_terminal(tmp_path: Path) -> None:
    lines = "a1\nb1\na2\nb2\na3\n"
    shown = typed(tmp_path, lines, "tictactoe", "human", "human", "--name", "Ann")
    assert "human(name=Ann): 1" in shown and 'human(name="Ann 2"): -1' in shown


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["tictactoe", "random", "random", "--games", "3"], "need an agent human"),
        (["tictactoe", "human"], "has 2 seats, got 1 agents"),
        (["tictactoe", "human", "random", "--ladder"], "name human alone"),
        (["tictactoe", "human", "--ladder"], "with at least 10 stored games, got none"),
        (["2048", "human", "--ladder"], "for games of two seats"),
        (["tictactoe", "human", "random", "--name", "<b>"], "human: name must be"),
    ],
)
def test_mistakes_are_sentences(tmp_path: Path, words: list[str], sentence: str) -> None:
    url = f"sqlite:///{tmp_path / 'games.db'}"
    with pytest.raises(UserError, match=sentence):
        CliRunner().invoke(app, ["play", *words, "--store", url], catch_exceptions=False)


def test_tournaments_refuse_people() -> None:
    with pytest.raises(UserError, match="type: turnier play tictactoe human AGENT"):
        CliRunner().invoke(app, ["tournament", "tictactoe", "human", "random", "--games", "2"], catch_exceptions=False)


def test_beginnings_of_names() -> None:
    names = {"turn_left": 0, "turn_right": 1, "1": 2, "10": 3, "pass": 4, "help_me": 5}
    found = [chosen_move(text, names) for text in ("turn_l", "turn", "1", "P", "help", "help_", "undo")]
    assert found == [0, None, 2, 4, None, 5, None]
    assert with_names(["human", "random", "human", "human(name=Bo)"], "Ann") == [
        "human(name=Ann)",
        "random",
        'human(name="Ann 2")',
        "human(name=Bo)",
    ]


def test_ten_games_on_the_ladder_rate_a_person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The person types what a search says, which is stronger than most; opponents come nearer."""
    url, game = f"sqlite:///{tmp_path / 'games.db'}", make_game("connect_four(rows=4,columns=4)")
    agents = ("random", "mc(iterations=3)", "mcts(iterations=20)", "mcts(iterations=200)")
    turnier("tournament", str(game), *agents, "--games", "20", "--store", url, "--executor", "serial", folder=tmp_path)
    sessions: list[Session] = []

    class Watched(Session):
        def play(self) -> bool:
            sessions.append(self)
            return super().play()

    def ask(prompt: str) -> str:
        match = sessions[-1].match
        seen = match.seen()
        player = make_agent("mcts(iterations=150)").start(game, seen.to_move, match.spec.seed)
        return game.action_name(player.act(seen).action)

    monkeypatch.setattr(play_people, "Session", Watched)
    series, printed = Series.of(game, ["human"], "Ann", 10, None, True), io.StringIO()
    person = make_agent("human(name=Ann)").full_text()
    with Store.open(url) as store:
        play_series(Console(file=printed, width=80), series, store, ask, None)
        rating = rating_of(store, game, person)
        assert rating is not None and rating.games == 10
        assert rating.low < rating.elo < rating.high < rating.low + 3000
        table = rating.table.set_index("label")["elo"]
        assert rating.elo > table["random"]
        assert next_opponent(store, game, person) in {make_agent(agent).full_text() for agent in agents}
    seats = [match.spec.agents.index(person) for match in (session.match for session in sessions)]
    assert seats == [0, 1] * 5
    met = {name for session in sessions for name in session.match.spec.agents} - {person}
    assert make_agent("random").full_text() not in met and len(met) > 1
    assert re.search(r"Ann: Elo [+-][\d,]+ ± [\d,]+ \(95 %\) by 10 games", printed.getvalue())
