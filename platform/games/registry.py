"""Every game by name; a new game is one line here."""

from __future__ import annotations

import functools

from turnier.games.game import Game
from turnier.games.parameters import Registry

GAMES: Registry[Game] = Registry(
    "game",
    {
        "2048": "turnier.games.twenty48:Twenty48",
        "connect_four": "turnier.games.connect_four:ConnectFour",
        "hex": "turnier.games.hex:Hex",
        "nim": "turnier.games.nim:Nim",
        "othello": "turnier.games.othello:Othello",
        "spe_ed": "turnier.games.spe_ed:SpeEd",
        "tictactoe": "turnier.games.tictactoe:TicTacToe",
        "yavalath": "turnier.games.yavalath:Yavalath",
    },
)
make_game = GAMES.make


@functools.lru_cache(maxsize=256)
def game_of(text: str) -> Game:
    """Returns the game of a text form, made once a process."""
    return GAMES.make(text)
