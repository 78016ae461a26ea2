"""Every game keeps every law, and no law is empty: each one catches broken games."""

from __future__ import annotations

import pytest

from tests.contract.broken_forced_wins import BROKEN_FORCED_WINS
from tests.contract.broken_games import BROKEN, Broken
from tests.contract.broken_python_games import BROKEN_PYTHON_GAMES, Race
from tests.contract.guess_game import Guess
from tests.contract.tiny_games import TINY_GAMES
from turnier.contract.games.laws import GAME_LAWS
from turnier.contract.games.playouts import law_playout_distribution
from turnier.contract.law import check_laws
from turnier.games.game import Game
from turnier.games.registry import GAMES, make_game

VARIANTS = (  # besides every registry game with its defaults
    "2048(size=2)",
    "2048(size=3)",
    "connect_four(rows=4,columns=4)",
    "go(size=5)",
    "go(size=5,komi=0,superko=false)",
    "hex(size=3,swap=true)",
    "nim(piles=2;3,misere=true)",
    "othello(size=4)",
    "spe_ed(width=4,height=5)",
    "spe_ed(width=9,height=7,players=6,silence=true)",
    "yavalath(size=3)",
    "yavalath(size=8)",
    "yavalath(size=3,swap=true)",
    "yavalath(players=3)",
    "yavalath(size=3,players=3,play_on=false)",
)
ALL_BROKEN = [*BROKEN, *BROKEN_FORCED_WINS, *BROKEN_PYTHON_GAMES]
SLOW = ("go",)  # thousands of playouts of a hundred plies, of which one half asks for all legal moves
REGISTERED = [make_game(text) for text in (*GAMES.names(), *VARIANTS)]
COMPILED = [
    pytest.param(game, marks=pytest.mark.long) if str(game) in SLOW else game
    for game in REGISTERED
    if not game.in_python
]


@pytest.mark.parametrize("game", [*COMPILED, *TINY_GAMES, Guess(), Race()], ids=str)
def test_game_keeps_the_laws(game: Game) -> None:
    """One case checks all laws; its message names those that are broken."""
    check_laws(GAME_LAWS, game)


@pytest.mark.long
@pytest.mark.parametrize("game", [game for game in REGISTERED if game.in_python], ids=str)
def test_game_in_python_keeps_the_laws(game: Game) -> None:
    """Its playout is that of all games in Python, which others prove; comparing thousands would take half an hour."""
    check_laws([law for law in GAME_LAWS if law is not law_playout_distribution], game)


@pytest.mark.parametrize("broken", ALL_BROKEN, ids=lambda broken: f"{broken.law.__name__}: {broken.what} {broken.says}")
def test_broken_game_is_caught(broken: Broken) -> None:
    with pytest.raises(AssertionError, match=f"(?s)^{broken.law.__name__} is broken by .*{broken.says}"):
        check_laws([broken.law], broken.game)


def test_every_law_catches_something() -> None:
    idle = [law.__name__ for law in GAME_LAWS if not any(broken.law is law for broken in ALL_BROKEN)]
    assert not idle, f"add broken games that these laws catch: {', '.join(idle)}"
