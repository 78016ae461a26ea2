"""Judging: how often agents play an action that is best for a perfect judge, and the losses by other actions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from ...core.errors import MAX_IN_MEMORY, UserError, require_at_most
from ..declared.options import AgentsOption, GameOption, Option, SeedOption
from ..plan import Plan, Playing

if TYPE_CHECKING:
    from ...arena.repeated_search import SearchSpec, SeenPosition
    from ...games.game import Game
    from ...results.store.store import Run, Store
    from ..stored.judging import JudgingResults

POSITIONS = 1000
JUDGED = "judged"  # the annotation with the values of all positions


class Judging(Plan["JudgingResults"]):
    """Measure how often agents play a perfect move, where perfect play is known.

    The judge for connect_four on 6 x 7 is bitbully (pip install 'turnier[judges]'); tictactoe, nim, hex up to size 4
    and other two-seat games with few boards are searched to the end.

    Each position comes from a different random game, drawn with equal probability from its positions with at least two
    legal actions. All positions are different; there are fewer than --positions if the game has no more. All agents
    decide in the same positions, with the same seeds. A move is optimal if it keeps the value of the position: a win
    stays a win, a draw a draw. In some positions all moves are optimal; "where it matters" counts only positions with a
    wrong move. The loss of a move is 1 from win to draw or from draw to loss, and 2 from win to loss. Stored decisions
    are not asked again.

    \b
    Examples:
      turnier judge tictactoe random "mcts(iterations=100)" --positions 500
      turnier judge connect_four "mcts(iterations=1000)" "alphabeta(depth=6)" --positions 200
      turnier judge "hex(size=3)" "mc(iterations=50)" perfect --positions 300 --json
    """

    kind = "judging"

    def __init__(
        self,
        game: GameOption,
        agents: AgentsOption,
        *,
        positions: Annotated[int, Option("positions in which every agent decides once")] = POSITIONS,
        seed: SeedOption = 1,
    ) -> None:
        from ...agents.perfect.judge import judge_of
        from ...agents.registry import AGENTS
        from ...games.registry import GAMES
        from .positions import draw_positions

        self.game: Game = GAMES.make(game)
        playing = [AGENTS.make(agent) for agent in agents]
        for agent in playing:
            agent.require(self.game)
        self.agents = tuple(dict.fromkeys(agent.full_text() for agent in playing))
        if not self.agents:
            raise UserError("a judge needs at least 1 agent, got none; name one.")
        require_at_most(MAX_IN_MEMORY, positions * len(self.agents), "decisions in all positions")
        self.positions, self.seed = positions, seed
        self.judge = judge_of(self.game)
        next(draw_positions(self.game, positions, seed), None)  # checks the numbers

    @property
    def definition(self) -> dict[str, Any]:
        """The stored options of the run, each agent once."""
        return self.settings | {"agents": self.agents}

    @property
    def total(self) -> int:
        """The number of positions to be judged; the agents are asked later."""
        return self.positions

    @property
    def unit(self) -> str:
        """The unit of `total`."""
        return "positions"

    def play(self, run: Playing) -> None:
        """Draws and judges positions, then asks every agent in each; stored work is not repeated."""
        from ...arena.repeated_search import prepare_searches
        from ..play import search_into
        from .judgements import JUDGEMENTS, JudgementSpec
        from .positions import draw_positions

        bar = run.bar
        bar.note("judging positions")
        drawn = list(draw_positions(self.game, self.positions, self.seed))
        planned = self._searches(drawn)
        prepare_searches(planned)  # refuses agents before judging takes its time
        bar.plan(len(drawn))
        if run.store.annotations.get(run.id, JUDGED):
            bar.skip(len(drawn))
        else:
            values: dict[str, dict[int, int]] = {}
            for judgements in run.pool.run(JUDGEMENTS, [JudgementSpec(position) for position in drawn]):
                values |= {judgement.spec.position.id: judgement.values for judgement in judgements}
                bar.advance(len(judgements))
            ordered = [sorted(values[position.id].items()) for position in drawn]
            run.store.annotations.set(run.id, JUDGED, json.dumps(ordered))
        bar.expect(len(planned), "moves")
        bar.note("asking the agents")
        for done in search_into(run.store, run.id, planned, run.pool):
            bar.advance(len(done))

    def _searches(self, drawn: Sequence[SeenPosition]) -> list[SearchSpec]:
        """Returns every agent's search of every position, all with the same seed and each by a new player."""
        from ...arena.match import derive_seed
        from ...arena.repeated_search import SearchSpec

        seeds = [derive_seed(self.seed, position.id) for position in drawn]
        return [
            SearchSpec(position, agent, seed)
            for agent in self.agents
            for position, seed in zip(drawn, seeds, strict=True)
        ]

    @classmethod
    def reopened(cls, store: Store, run: Run) -> JudgingResults:
        """Returns the results of stored judging, from the store alone."""
        from ..stored.judging import JudgingResults

        return JudgingResults(store, run.id)
