"""Which candidates of a search failed, how often, and what their parameters have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from turnier.core.number_text import number
from turnier.results.failures import SHOWN_ID, Failures


def failed_candidates(failures: Failures, tried: Mapping[str, Mapping[str, Any]], option: str = "") -> str:
    """Returns a sentence on the candidates that failed; empty if none did.

    Args:
        failures: of the search's games.
        tried: the parameters of all candidates, by their agent's text.
        option: what commands need to use the store, such as " --store URL".
    """
    table = failures.table[failures.table["agent"].isin(tried)]
    if not len(table):
        return ""
    agents, games, first = set(table["agent"]), int(table["games"].sum()), table.iloc[0]
    where = in_common([tried[agent] for agent in agents], [tried[text] for text in tried if text not in agents])
    lost = "game, which it lost" if games == 1 else "games, which they lost"
    return (
        f"{len(agents):,} of {len(tried):,} candidates failed in {games:,} {lost}{f', all with {where}' * bool(where)},"
        f" such as: {first['reason']}; turnier replay {first['match'][:SHOWN_ID]}{option} shows one."
    )


def in_common(failed: Sequence[Mapping[str, Any]], others: Sequence[Mapping[str, Any]]) -> str:
    """Returns what tells those that failed from all others, such as `depth from 8 on`; empty if nothing does."""
    for name in failed[0] if others else ():
        mine = [values[name] for values in failed if name in values]
        rest = [values[name] for values in others if name in values]
        if len(mine) < len(failed) or not rest:
            continue
        if isinstance(mine[0], bool | str):
            if len(set(mine)) == 1 and mine[0] not in rest:
                return f"{name}={str(mine[0]).lower() if isinstance(mine[0], bool) else mine[0]}"
        elif min(mine) > max(rest):
            return f"{name} from {number(min(mine))} on"
        elif max(mine) < min(rest):
            return f"{name} up to {number(max(mine))}"
    return ""
