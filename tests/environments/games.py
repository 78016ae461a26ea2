"""The games that environments are tested with: those of the contract, in Python, with chance, with hidden choices."""

from __future__ import annotations

from tests.contract.test_game_contract import REGISTERED
from tests.contract.tiny_games import TINY_GAMES
from turnier.games.game import Game

ALL_GAMES: list[Game] = [*REGISTERED, *TINY_GAMES]
