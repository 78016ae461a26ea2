"""Prints comparisons: the verdict and both agents."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from turnier.core.terminal.console import Console

if TYPE_CHECKING:
    from turnier.runs.stored.comparison import ComparisonResults


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
