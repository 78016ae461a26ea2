"""`turnier compare`: plays two agents until a verdict, and states it in one sentence."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from turnier.arena.workers.where import Where
from turnier.commands.options import (
    DEFAULT_URL,
    BudgetOption,
    JsonOption,
    OpeningsOption,
    SeedOption,
    StoreOption,
    TrustOption,
)
from turnier.commands.place import placed
from turnier.core.terminal.console import Console

if TYPE_CHECKING:
    from turnier.runs.comparison import ComparisonResults


@placed
def compare(
    first: Annotated[str, typer.Argument(help="the agent that the verdict is about")],
    second: Annotated[str, typer.Argument(help="the agent to compare it with")],
    game: Annotated[str, typer.Option(help='a game, such as yavalath or "2048(size=3)"')],
    margin: Annotated[
        float | None,
        typer.Option(
            help="the difference that counts as equal; default: 20 Elo, or for one seat 5 % of the second's mean score"
        ),
    ] = None,
    alpha: Annotated[float, typer.Option(help="maximum probability of a wrong verdict")] = 0.05,
    games: Annotated[int, typer.Option(help="maximum games")] = 10_000,
    seed: SeedOption = 1,
    openings: OpeningsOption = 0,
    budget: BudgetOption = "",
    first_round: Annotated[int, typer.Option("--round", help="minimum pairs of games between two looks")] = 32,
    store: StoreOption = DEFAULT_URL,
    where: Where = Where(),
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Have two agents play until it is clear which is stronger.

    They play pairs of games (same seed, seats rotated) until a sequential test decides whether the first agent is
    stronger, weaker, or equal within the margin; each verdict is wrong with a probability of at most alpha. In games
    with three or more seats, the two agents take the seats in every possible way. Stored games are not played again:
    repeat the command to resume, even with a smaller margin or more games.

    \b
    Examples:
      turnier compare random "mc(iterations=20,rollout_depth=10)" --game 2048
      turnier compare "mcts(iterations=1000)" "alphabeta(depth=4)" --game yavalath --margin 50 --openings 1
      turnier compare bot.py:Bot bot.py:Bot@PREVIOUS --game tictactoe    # did my last change help?
    """
    from turnier.commands.other_code import print_other_code
    from turnier.results.store.store import Store
    from turnier.runs.comparison import Comparison

    planned = Comparison(
        first,
        second,
        game=game,
        margin=margin,
        alpha=alpha,
        games=games,
        seed=seed,
        openings=openings,
        budget=budget,
        first_round=first_round,
    )
    with Store.open(store) as opened:
        results = planned.run(opened, where=where)
        print_comparison(Console(), results, as_json)
        print_other_code(opened, results.id, as_json)


def print_comparison(console: Console, results: ComparisonResults, as_json: bool) -> None:
    """Prints the sentence and both agents, as a table or as JSON."""
    import pandas as pd

    from turnier.commands.tables import AgentText, agent_table, games_text, print_failures, require_rated
    from turnier.core.number_text import interval, number, plus_minus
    from turnier.results.failures import list_failures
    from turnier.results.frames import json_rows

    comparison = results.comparison
    duel, agents = results.duel, results.agents()
    failures = list_failures(results.store, [results.id], only=results.played)
    if as_json:
        shown: dict[str, Any] = {
            "verdict": results.verdict.value,
            "sentence": results.sentence,
            "margin": comparison.margin,
            "alpha": comparison.alpha,
            "games": duel.games,
            "games_different": duel.different,
            "pairs": duel.pairs,
            "pairs_that_count": duel.test.units,
            "pairs_void": results.void_pairs,
            "games_left": json_rows(pd.DataFrame([{"n": duel.games_left}]))[0]["n"],
            "estimate": json_rows(pd.DataFrame([results.estimate]))[0],
            "agents": json_rows(agents),
            "notes": results.notes(),
            "failures": json_rows(failures.table),
        }
        print(json.dumps(shown, indent=2))
        return
    if agents.empty:  # a table would have no rows
        console.print(results.sentence, soft_wrap=True, markup=False, highlight=False)
        return
    caption = f"margin {comparison.margin}; a verdict is wrong with {number(100 * comparison.alpha)} % at most"
    measured = ("mean score",) if duel.single_player else ("points, %", "won-drawn-lost")
    headings = ("games", "pairs", *measured, "failed")
    table = agent_table(f"{duel.game}: 95 % intervals", *headings, caption=caption)
    for row in agents.to_dict("records"):
        if duel.single_player:
            values = [plus_minus(row["mean"], row["half_width"])]
        else:
            share, low, high = (100 * row[f"points_share{end}"] for end in ("", "_low", "_high"))
            counts = (f"{row[name]:,.0f}" for name in ("wins", "draws", "losses"))
            values = [f"{number(share, (high - low) / 2)} ({interval(low, high, '-')})", "-".join(counts)]
        failed = f"{row['failures']:,} ({number(100 * row['failures'] / row['games'])} %)"
        table.add_row(AgentText(row["label"]), games_text(row), f"{duel.test.units:,}", *values, failed)
    console.print(table)
    for text in (results.sentence, *results.notes()):
        console.print(text, soft_wrap=True, markup=False, highlight=False)
    print_failures(console, results.store, failures)
    require_rated(results.frame())
