"""Profiles: what a game is like, measured by a ladder of agents, each allowed twice the thought of the one before."""

from __future__ import annotations

import contextlib
import itertools
import json
from typing import TYPE_CHECKING, Annotated, Any

from ..core.errors import MAX_GAMES, UserError, require_at_most
from .declared.options import GameOption, OpeningsOption, Option, SeedOption
from .plan import Plan, Playing

if TYPE_CHECKING:
    from ..agents.agent import Agent
    from ..agents.registry import AnyAgent
    from ..games.game import Game
    from ..results.store.store import Run, Store
    from .stored.profile import ProfileResults

FAMILY, FAMILY_OF_CHANCE = "mcts", "mctse(maxnodes=1000000)"  # which search games without and with chance
PERFECT = "perfect"  # the annotation with the value of the start for perfect players, JSON: judge, value


class Profile(Plan["ProfileResults"]):
    """Measure what a game is like: its first move, draws, length, choices, thinking and chance.

    A ladder of agents of one family plays, each allowed twice as much per move as the one before. Games of an agent
    against itself show, at every strength, the points of each seat, draws, moves, and legal actions per move; games of
    neighbours show what doubling the thought is worth. In games with chance, neighbours exchange seats on the same
    chance, and what they have in common is decided by it. In one-seat games, all agents play the same seeds, and scores
    take the place of points.

    Stored games are not played again: repeat the command to resume, also with more --steps or --games.

    \b
    Examples:
      turnier profile yavalath
      turnier profile "hex(size=5)" --agent "mcts(solver=true)" --per-move 50rollouts --steps 5 --games 200
      turnier profile 2048 --per-move 4rollouts --steps 4 --games 20
    """

    kind = "profile"

    def __init__(
        self,
        game: GameOption,
        *,
        agent: Annotated[
            str | AnyAgent,
            Option(
                "the family of agents that play",
                complete="agent",
                default=f"{FAMILY}; in games with chance, {FAMILY_OF_CHANCE}",
            ),
        ] = "",
        per_move: Annotated[
            str,
            Option("what the weakest may spend per move: 16rollouts, 1ms, 100nodes or 1plies; each step doubles it"),
        ] = "16rollouts",
        steps: Annotated[int, Option("number of strengths", low=2, high=20, more=True)] = 6,
        games: Annotated[
            int, Option("games at every strength, and of every two neighbours", low=2, high=MAX_GAMES, more=True)
        ] = 100,
        openings: OpeningsOption = 0,
        seed: SeedOption = 1,
    ) -> None:
        from ..agents.budget import read_budget
        from ..agents.registry import AGENTS, agents_within
        from ..arena.schedules.round_robin import MatchPlan, check_field
        from ..arena.schedules.round_robin import openings as starts
        from ..games.registry import GAMES

        self.game: Game = GAMES.make(game)
        self.family: Agent = AGENTS.make(agent or (FAMILY_OF_CHANCE if self.game.has_chance else FAMILY))
        amount, self.unit_of_thought = read_budget(per_move)
        self.thoughts = [amount << step for step in range(steps)]
        self.agents = [agents_within([self.family], f"{each}{self.unit_of_thought}")[0] for each in self.thoughts]
        texts = [each.full_text() for each in self.agents]
        if len(set(texts)) < steps:
            raise UserError(
                f"a profile needs an agent that thinks longer if it may, got {self.family}, which has no budget per"
                " move; choose another, such as mcts."
            )
        require_at_most(MAX_GAMES, games, "games of a profile")
        self.openings, self.games, self.seed = openings, games, seed
        seats = self.game.num_seats
        check_field(self.game, [self.agents[0]] * seats + self.agents, games, seed)
        self.groups = [(text,) * seats for text in texts]
        for lower, upper in itertools.pairwise(texts) if seats > 1 else ():
            shares = dict.fromkeys((seats // 2, seats - seats // 2))
            self.groups += [(lower,) * some + (upper,) * (seats - some) for some in shares]
        self.plan = MatchPlan(
            self.game, self.groups, games, (seed,), starts(self.game, openings), own_seeds=self.game.num_seats > 1
        )

    @property
    def definition(self) -> dict[str, Any]:
        """The stored options of the run, with the family that was chosen."""
        return super().definition | {"agent": self.family.full_text()}

    @property
    def total(self) -> int:
        """The games of all strengths and neighbours."""
        return len(self.plan)

    @property
    def has_chance(self) -> bool:
        """Whether chance has a part in games, or draws their starts."""
        from ..arena.schedules.repeats import STARTS

        return self.game.has_chance or len({self.game.start(seed).state.tobytes() for seed in range(STARTS)}) > 1

    def require_playable(self, store: Store) -> None:
        """Raises UserError if all games of a new profile at some strength would be one and the same."""
        from ..arena.randomness import one_game, repeats_one_game
        from .comparison import cure_of

        for agent in [] if self.openings or self.has_begun(store) or self.game.num_seats == 1 else self.agents:
            if repeats_one_game(self.game, [agent]):
                raise one_game(self.game, [agent], cure_of(self.game, self.openings))

    def play(self, run: Playing) -> None:
        """Plays the games that the store lacks, and asks a judge who wins with perfect play, if there is one."""
        from .play import play_plan

        for records in play_plan(run.store, run.id, self.plan, run.pool, run.bar.skip):
            run.bar.advance(len(records))
        if not run.store.annotations.get(run.id, PERFECT):
            run.store.annotations.set(run.id, PERFECT, json.dumps(self._judged()))

    def _judged(self) -> dict[str, Any]:
        """Returns the judge's name and the value of the start to the seat that moves first; empty without a judge."""
        from ..agents.perfect.judge import cannot_judge, judge_of

        if self.game.num_seats == 2 and not cannot_judge(self.game):
            with contextlib.suppress(UserError):  # more positions than it can search
                judge = judge_of(self.game)
                return {"judge": judge.name, "value": max(judge.values(self.game.start()).values())}
        return {}

    @classmethod
    def reopened(cls, store: Store, run: Run) -> ProfileResults:
        """Returns the results of a stored profile, from the store alone."""
        from .stored.profile import ProfileResults

        return ProfileResults(store, run.id)
