"""Template: plays the action that gains most at once, at times a random one. It decides in Python."""

from __future__ import annotations

import random
from dataclasses import dataclass

from turnier import Agent, Decision, Game, Player, Position, parameter

# TURNIER_FILES = ["weights.json"]  # data that it opens beside this file: part of its version, and with it everywhere


@dataclass(frozen=True)
class Template(Agent):
    """Plays the action that gains most at once, at times a random one."""

    surprise: float = parameter(0.1, "share of actions that are drawn at random", low=0.0, high=1.0)

    def start(self, game: Game, seat: int = 0, seed: int = 0) -> Player:
        return TemplatePlayer(self, seat, seed)


class TemplatePlayer:
    """Plays one seat of one match; it may remember what it likes."""

    def __init__(self, agent: Template, seat: int, seed: int) -> None:
        self.agent, self.seat = agent, seat
        self.rng = random.Random(f"{seed} {seat}")  # the same seed must give the same decisions

    def act(self, position: Position) -> Decision:
        values = {}
        for action in position.legal_actions():
            after = position.play(action, draw_chance=False)  # a new position; the one it got stays as it is
            values[action] = after.returns[self.seat] - position.returns[self.seat]
        most = max(values.values())
        best = [action for action, value in values.items() if value == most]
        action = self.rng.choice(list(values) if self.rng.random() < self.agent.surprise else best)
        return Decision.of(position, action, values)  # or the action alone: the values are for people to look at
