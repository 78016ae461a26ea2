"""`turnier certainty`: how often searches of the same position agree."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from turnier.arena.workers.where import Where
from turnier.commands.options import (
    DEFAULT_URL,
    AgentsArgument,
    GameArgument,
    JsonOption,
    SeedOption,
    StoreOption,
    TrustOption,
)
from turnier.commands.place import placed
from turnier.core.terminal.console import Console


@placed
def certainty(
    game: GameArgument,
    agents: AgentsArgument,
    states: Annotated[int, typer.Option(help="positions per group (by legal actions and phase of the game)")] = 20,
    repeats: Annotated[int, typer.Option(help="searches of each position")] = 20,
    games: Annotated[int, typer.Option(help="games to collect positions from")] = 20,
    collector: Annotated[
        str, typer.Option(help="the agent that plays these games", show_default="mc(iterations=50,rollout_depth=20)")
    ] = "",
    seed: SeedOption = 1,
    store: StoreOption = DEFAULT_URL,
    where: Where = Where(),
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Measure how often searches of the same position agree.

    Positions from real games are searched again and again. Normalised certainty (Kutsch 2017, 9.1) is 0 if all actions
    are equally frequent and 1 if it is always the same one; agreement, between pairs of searches, is 0 for a random
    agent, however few searches there are. Stored searches are not repeated.

    \b
    Examples:
      turnier certainty 2048 random "mc(iterations=100)" --states 5
      turnier certainty yavalath "mcts(iterations=200)" --repeats 50 --json
    """
    from turnier.arena.positions import COLLECTOR
    from turnier.commands.other_code import print_other_code
    from turnier.commands.tables import print_certainty
    from turnier.results.frames import json_rows
    from turnier.results.store.store import Store
    from turnier.runs.certainty import Certainty

    planned = Certainty(
        game,
        agents,
        states=states,
        repeats=repeats,
        games=games,
        collector=collector or COLLECTOR,
        seed=seed,
    )
    with Store.open(store) as opened:
        results = planned.run(opened, where=where)
        if as_json:
            print(json.dumps({"agents": json_rows(results.agents()), "groups": json_rows(results.groups())}, indent=2))
        else:
            print_certainty(Console(), results.groups(), results.agents(), planned.game.phase_name)
        print_other_code(opened, results.id, as_json)
