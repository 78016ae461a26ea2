"""Plays a random game of OpenSpiel in a separate process, which a wrong parameter may crash."""

import contextlib
import random
import resource
import sys

REFUSED = 3  # exit status of an error; its message is printed
MAX_PLIES = 2000
MAX_BYTES = 4 << 30


def play(text: str) -> None:
    """Plays to the end of the game, at most MAX_PLIES plies."""
    import pyspiel

    game = pyspiel.load_game(text)
    if game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        game = pyspiel.convert_to_turn_based(game)
    if game.get_type().dynamics == pyspiel.GameType.Dynamics.MEAN_FIELD:
        return
    choose, state = random.Random(1), game.new_initial_state()
    for _ in range(MAX_PLIES):
        if state.is_terminal():
            break
        options = [o for o, _ in state.chance_outcomes()] if state.is_chance_node() else state.legal_actions()
        state.apply_action(choose.choice(options))
    print(state.returns())


if __name__ == "__main__":
    with contextlib.suppress(OSError, ValueError):  # not every system can limit memory
        resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))
    try:
        play(sys.argv[1])
    except Exception as error:
        print(error)
        sys.exit(REFUSED)
