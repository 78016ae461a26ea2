"""All games by name; a new game is one line here."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from ..core.parameters import Registry

if TYPE_CHECKING:
    from .game import Game

GAMES: Registry[Game] = Registry(
    "game",
    {
        "2048": "turnier.games.twenty48.game:Twenty48",
        "chess": "turnier.games.chess.game:Chess",
        "connect_four": "turnier.games.connect_four:ConnectFour",
        "duel2048": "turnier.games.twenty48.game:Duel2048",
        "go": "turnier.games.go.game:Go",
        "gymnasium": "turnier.games.python.gymnasium_game:GymnasiumGame",
        "hex": "turnier.games.hex:Hex",
        "nim": "turnier.games.nim:Nim",
        "openspiel": "turnier.games.open_spiel.game:OpenSpiel",
        "othello": "turnier.games.othello:Othello",
        "spe_ed": "turnier.games.spe_ed.game:SpeEd",
        "tictactoe": "turnier.games.tictactoe:TicTacToe",
        "yavalath": "turnier.games.yavalath.game:Yavalath",
    },
)
make_game = GAMES.make


@functools.lru_cache(maxsize=256)
def game_of(text: str) -> Game:
    """Returns the game of a text form, made once per process."""
    return GAMES.make(text)
