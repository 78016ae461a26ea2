"""TD learning on n-tuple networks in plain Python: dictionaries for tables, lists of boards for traces."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from turnier.agents.ntuple.network import Network
from turnier.games.game import Game, Position

F32 = np.float32


class NaiveNetwork:
    """Entries by (phase, output, tuple, cells); sums of changes for temporal coherence beside them."""

    def __init__(self, network: Network, initial: float = 0.0, bound: float = 0.0, beta: float = 0.0) -> None:
        """`bound` squeezes values by tanh; `beta` makes rates exponential; neither if 0."""
        self.network, self.bound, self.beta = network, bound, beta
        self.values: dict[Any, F32] = defaultdict(lambda: F32(initial))
        self.signed: dict[Any, F32] = defaultdict(F32)
        self.absolute: dict[Any, F32] = defaultdict(F32)

    def features(self, game: Game, position: Position, output: int) -> list[Any]:
        cells = [min(int(v), self.network.values - 1) for v in game.cell_values(position.state)]
        highest = max(int(v) for v in game.cell_values(position.state))
        stage = sum(highest >= first for first in self.network.stages)
        phase = stage * game.num_seats + max(position.to_move, 0)
        return [
            (phase, output, t, tuple(cells[image[cell]] for cell in chosen))
            for image in self.network.symmetries
            for t, chosen in enumerate(self.network.tuples)
        ]

    def value(self, game: Game, position: Position, output: int = 0) -> F32:
        """The sum, in double precision, so that equal boards have equal values."""
        total = F32(sum(float(self.values[f]) for f in self.features(game, position, output)))
        return F32(self.bound * math.tanh(total / self.bound)) if self.bound else total

    def slope(self, game: Game, position: Position, output: int) -> float:
        """The derivative of the value by the sum."""
        value = float(self.value(game, position, output))
        return 1.0 - (value / self.bound) ** 2 if self.bound else 1.0

    def add(self, feature: Any, change: F32, coherent: bool) -> None:
        rate = F32(1)
        if coherent:
            if self.absolute[feature]:
                rate = abs(self.signed[feature]) / self.absolute[feature]
            if self.beta:
                rate = F32(math.exp(self.beta * (float(rate) - 1.0)))
            self.signed[feature] += change
            self.absolute[feature] += abs(change)
        self.values[feature] += rate * change


def play_and_learn(
    network: NaiveNetwork,
    game: Game,
    seed_words: Any,
    alpha: float,
    discount: float,
    trace: float,
    coherent: bool,
    restart: int = 0,
    delayed: int = 0,  # the horizon
    once: bool = False,
    passed: Callable[[Position], int] = lambda position: -1,
) -> list[float]:
    """Plays one greedy game from a stream's words, learning after each action; returns the returns of its first end.

    `passed` names the actions of boards that are not learned from, or -1.
    """
    start = game.new_state()
    game.kernels.init(start, seed_words)
    position = Position(game, start, game.start().returns * 0.0, seed_words)
    outputs = range(network.network.outputs)
    history: list[Position] = []  # afterstates, newest last
    slopes: list[list[float]] = []  # of those that have been the newest when there was something to learn
    returns_before = [0.0] * game.num_seats
    path: list[Position] = []  # what was decided on since the start
    first_end: list[float] = []

    late_slopes: list[list[float]] = []
    late: list[tuple[Position, list[float]]] = []  # afterstates that have not learned, and what they are to

    def looked_up(afterstate: Position, output: int) -> list[Any]:
        """What learns, as often as it does."""
        features = network.features(game, afterstate, output)
        return list(dict.fromkeys(features)) if once else features

    def learn_late(keep: int) -> None:
        while len(late) > keep:
            (afterstate, changes), own = late.pop(0), late_slopes.pop(0)
            for o in outputs:
                for feature in looked_up(afterstate, o):
                    network.add(feature, F32(changes[o] * own[o]), coherent)

    def learn(targets: list[F32]) -> None:
        if delayed:
            late.append((history[-1], [0.0 for _ in outputs]))
            late_slopes.append([network.slope(game, history[-1], o) for o in outputs])
            for o in outputs:
                error = float(targets[o] - network.value(game, history[-1], o))
                for age, (_, changes) in enumerate(reversed(late)):
                    changes[o] += alpha / network.network.lookups * error * (discount * trace) ** age
            return learn_late(delayed - 1)
        slopes.append([network.slope(game, history[-1], o) for o in outputs])
        for o in outputs:
            error = targets[o] - network.value(game, history[-1], o)
            change = F32(alpha) / F32(network.network.lookups) * error
            if not trace:  # each look-up is a change of its own, in order
                for feature in looked_up(history[-1], o):
                    network.add(feature, change * F32(slopes[-1][o]), coherent)
                continue
            traces: dict[Any, float] = defaultdict(float)
            for afterstate, slope in zip(history, slopes, strict=True):  # z = gamma lambda z + slope
                for feature in traces:
                    traces[feature] *= discount * trace
                for feature in looked_up(afterstate, o):
                    traces[feature] += slope[o]
            for feature, z in traces.items():
                if z:
                    network.add(feature, change * F32(z), False)

    while True:
        while position.to_move == -1:
            position = position.play(position.draw_outcome(), draw_chance=False)
            seed_words = position._rng
        if position.over:
            if history:
                learn([F32(position.returns[o] - returns_before[o]) for o in outputs])
            learn_late(0)
            first_end = first_end or [float(r) for r in position.returns]
            middle = len(path) // 2
            if not restart or middle < restart:
                return first_end
            position = path[middle]
            position = Position(game, position.state, position.returns, seed_words)
            returns_before, history, path = [float(r) for r in position.returns], [], []
            slopes = []
        if (action := passed(position)) >= 0:
            position = position.play(action, draw_chance=False)
            continue
        path.append(position)
        best, best_value = None, F32(0)
        for action in position.legal_actions():
            after = position.play(action, draw_chance=False)
            targets = [
                (F32(0) if after.over else F32(discount) * network.value(game, after, o))
                + F32(after.returns[o] - returns_before[o])
                for o in outputs
            ]
            mover = position.to_move
            value = targets[mover] if len(targets) > 1 else targets[0] * (1 if mover == 0 else -1)
            if best is None or value > best_value:
                best, best_value = (after, targets), value
        assert best is not None
        after, targets = best
        if history:
            learn(targets)
        returns_before = [float(r) for r in after.returns]
        history = [] if after.over else ([*history, after] if trace else [after])
        slopes = slopes if trace and history else []
        if after.over:
            learn_late(0)
        position = after
