"""Every game by name; a new game is one line here."""

from __future__ import annotations

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
        "tictactoe": "turnier.games.tictactoe:TicTacToe",
        "yavalath": "turnier.games.yavalath:Yavalath",
    },
)
make_game = GAMES.make
