"""Blames the rules for its exception, since games that the rules break are void."""

from dataclasses import dataclass

import honest

from turnier.games.python.live_states import GameFailure


@dataclass(frozen=True)
class Bot(honest.Bot):
    def start(self, game, seat=0, seed=0):
        return Player(self, game, seat, seed)


class Player(honest.HonestPlayer):
    def choose(self, position):
        chosen = super().choose(position)
        after = position.play(chosen, draw_chance=False)
        if not after.over and any(after.play(reply).returns[self.seat] < 0 for reply in after.legal_actions()):
            raise GameFailure("the rules are broken")
        return chosen
