"""Tournaments of agents, and how they are played into a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from ..core.errors import MAX_GAMES, MAX_IN_MEMORY, UserError, require_at_most
from .declared.options import AgentsOption, GameOption, OpeningsOption, Option, PerMoveOption, SeedOption
from .plan import OWN_SEEDS, Plan, Playing

if TYPE_CHECKING:
    from ..agents.agent import Agent
    from ..agents.registry import AnyAgent
    from ..arena.schedules.adaptive import AdaptiveTournament
    from ..arena.schedules.round_robin import MatchPlan, Rounds
    from ..games.game import Game
    from ..results.store.store import Run, Store
    from .stored.tournament import TournamentResults

FORMATS = ("round_robin", "gauntlet", "swiss", "adaptive")


class Tournament(Plan["TournamentResults"]):
    """Play a tournament and rate its agents.

    Agents play in all seat orders; in single-player games they all play the same seeds. Stored games are not played
    again: repeat the command to resume a stopped tournament.

    \b
    Formats:
      round_robin  everyone plays everyone
      gauntlet     the first agents play the others
      swiss        in each round, agents with equal points meet; for many agents
      adaptive     plays the games that make the first places certain (two seats)

    \b
    Examples:
      turnier tournament 2048 random "mc(iterations=200,rollout_depth=20)" --games 20 --seed 7
      turnier tournament yavalath mcts "alphabeta(depth=4)" "mc(iterations=100)" --per-move 50ms --format gauntlet
      turnier tournament --resume tournament:1f0c    # or repeat the command
    """

    kind = "tournament"

    def __init__(
        self,
        game: GameOption,
        agents: AgentsOption,
        *,
        games: Annotated[
            int,
            Option(
                "games per agent (one seat) or per group of agents; adaptive: maximum games of the tournament",
                low=1,
                high=MAX_GAMES,
                more=True,
            ),
        ] = 20,
        seed: SeedOption = 1,
        format: Annotated[str, Option("who meets whom", choices=FORMATS)] = "round_robin",
        per_move: PerMoveOption = "",
        openings: OpeningsOption = 0,
        exactly: Annotated[bool, Option("do not round --games up to whole sets of openings and seat orders")] = False,
        challengers: Annotated[
            int, Option("gauntlet: number of challengers, the agents named first, that play the others", low=1)
        ] = 1,
        rounds: Annotated[int, Option("swiss: number of rounds, 0 = as many as single elimination needs", low=0)] = 0,
        top: Annotated[int, Option("adaptive: number of first places that must be certain", low=1)] = 3,
        certainty: Annotated[float, Option("adaptive: required probability that they are right", more=True)] = 0.95,
        anchor: Annotated[
            str | AnyAgent,
            Option(
                "the agent whose Elo is 0 in every view of this tournament; default: the mean of all agents",
                more=True,
                complete="agent",
            ),
        ] = "",
    ) -> None:
        from ..agents.registry import agents_within
        from ..arena.play import require_moves
        from ..games.registry import GAMES

        if openings and format in ("swiss", "adaptive"):
            raise UserError(f"openings are for round robins and gauntlets, got the format {format}; leave them out.")
        if exactly and format in ("swiss", "adaptive"):
            raise UserError(f"--exactly is for round robins and gauntlets, got the format {format}; leave it out.")
        self.exactly = exactly
        self.game: Game = GAMES.make(game)
        require_moves(self.game.start())
        self.format, self.games, self.seed, self.openings = format, games, seed, openings
        self.challengers, self.rounds, self.top, self.certainty = challengers, rounds, top, certainty
        playing = agents_within(agents, per_move)
        self._ordered = [agent.full_text() for agent in playing]
        self.agents = sorted(set(self._ordered))
        self._playing = playing
        self.anchor = self._anchor(anchor, per_move)
        self._own_seeds = self.game.num_seats > 1
        self.plan = self._plan()
        if self.plan is None:
            self._rounds(self.adaptive())
        require_at_most(MAX_GAMES, self.total, "games of a tournament")
        if format == "swiss":
            require_at_most(MAX_IN_MEMORY, games * len(self.agents), "games of all agents in a Swiss round")

    def _anchor(self, anchor: AnyAgent, per_move: str) -> str:
        """Returns the full text of the agent whose Elo is 0; raises UserError if it does not play."""
        if not anchor:
            return ""
        if self.game.num_seats == 1:
            raise UserError(f"an anchor is for games of two and more seats, got {self.game}; leave it out.")
        from ..agents.registry import agents_within

        (named,) = agents_within([anchor], per_move)
        if named.full_text() not in self.agents:
            names = ", ".join(str(agent) for agent in self._playing)
            raise UserError(f"the anchor must be one of the agents, got {named}; the agents are {names}.")
        return named.full_text()

    def _plan(self) -> MatchPlan | None:
        """Returns all matches if they do not depend on results, otherwise None."""
        from ..arena.schedules.round_robin import gauntlet, round_robin

        set_by = self.games, self.seed, self.openings, self.exactly, self._own_seeds
        if self.format == "round_robin":
            return round_robin(self.game, self._playing, *set_by)
        return gauntlet(self.game, self._playing, self.challengers, *set_by) if self.format == "gauntlet" else None

    def has_begun(self, store: Store) -> bool:
        """Whether a store has the run, whose groups all keep the same seeds if it began so."""
        begun = super().has_begun(store)
        if not begun and self._own_seeds:
            self._own_seeds = False
            begun = super().has_begun(store)
            self._own_seeds = not begun
            self.plan = self._plan()
        return begun

    def adaptive(self) -> AdaptiveTournament | None:
        """Returns an adaptive tournament before its first round, if that is the format."""
        from ..arena.schedules.adaptive import AdaptiveTournament

        if self.format != "adaptive":
            return None
        chosen = self.seed, self.top, self.certainty, self.games
        return AdaptiveTournament(self.game, self._playing, *chosen, own_seeds=self._own_seeds)

    def _rounds(self, adaptive: AdaptiveTournament | None) -> Rounds:
        """Returns the schedule, from its start, of a format whose matches depend on results."""
        from ..arena.schedules.swiss import swiss

        if adaptive:
            return adaptive.rounds()
        return swiss(self.game, self._playing, self.games, self.seed, self.rounds, self._own_seeds)

    @property
    def definition(self) -> dict[str, Any]:
        """The stored options of the run; more games of the same matches resume it, other matches are another run."""
        definition: dict[str, Any] = {"game": self.game.full_text(), "agents": self.agents, "seed": self.seed}
        definition |= {"openings": self.openings} if self.openings else {}
        definition |= {"exactly": True} if self.exactly else {}
        definition |= {OWN_SEEDS: True} if self._own_seeds else {}
        ordered = self._ordered
        of_format: dict[str, dict[str, Any]] = {
            "gauntlet": {"challengers": sorted(ordered[: self.challengers])},
            "swiss": {"games": self.games, "rounds": self.rounds, "order": ordered},
            "adaptive": {"top": self.top, "order": ordered},
        }
        return definition | ({"format": self.format, **of_format[self.format]} if self.format in of_format else {})

    @property
    def total(self) -> int:
        """The maximum number of games."""
        from ..arena.schedules.round_robin import seat_orders
        from ..arena.schedules.swiss import rounds_to_the_best

        if self.format != "swiss":
            return self.games if self.plan is None else len(self.plan)
        seats, orders = self.game.num_seats, len(seat_orders(self.game.num_seats))
        rounds = self.rounds or rounds_to_the_best(len(self.agents), seats)
        return rounds * (len(self.agents) // seats) * -(-self.games // orders) * orders

    @property
    def rounded_up(self) -> str:
        """A sentence if there are more games per group than requested; empty otherwise."""
        from ..arena.schedules.round_robin import openings, seat_orders

        # An agent against itself has fewer orders of seats.
        if not self.openings or self.exactly or len(self.agents) < len(self._playing):
            return ""
        starts, orders = len(openings(self.game, self.openings)), len(seat_orders(self.game.num_seats))
        made = -self.games % (starts * orders)
        text = f"rounded up to {self.games + made:,}: {starts:,} openings x {orders} orders of seats"
        return f"{self.games:,} games per group are {text}; --exactly keeps to the number asked for." if made else ""

    def alike(self) -> list[Agent]:
        """Returns the agents whose games against each other would be the same with every seed."""
        from ..arena.randomness import repeats_one_game
        from ..arena.schedules.round_robin import seat_orders

        seats = self.game.num_seats
        if seats == 1 or self.openings or self.games <= len(seat_orders(seats)):
            return []
        different = {agent.full_text(): agent for agent in self._playing}
        found = [different[text] for text in self.agents if repeats_one_game(self.game, [different[text]])]
        return found if len(found) >= seats else []

    @property
    def cure(self) -> str:
        """The remedy if games are repeated."""
        from ..arena.schedules.round_robin import plies_for_openings, seat_orders

        if self.plan is None:
            return "round robins and gauntlets start from positions that differ with --openings 1"
        orders = len(seat_orders(self.game.num_seats))
        plies = max(self.openings + 1, plies_for_openings(self.game, -(-self.games // orders)))
        return f"start from positions that differ with --openings {plies}"

    def notices(self, store: Store) -> list[str]:
        """Returns sentences to print before the first game, on added or repeated games."""
        from ..arena.randomness import one_game

        said = [self.rounded_up] if self.rounded_up else []
        if not self.has_begun(store) and (alike := self.alike()):
            said.append(str(one_game(self.game, alike, self.cure)))
        return said

    def play(self, run: Playing) -> None:
        """Plays the games that the store lacks."""
        from ..results.store.annotations import ANCHOR
        from .play import play_plan, play_rounds

        if self.plan is not None:
            played = play_plan(run.store, run.id, self.plan, run.pool, run.bar.skip)
        else:
            played = play_rounds(run.store, run.id, self._rounds(self.adaptive()), run.pool)
        for records in played:
            run.bar.advance(len(records))
        if self.plan is None:  # places may be certain before all games are played
            run.bar.expect(run.bar.done - run.bar.total, run.bar.unit)
        if self.anchor:
            run.store.annotations.set(run.id, ANCHOR, self.anchor)

    @classmethod
    def reopened(cls, store: Store, run: Run) -> TournamentResults:
        """Returns the results of a stored tournament, from the store alone."""
        from .stored.tournament import TournamentResults

        return TournamentResults(store, run.id)

    @classmethod
    def options_of(cls, run: Run) -> dict[str, Any]:
        """Returns the options given by the definition of a stored tournament."""
        known, first = super().options_of(run), run.definition.get("challengers", [])
        others = [agent for agent in run.definition["agents"] if agent not in first]
        agents = run.definition.get("order") or [*first, *others]
        return known | {"agents": agents} | ({"challengers": len(first)} if first else {})
