from turnier.games.registry import make_game
