"""Residual networks as evaluators: convolutions over the board, a value and, for `puct`, a policy."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ...core.errors import UserError
from ...core.parameters import parameter
from ...games.game import Game
from ...games.registry import GAMES
from ..abi import EvaluatorKernels
from ..evaluator import Evaluator
from ..learning.files import fill_digest, settings_from_file
from .kernels import evaluate_residual
from .network import Network, Weights, uneven, unsuited
from .tiles import LANES


@dataclass(frozen=True)
class Residual(Evaluator):
    """The value of a board by a residual convolutional network from a file; without a file always 0.

    It is AlphaZero's network for boards on a grid, squares or hexagons, and two seats without chance. `turnier train
    GAME "puct(evaluator=residual)"` writes the files, with the pip extra `deep`; playing needs none. In `puct` its
    policy gives the priors, and a new node costs one evaluation of it; other searches use the value alone. Source:
    Silver et al. 2018.
    """

    name: ClassVar[str] = "residual"
    evaluate_kernel: ClassVar[Any] = evaluate_residual

    file: str = parameter(
        "", "file of a network that `turnier train GAME puct` wrote; it determines the layers", carried=True
    )
    digest: str = parameter("", "digest that the network must have; filled in")
    blocks: int = parameter(2, "for training: blocks of two convolutions", low=0, high=40, search=(1, 6))
    filters: int = parameter(32, f"for training: filters per convolution, a multiple of {LANES}", low=LANES, high=512)

    def draws_numbers(self, game: Game, rollout_depth: int) -> bool:
        return False

    def check(self) -> None:
        if reason := uneven(self.filters):
            raise UserError(reason)
        fill_digest(self, Weights.read)

    def cannot_evaluate(self, game: Game) -> str | None:
        if self.file and os.path.isfile(self.carried_path("file")):  # stored matches can be counted without it
            learned = GAMES.make(Weights.read(self.carried_path("file"))["network"]["game"])
            if learned != game:
                return f"the network in {self.file} is for {learned}, got {game}; train one for it."
        return unsuited(game) or self.network_for(game).unfit()

    def network_for(self, game: Game) -> Network:
        """Returns the network of the parameters; the file is not read."""
        return Network(game, self.blocks, self.filters)

    def kernels(self, game: Game, rollout_depth: int, score_method: int) -> EvaluatorKernels:
        if self.file:
            settings = settings_from_file(Weights, str(self.carried_path("file").resolve()), self.digest)
        else:
            settings = _unlearned(self.network_for(game))
        return self.with_weights(game, settings)


@functools.lru_cache(maxsize=16)
def _unlearned(network: Network) -> npt.NDArray[np.float64]:
    return network.settings(network.new_weights(0))
