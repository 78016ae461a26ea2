"""Races: several agents play duels with one base at once; whoever has a verdict or falls behind plays no further games.

The duels share the error: the probability that any agent is wrongly called better than the base is at most alpha,
however many of them are better, whenever the race ends, and whatever their common seeds have in common (Bonferroni).
Leaving the race because another agent is ahead can only prevent a claim, never cause one. All intervals hold at once,
so that of the best agent allows for having chosen it.

Sources: A. Wald, Sequential Analysis, 1947 (the test of each duel); O. Maron and A. W. Moore, Hoeffding races, NIPS
1993 (leaving when behind the best); R. Royall, Statistical Evidence, 1997 (likelihood ratios at any stopping time).
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence

from ...agents.agent import Agent
from ...core.errors import UserError
from ...games.game import Game
from ...statistics.sprt import MINIMUM, SequentialTest, Verdict
from .duel import FIRST_ROUND, Duel
from .round_robin import Rounds

BEHIND = (
    0.1  # the relative likelihood of being as good as the best at which an agent leaves; see studies/promises/race.py
)


class Standing(enum.StrEnum):
    """What a race has shown of an agent."""

    BETTER = "better"
    UNDECIDED = "undecided"
    BEHIND = "behind the best"
    NOT_BETTER = "not better by the margin"


_STANDINGS = {Verdict.STRONGER: Standing.BETTER, Verdict.EQUAL: Standing.NOT_BETTER}


class Race:
    """A schedule of duels with one base, on common seeds; those that are still open play the next round.

    Args:
        game: the game of all.
        agents: at least one; each duel has the first round, and the most games, of all others.
        base: the agent that each of them plays.
        seed, margin, games, first_round, opening_plies: as in `Duel`.
        alpha: maximum probability that any agent is wrongly called better.
    """

    def __init__(
        self,
        game: Game,
        agents: Sequence[Agent],
        base: Agent,
        seed: int,
        margin: float | None = None,
        alpha: float = 0.05,
        games: int = 10_000,
        first_round: int = FIRST_ROUND,
        opening_plies: int = 0,
    ) -> None:
        texts = [agent.full_text() for agent in (*agents, base)]
        if twice := [text for text in texts if texts.count(text) > 1]:
            raise UserError(
                f"a race must have agents that differ from its base and from each other, got {twice[0]} twice."
            )
        if not agents:
            raise UserError("a race must have an agent beside its base, got none.")
        options = seed, margin, alpha, games, first_round, opening_plies
        self.duels = [Duel(game, (agent, base), *options, sharing=len(agents)) for agent in agents]
        self.single_player = game.num_seats == 1
        self.ahead: dict[int, int] = {}  # an agent that left -> the best one then, by their indices

    @property
    def games(self) -> int:
        """The number of different games played: in games of one seat, the base plays once for all."""
        shared = sum(sorted(duel.pairs for duel in self.duels)[:-1]) if self.single_player else 0
        return sum(duel.games for duel in self.duels) - shared

    @property
    def games_left(self) -> float:
        """The expected number of further games if the estimates are right and nobody falls behind; 0 if unknown."""
        left = [duel.games_left for duel in self.playing]
        return sum(each for each in left if not math.isnan(each))

    @property
    def playing(self) -> list[Duel]:
        """The duels of the next round."""
        return [duel for index, duel in enumerate(self.duels) if duel.open and index not in self.ahead]

    @property
    def standings(self) -> list[Standing]:
        """What has been shown of each agent."""
        return [
            Standing.BEHIND if index in self.ahead else _STANDINGS.get(duel.test.verdict, Standing.UNDECIDED)
            for index, duel in enumerate(self.duels)
        ]

    def rounds(self) -> Rounds:
        """Yields rounds of all duels that play."""
        while playing := self.playing:
            parts = [duel.next_round() for duel in playing]
            records = yield [spec for part in parts for spec in part]
            begin = 0
            for duel, part in zip(playing, parts, strict=True):
                duel.add(records[begin : (begin := begin + len(part))])
            self.ahead |= fallen_behind({i: self.duels[i].test for i in range(len(self.duels)) if i not in self.ahead})


def fallen_behind(tests: Mapping[int, SequentialTest]) -> dict[int, int]:
    """Returns the undecided agents that leave a race, each with the best agent.

    An agent leaves if the results of both are less than BEHIND times as likely if it is as good as the best as if both
    are what they seem. Common seeds are not used, so what they have in common makes this rarer.

    Args:
        tests: those of all agents that have not left.
    """
    known = {index: test.mean for index, test in tests.items() if test.units >= MINIMUM}
    known = {index: mean for index, mean in known.items() if tests[index].verdict is not Verdict.EQUAL}
    if not known:
        return {}
    best = max(known, key=lambda index: known[index][0])
    top, variance = known[best]
    return {
        index: best
        for index, (mean, own) in known.items()
        if tests[index].verdict is Verdict.UNDECIDED
        and mean < top
        and (top - mean) ** 2 >= 2 * math.log(1 / BEHIND) * (variance + own)
    }
