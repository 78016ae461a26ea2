"""Values and a policy as n-tuple networks of one shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...agents.ntuple.evaluator import NTuple
from ...agents.ntuple.layout import Floats32, new_table
from ...agents.ntuple.network import Network
from ...agents.ntuple.network_kernels import AT_END
from ...agents.ntuple.weights import Room, Weights, evaluator_weights, touched_entries
from ...agents.puct.agent import Puct
from ...agents.puct.learning_kernels import NUM_RATES, learn_positions
from ...agents.puct.self_play import SelfPlay
from ...core.array_files import not_finite
from ...core.kernel import compile_kernel
from ...games.game import Game
from .games import Networks
from .model import Model
from .window import Arrays, Lessons


class Entries(NamedTuple):
    """The entries of a network that learning has changed."""

    places: npt.NDArray[np.int64]  # [n] ascending
    entries: Floats32  # [n, width] see Weights

    @classmethod
    def none(cls, coherent: bool) -> Entries:
        return cls(np.empty(0, np.int64), np.empty((0, 3 if coherent else 1), np.float32))

    def check(self, network: Network, coherent: bool) -> None:
        """Raises ValueError if they do not fit the network, which kernels do not check."""
        places, entries = self
        if (places.dtype.str, entries.dtype.str) != ("<i8", "<f4") or places.ndim != 1:
            raise ValueError("its entries have a wrong type")
        if entries.shape != (len(places), 3 if coherent else 1) or (np.diff(places) <= 0).any():
            raise ValueError("its entries have a wrong shape")
        if len(places) and not (places[0] >= 0 and places[-1] < network.entries):
            raise ValueError("its entries do not fit its network")


class NTupleModel(Model):
    files = ("values", "policy")
    names = tuple(f"{name}_{part}" for name in files for part in Entries._fields)
    foreign = ("rate", "batch", "decay")

    def __init__(self, game: Game, agent: Puct, learning: SelfPlay, seed: int) -> None:
        self.game, self.learning = game, learning
        self.network = _network(game, agent)
        self.outputs = self.network.outputs
        self.layout = self.network.layout(learning.coherence)
        self.words = self.network.words(self.layout)
        self.words[AT_END] = 1
        self.tables = (new_table(self.layout.size), new_table(self.layout.size if learning.policy else 0))
        rates = (learning.alpha, learning.policy_alpha, learning.coherence, agent.temperature)
        assert len(rates) == NUM_RATES
        self.rates = np.array(rates, np.float64)
        compile_kernel(learn_positions)

    @classmethod
    def check(cls, game: Game, agent: Puct) -> None:
        _network(game, agent)

    @classmethod
    def agent(cls, agent: Puct, learning: SelfPlay, files: Sequence[Path]) -> Puct:
        values, policy = files
        return agent.replace(evaluator=NTuple(file=str(values)), policy=str(policy) if learning.policy else "")

    def described(self) -> dict[str, Any]:
        return self.network.to_json()

    def networks(self) -> Networks:
        values, policy = self.learned({"learning": self.learning.full_text()}, np.empty((0, 4)))
        assert values
        return Networks(
            evaluator_weights(self.network, values), evaluator_weights(self.network, policy) if policy else np.empty(0)
        )

    def learn(self, lessons: Lessons, order: npt.NDArray[np.int64], done: int) -> None:
        learn_positions(self.game.kernels, self.words, *self.tables, self.rates, *lessons, order)

    def arrays(self) -> Arrays:
        arrays: Arrays = {}
        for name, table in zip(self.files, self.tables, strict=True):
            places, entries = self._entries(table)
            arrays |= {f"{name}_places": places, f"{name}_entries": entries}
        return arrays

    def not_finite(self) -> str:
        return not_finite(dict(zip(self.files, self.tables, strict=True)))

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        found = [Entries(arrays[f"{name}_places"], arrays[f"{name}_entries"]) for name in self.files]
        for entries in found:
            entries.check(self.network, self.learning.coherence)
        for table, entries in zip(self.tables, found, strict=True):
            for i, column in enumerate(self.layout.columns(table) if table.size else ()):
                column[entries.places] = entries.entries[:, i]

    def learned(
        self, training: Mapping[str, Any], curve: npt.NDArray[np.float64]
    ) -> tuple[Weights | None, Weights | None]:
        def weights(table: Floats32, **more: bool) -> Weights:
            places, entries = self._entries(table)
            return Weights(self.network, 0.0, places, entries[:, :1].copy(), {**training, **more}, curve)

        values, policy = self.tables
        return weights(values), weights(policy, policy=True) if policy.size else None

    def _entries(self, table: Floats32) -> Entries:
        if not table.size:
            return Entries.none(self.learning.coherence)
        return Entries(*touched_entries(self.layout, table, 0.0, Room.of(self.layout)))


def _network(game: Game, agent: Puct) -> Network:
    """Returns the shape of both networks."""
    assert isinstance(agent.evaluator, NTuple)
    return agent.evaluator.network_for(game)
