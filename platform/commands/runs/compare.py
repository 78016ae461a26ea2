"""What a comparison found, for a terminal."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
from rich.console import Console

from turnier.commands.tables import agent_table, number
from turnier.results.frames.matches import json_rows
from turnier.results.store.store import Store
from turnier.runs.comparison import Comparison


def show(console: Console, comparison: Comparison, store: Store, as_json: bool) -> None:
    """Prints the sentence and both agents, as a table or as JSON."""
    duel, rows = comparison.duel, json_rows(comparison.table(store))
    if as_json:
        found: dict[str, Any] = {
            "verdict": duel.test.verdict.value,
            "sentence": comparison.sentence,
            "margin": comparison.margin,
            "alpha": comparison.alpha,
            "games": duel.games,
            "pairs": duel.pairs,
            "pairs_without_failure": duel.test.units,
            "games_left": json_rows(pd.DataFrame([{"n": duel.games_left}]))[0]["n"],
            "estimate": json_rows(pd.DataFrame([comparison.estimate]))[0],
            "agents": rows,
        }
        print(json.dumps(found, indent=2))
        return
    caption = f"margin {comparison.margin}; a verdict is wrong with {100 * comparison.alpha:g} % at most"
    headings = ("games", "pairs", "mean score" if duel.single_player else "win rate", "failed")
    table = agent_table(f"{duel.game}: 95 % intervals", *headings, caption=caption)
    for row in rows:
        if duel.single_player:
            value = f"{number(row['mean'])} ± {number(row['half_width'])}"
        else:
            rate, low, high = (100 * (row[f"win_rate{end}"] or 0.0) for end in ("", "_low", "_high"))
            value = f"{rate:.1f} % ({low:.1f}-{high:.1f})"
        failed = f"{row['failures']:,} ({100 * row['failures'] / row['games']:.1f} %)"
        table.add_row(row["label"], f"{row['games']:,}", f"{duel.test.units:,}", value, failed)
    console.print(table)
    console.print(comparison.sentence, soft_wrap=True, markup=False, highlight=False)
