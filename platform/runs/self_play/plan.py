"""What is learned by self-play with search, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from turnier.agents.evaluator import Evaluator
from turnier.agents.ntuple.evaluator import NTuple
from turnier.agents.puct.agent import Puct
from turnier.agents.puct.self_play import SelfPlay
from turnier.agents.puct.self_play_kernels import NUM_CHOICES
from turnier.agents.residual.evaluator import Residual
from turnier.core.errors import UserError
from turnier.core.parameters import parameters_of
from turnier.games.game import Game
from turnier.runs.self_play.model import Model
from turnier.runs.self_play.ntuple_model import NTupleModel
from turnier.runs.self_play.residual_model import ResidualModel

MODELS: dict[type[Evaluator], type[Model]] = {NTuple: NTupleModel, Residual: ResidualModel}


@dataclass(frozen=True)
class Plan:
    """Two trainings with the same plan learn the same weights, whatever plays their games."""

    game: Game
    agent: Puct  # which plays; its evaluator is the empty network to be learned
    learning: SelfPlay
    seed: int = 1
    every: int = 1000  # games of a point of the curve

    def described(self) -> dict[str, Any]:
        return {
            "game": self.game.full_text(),
            "agent": self.agent.full_text(),
            "learning": self.learning.full_text(),
            "seed": self.seed,
            "every": self.every,
        }

    def check(self) -> None:
        """Raises UserError where this cannot be learned."""
        game, agent, network = self.game, self.agent, self.agent.evaluator
        learned = any(getattr(network, name, "") for name in ("file", "stages"))
        if type(network) not in MODELS or learned or agent.policy:
            raise UserError(
                f"puct must learn around an empty n-tuple network without stages, or a residual one, got {agent}; write"
                ' "puct(iterations=100,selection=gumbel,evaluator=ntuple(tuples=20,length=4))".'
            )
        if game.num_seats == 1 or game.has_chance or game.hidden or game.in_python:
            raise UserError(
                f"self-play with search is for compiled games of several seats without chance, got {game}; train an"
                " ntuple without --self-play."
            )
        if agent.milliseconds:
            raise UserError(f"self-play must be the same every time, got {agent}; give iterations, not milliseconds.")
        for field, _ in parameters_of(type(self.learning)):
            if field.name in self.model.foreign and getattr(self.learning, field.name) != field.default:
                raise UserError(f"self_play around {agent.evaluator} takes no {field.name}; leave it out.")
        agent.require(game)
        self.model.check(game, agent)

    @property
    def model(self) -> type[Model]:
        """The kind of what is learned."""
        return MODELS[type(self.agent.evaluator)]

    def new_model(self) -> Model:
        return self.model(self.game, self.agent, self.learning, self.seed)

    def choices(self) -> npt.NDArray[np.float64]:
        """Returns how moves are chosen, as `play_by_search` reads it."""
        learning = self.learning
        opened = learning.openings, learning.opened
        choices = np.array((learning.full, learning.fast, learning.drawn, *opened), np.float64)
        assert len(choices) == NUM_CHOICES
        return choices
