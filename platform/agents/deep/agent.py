"""The agent that plays the best action by a deep Q-network."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ...core.errors import UserError
from ...core.parameters import parameter
from ...games.game import Game
from ...games.registry import GAMES
from ..abi import SeatKernels
from ..agent import CompiledAgent
from ..evaluator import ValueUnit
from ..learning.files import fill_digest, settings_from_file
from .kernels import act_dqn
from .network import AFTER, BOARD, EACH, INPUTS, TWO, Network, Weights

LARGEST_LAYER = 10_000


@dataclass(frozen=True)
class Dqn(CompiledAgent):
    """Plays the legal action with the highest value by a deep network from a file; among equals, the first.

    The network has dense layers over one-hot boards; `turnier train GAME dqn` trains it. Playing needs no pip extra.
    With input=each the layers value the board after each action separately, and the action's immediate reward is added.
    With input=board they value all actions at once, from the board; with input=after they also see the boards after
    each action, and with input=two those after two, as in Staehli and Sager's blog on 2048 (2019). Values have the unit
    of the network's rewards. Without a file the agent plays the first legal action. Sources: Mnih et al. 2015; Wang et
    al. 2016 (duelling).
    """

    name: ClassVar[str] = "dqn"
    act_kernel: ClassVar[Any] = act_dqn

    file: str = parameter("", "file of a network that `turnier train` wrote; it determines the layers", carried=True)
    digest: str = parameter("", "digest that the network must have; filled in")
    layers: str = parameter("128.64", "for training: sizes of the hidden layers")
    input: str = parameter(EACH, "for training: see above", choices=INPUTS)
    dueling: bool = parameter(
        True,
        "for training: half of the last layer values the state, the other half the advantage of each action",
        when={"input": (BOARD, AFTER, TWO)},
    )

    def draws_numbers(self, game: Game) -> bool:
        return False

    def check(self) -> None:
        self._sizes()
        fill_digest(self, Weights.read)

    def _sizes(self) -> tuple[int, ...]:
        sizes = self.layers.split(".")
        if not all(size.isdecimal() and 2 <= int(size) <= LARGEST_LAYER for size in sizes):
            raise UserError(
                f"dqn: layers must be sizes from 2 to {LARGEST_LAYER:,} separated by dots, got {self.layers};"
                " write layers=128.64."
            )
        return tuple(map(int, sizes))

    def network_for(self, game: Game, unit: float, log: bool) -> Network:
        """Returns the network to train, for rewards in that unit; the file is not read."""
        return Network(game, self._sizes(), self.input, self.dueling, unit, log)

    def value_unit(self, game: Game) -> ValueUnit:
        if not self.file:
            return super().value_unit(game)
        network = Weights.read(self.carried_path("file"))["network"]
        unit = float(network["unit"])
        return ValueUnit(unit, "logarithms of points to come" if network["log"] else "points to come")

    def cannot_play(self, game: Game) -> str | None:
        if self.file and os.path.isfile(self.carried_path("file")):  # stored matches can be counted without it
            learned = GAMES.make(Weights.read(self.carried_path("file"))["network"]["game"])
            if learned != game:
                return f"the network in {self.file} is for {learned}, got {game}; train one for it."
        return super().cannot_play(game)

    def kernels(self, game: Game) -> SeatKernels:
        seat = super().kernels(game)
        if not self.file:
            return replace(seat, settings=np.zeros(1))
        return replace(
            seat, settings=settings_from_file(Weights, str(self.carried_path("file").resolve()), self.digest)
        )
