"""`turnier play` shows the match that the same MatchSpec gives."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from tests.playing import played
from turnier.agents.registry import make_agent
from turnier.commands.runs.shown_match import show_match
from turnier.core.errors import UserError
from turnier.games.registry import make_game


@pytest.mark.parametrize(
    ("game", "agents"),
    [("2048(size=3)", ["mctse(iterations=20)"]), ("tictactoe", ["mc(iterations=20)", "random"])],
)
@pytest.mark.parametrize("show", [False, True])
def test_a_watched_match_is_the_match_of_its_spec(game: str, agents: list[str], show: bool) -> None:
    made = [make_agent(agent) for agent in agents]
    shown = io.StringIO()
    end = show_match(Console(file=shown, width=120), make_game(game), made, 5, every_move=show)
    record = played(game, *made, seed=5)
    assert tuple(end.returns) == record.scores
    assert "seed 5" in shown.getvalue()
    assert ("values (visits)" in shown.getvalue()) == show


def test_too_few_agents_are_refused() -> None:
    with pytest.raises(UserError, match="2 seats, got 1 agent"):
        show_match(Console(file=io.StringIO()), make_game("tictactoe"), [make_agent("random")], 1)
