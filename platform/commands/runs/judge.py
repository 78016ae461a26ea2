"""`turnier judge`: how often agents play what a perfect judge plays."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from turnier.arena.workers.where import Where
from turnier.commands.options import (
    AgentsArgument,
    GameArgument,
    JsonOption,
    SeedOption,
    TrustOption,
)
from turnier.commands.place import placed
from turnier.core.terminal.console import Console


@placed
def judge(
    game: GameArgument,
    agents: AgentsArgument,
    positions: Annotated[int, typer.Option(help="positions in which every agent decides once")] = 1000,
    seed: SeedOption = 1,
    where: Where = Where(),
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Measure how often agents play a perfect move, where perfect play is known.

    The judge for connect_four on 6 x 7 is bitbully (pip install 'turnier[judges]'); tictactoe, nim, hex up to size 4
    and other two-seat games with few boards are searched to the end.

    Positions come from random games, one from each, drawn with equal probability from those with at least two legal
    actions. They are all different; there are fewer than --positions if the game has no more. All agents decide in the
    same positions, with the same seeds. A move is optimal if it keeps the value of the position: a win stays a win, a
    draw a draw. In some positions every move does; "where it matters" counts only those with a wrong move. The loss of
    a move is 1 from win to draw or from draw to loss, and 2 from win to loss. Nothing is stored.

    \b
    Examples:
      turnier judge tictactoe random "mcts(iterations=100)" --positions 500
      turnier judge connect_four "mcts(iterations=1000)" "alphabeta(depth=6)" --positions 200
      turnier judge "hex(size=3)" "mc(iterations=50)" perfect --positions 300 --json
    """
    from turnier.commands.tables import print_judged
    from turnier.results.frames import json_rows
    from turnier.runs.judging.judging import Judging

    planned = Judging(game, agents, positions=positions, seed=seed)
    results = planned.run(where=where)
    if as_json:
        chance = {"optimal": results.chance, "kept": results.contested_chance}
        print(json.dumps({"judge": results.judge, "random": chance, "agents": json_rows(results.agents())}, indent=2))
    else:
        print_judged(Console(), str(planned.game), results)
