"""Temporal difference learning as declared parameters."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from ...core.errors import UserError
from ...core.parameters import Declared, Registry, parameter
from ...core.text_form import parse
from ..formations.table_file import open_tables, required_digest

if TYPE_CHECKING:
    from ...games.game import Game

# Settings of learning kernels.
DISCOUNT, TRACE, METHOD, FROM_RANDOM, HORIZON, RESTART, COHERENT, DELAYED, ONCE, BETA, NUM_SETTINGS = range(11)


@dataclass(frozen=True)
class Learning(Declared):
    """Base of the methods of learning."""

    kind: ClassVar[str] = "learning"
    learner: ClassVar[str]  # its learner, in sentences

    @staticmethod
    def usual(game: Game) -> Mapping[str, Any]:
        """Returns a game's values for parameters that a text leaves open, if they differ from the defaults."""
        return {}

    @property
    @abstractmethod
    def whole(self) -> bool:
        """Whether values are of a game's whole return, not of the rest."""

    @property
    def squeezed(self) -> bool:
        """Whether values are within the game's returns by tanh."""
        return False


@dataclass(frozen=True)
class Td(Learning):
    """TD(lambda) by self-play on the values of afterstates.

    After each action the value of the board before it moves towards reward + discount x value of the board after it;
    `alpha` is the share of the error corrected at once. Sources: Kutsch 2017, 6.1; Weitz 2022, 4.1 (schedules: alpha
    falls geometrically, epsilon linearly, over all games); Beal and Smith 1999 (coherence); Bagheri and Thill 2014
    (beta); Guei et al. 2021 (optimism); Jaskowski 2016 (delayed); Matsuzaki 2017 (restart: play resumed from the middle
    of a game is part of that game, scored at its first end); GBG, the framework of Weitz 2022 (once: no board then
    moves further than alpha, however alike its images; tanh, and a beta of 2.7, are its defaults).

    A game without chance must be explored, or self-play soon repeats one game: for such games `turnier train` uses
    alpha=0.3, epsilon=0.3 and from_random=true unless the text says otherwise.
    """

    name: ClassVar[str] = "td"
    learner = "a network on its own"

    @staticmethod
    def usual(game: Game) -> Mapping[str, Any]:
        return {} if game.has_chance else {"alpha": 0.3, "epsilon": 0.3, "from_random": True}

    alpha: float = parameter(1.0, "learning rate, for the whole board", low=0, high=10, search=(0.01, 3), log=True)
    alpha_end: float = parameter(
        0.0, "learning rate of the last game, 0 = alpha", low=0, high=10, search=(0.01, 3), log=True
    )
    coherence: bool = parameter(True, "temporal coherence: each weight has its own rate, alpha times 0 to 1")
    epsilon: float = parameter(0.0, "probability of a random move; for games without chance see above", low=0, high=1)
    epsilon_end: float = parameter(-1.0, "probability in the last game, -1 = epsilon", low=-1, high=1)
    from_random: bool = parameter(False, "learn from random moves too")
    optimism: float = parameter(
        0.0, "value of every board before learning, in the game's points", low=-1e9, high=1e9, search=(0, 100_000)
    )
    discount: float = parameter(1.0, "gamma: weight of the next board's value", low=0, high=1)
    trace: float = parameter(0.0, "lambda: weight of errors for boards before the last one", low=0, high=1)
    horizon: int = parameter(
        64, "maximum boards for which an error counts, if lambda is above 0", low=1, high=10_000, search=(1, 100)
    )
    delayed: bool = parameter(False, "each board learns once, when all errors that count for it are known", later=True)
    restart: int = parameter(
        0,
        "replay a game from its middle while at least this many moves are left, 0 = never",
        low=0,
        high=1_000_000,
        search=(0, 1_000),
        later=True,
    )
    hold: float = parameter(
        0.0, "share of the games before alpha begins to fall to alpha_end", low=0, high=1, later=True
    )
    plain: float = parameter(
        0.0, "share of the games, from the first, that learn without coherence", low=0, high=1, later=True
    )
    plain_alpha: float = parameter(
        0.1, "learning rate of the plain games", low=0, high=10, search=(0.01, 3), log=True, later=True
    )
    once: bool = parameter(
        False, "an entry shared by several symmetric images of a board changes once, not once for each", later=True
    )
    tanh: bool = parameter(
        False, "two or more seats: values are squeezed by tanh, to lie between the game's returns", later=True
    )
    beta: float = parameter(
        0.0,
        "with coherence: weights have the rates e^(beta x (coherence - 1)); 0 = their coherence itself",
        low=0,
        high=100,
        search=(0, 5),
        later=True,
    )
    table: str = parameter(
        "",
        "2048: a file of formation tables, which play the boards in them; only other boards are learned",
        later=True,
    )
    digest: str = parameter("", "digest that the file must have; filled in", later=True)
    method: int = parameter(2, "target: 1 the return at the end of the game, 2 each move's reward", low=1, high=2)

    def check(self) -> None:
        if self.alpha_end and not self.alpha:
            raise UserError(f"td: alpha must be above 0 if alpha_end is, got {self.alpha}.")
        if self.plain and not self.coherence:
            raise UserError(
                f"td: plain must be 0 without coherence, as all games are then plain, got {self.plain}; leave it out."
            )
        if self.beta and not self.coherence:
            raise UserError(f"td: beta must be 0 without coherence, got {self.beta}; leave it out.")
        if self.table and (self.method != 2 or self.discount != 1.0 or self.once or self.beta):
            raise UserError(
                f"td: a table must have method=2, discount=1, once=false and beta=0, got method={self.method},"
                f" discount={self.discount}, once={str(self.once).lower()} and beta={self.beta}; leave them out."
            )
        object.__setattr__(self, "digest", required_digest("td", self.table, self.digest))

    @property
    def whole(self) -> bool:
        return self.method == 1

    @property
    def squeezed(self) -> bool:
        return self.tanh

    @property
    def is_fused(self) -> bool:
        """Whether learn_2048 supports these parameters."""
        return (self.delayed or not self.trace) and not self.once and not self.beta

    def formations(self) -> npt.NDArray[np.int64]:
        """Returns the words of the table's file, none if there is no table."""
        return open_tables(Path(self.table), self.digest) if self.table else np.empty(0, np.int64)

    def plain_games(self, games: int) -> int:
        """Returns the number of first games, of `games` in all, that learn without coherence."""
        return round(self.plain * games) if self.coherence else games

    def settings(self, plain: bool = False) -> npt.NDArray[np.float64]:
        """Returns the settings for kernels, in the order of DISCOUNT, TRACE, ...; of plain games or of the others."""
        horizon = self.horizon if self.trace else 1
        coherent = self.coherence and not plain
        settings = np.array(
            (
                self.discount, self.trace, self.method, self.from_random, horizon, self.restart, coherent,
                self.delayed and horizon > 1, self.once, self.beta,
            ),
            np.float64,
        )  # fmt: skip
        assert len(settings) == NUM_SETTINGS
        return settings

    def rates(self, first: int, count: int, games: int) -> npt.NDArray[np.float32]:
        """Returns the learning rates of games from `first` on, [count], of `games` in all."""
        end = self.alpha_end or self.alpha
        number = np.arange(first, first + count)
        share = number / max(games, 1)
        if self.hold:
            share = np.maximum(share - self.hold, 0.0) / max(1.0 - self.hold, 1 / max(games, 1))
        rates = self.alpha * (end / self.alpha if self.alpha else 1.0) ** share
        if self.plain:
            rates[number < self.plain_games(games)] = self.plain_alpha
        return rates.astype(np.float32)

    def epsilons(self, first: int, count: int, games: int) -> npt.NDArray[np.float64]:
        """Returns the probabilities of random moves of games from `first` on, [count], of `games` in all."""
        end = self.epsilon if self.epsilon_end < 0 else self.epsilon_end
        share = np.arange(first, first + count) / max(games, 1)
        return np.asarray(self.epsilon + (end - self.epsilon) * share)


LEARNING: Registry[Learning] = Registry(
    "learning",
    {
        "deep_q": "turnier.agents.deep.learning:DeepQ",
        "outcomes": "turnier.agents.spe_ed.network.learning:Outcomes",
        "self_play": "turnier.agents.puct.self_play:SelfPlay",
        "td": "turnier.agents.ntuple.td:Td",
    },
)


L = TypeVar("L", bound=Learning)


def method_of(text: str, kind: type[L]) -> L:
    """Returns the method that a text names, by default the kind's; raises UserError if it is of another kind."""
    learning = LEARNING.make(text or kind.name)
    if not isinstance(learning, kind):
        raise UserError(f"{kind.learner} must learn by {kind.name}, got {learning}; leave the method out.")
    return learning


def method_for(game: Game, text: str, kind: type[L]) -> L:
    """Returns the method that a text names, with the game's values for parameters that it leaves open."""
    learning, named = method_of(text, kind), parse(text or kind.name).parameters
    return learning.replace(**{name: value for name, value in kind.usual(game).items() if name not in named})


def td_of(text: str) -> Td:
    """Returns the method of TD learning that a text names; raises UserError if it names another kind."""
    return method_of(text, Td)
