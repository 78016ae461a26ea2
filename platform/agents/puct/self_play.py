"""Learning of values and a policy by self-play with search, as declared parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...core.parameters import parameter
from ..ntuple.td import Learning


@dataclass(frozen=True)
class SelfPlay(Learning):
    """Learning from games that a search with the current networks plays against itself (AlphaZero's loop).

    After every generation of games both networks learn from positions drawn from the window of the newest games. Values
    move towards the result, mixed with the search's value. The policy moves towards that of the search: Gumbel's
    improved policy, or the shares of visits. Each entry has its own rate (temporal coherence), so no schedule is
    needed. A residual network learns both by gradient (Adam, in jax), in batches of positions, each turned to a random
    symmetric image.

    Sources: Silver et al. 2018 (the loop); Danihelka et al. 2022 (targets of Gumbel); Wu 2019, "Accelerating self-play
    learning in Go" (a share of fully searched moves); Beal and Smith 1999 (coherence).
    """

    name: ClassVar[str] = "self_play"
    learner = "puct"

    generation: int = parameter(200, "games between two updates", low=1, high=1_000_000, search=(50, 1_000), log=True)
    window: int = parameter(5_000, "number of newest games to learn from", low=1, high=10_000_000)
    reuse: float = parameter(2.0, "mean number of uses of a position", low=0, high=1000, search=(1, 10))
    full: float = parameter(0.25, "share of the moves searched fully, from which the policy learns", low=0, high=1)
    fast: int = parameter(20, "iterations for the other moves", low=1, high=10_000_000, search=(1, 100), log=True)
    drawn: int = parameter(10, "first plies of a game, drawn from the policy of the search", low=0, high=10_000)
    openings: int = parameter(
        0,
        "maximum plies of an opening, partly or all random, that is not learned from",
        low=0,
        high=1000,
        search=(0, 30),
        later=True,
    )
    opened: float = parameter(0.5, "share of the games that have an opening", low=0, high=1, later=True)
    found: float = parameter(0.5, "two seats: share of the search's value in the target", low=0, high=1, search=(0, 1))
    alpha: float = parameter(
        1.0, "ntuple: learning rate of values, for the whole board", low=0, high=10, search=(0.01, 3), log=True
    )
    policy_alpha: float = parameter(
        1.0,
        "ntuple: learning rate of the policy, for an action's changes",
        low=0,
        high=10,
        search=(0.01, 3),
        log=True,
    )
    coherence: bool = parameter(True, "ntuple: temporal coherence, each weight has its own rate, alpha times 0 to 1")
    policy: bool = parameter(True, "ntuple: learn a policy, which corrects the priors by values")
    rate: float = parameter(
        0.001, "residual: learning rate of Adam", low=0, high=1, search=(0.0001, 0.01), log=True, later=True
    )
    batch: int = parameter(128, "residual: positions per update", low=1, high=100_000, search=(32, 1024), later=True)
    decay: float = parameter(0.0001, "residual: weight decay per update, times the rate", low=0, high=1, later=True)

    @property
    def whole(self) -> bool:
        return True
