"""Comparisons: the verdict on two agents, the evidence for it, and pairs of games by outcome."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator
from typing import Any

import pandas as pd

from turnier.core.errors import MAX_GAMES
from turnier.core.number_text import number, roughly
from turnier.dashboards.agent_names import distinct, named, names_of, planned
from turnier.dashboards.colours import VERDICT_COLOURS
from turnier.dashboards.kinds import games as scores
from turnier.dashboards.links import games_address
from turnier.dashboards.sections import Copy, Drawing, Facts, Head, Section, Text
from turnier.dashboards.tables import MAIN, MINOR, Column, Table
from turnier.results.failures import list_failures, store_option
from turnier.results.frames import json_rows
from turnier.results.store.progress import LIVE, progress_of_runs, stored_command
from turnier.runs.results import RunResults
from turnier.runs.stored.comparison import ComparisonResults
from turnier.statistics.sprt import Verdict

BEGIN = 'turnier compare "mc(iterations=20)" random --game tictactoe'
COMPARES = True  # see `turnier.dashboards.sections`

RATES = True  # an agent that failed in all games is an error


def read(results: RunResults, anchor: str = "", nash: bool = False) -> ComparisonResults:
    """Returns a comparison; an anchor does not change its verdict."""
    return results if isinstance(results, ComparisonResults) else ComparisonResults.find(results.store, results.id)


def head(results: RunResults) -> Head:
    """Returns the verdict and its meaning."""
    found = read(results)
    agents, sentence = planned(found.store.run(found.id)), found.sentence_on(*names_of(found.comparison.agents))
    return Head(sentence, found.meaning, VERDICT_COLOURS[found.verdict], agents)


def sections(results: ComparisonResults) -> Iterator[Section]:
    if results.played:
        yield agents_table(results)
        yield from map(Text, results.notes())
    yield Facts(facts(results))
    if command := to_play_on(results):
        yield Copy(command, "To play on, at most twice as far as a verdict is expected:")
    if not results.duel.test.units:
        yield Text("No round of games has ended yet.")
        return
    yield Drawing("comparison.evidence_chart", (results,))
    yield Drawing("comparison.outcome_bars", (results,))
    yield evidence_table(results)


def to_json(results: ComparisonResults) -> Any:
    comparison, duel = results.comparison, results.duel
    failures = list_failures(results.store, [results.id], only=results.played)
    return {
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
        "agents": json_rows(results.agents()),
        "notes": results.notes(),
        "failures": json_rows(failures.table),
    }


def facts(results: ComparisonResults) -> dict[str, str]:
    """Returns the numbers of a comparison by name."""
    duel, left = results.duel, results.games_to_verdict
    expected = "not known yet" if math.isnan(left) else f"about {roughly(left)}"
    return {
        "difference": results.estimate_text,
        "games": f"{duel.games:,}" + (f" + {results.waiting:,} of the next round" if results.waiting else ""),
        "expected games left": "0" if results.verdict is not Verdict.UNDECIDED else expected,
        "margin": results.comparison.margin,
        "wrong with probability": f"at most {100 * results.comparison.alpha:g} %",
    }


def to_play_on(results: ComparisonResults) -> str:
    """Returns the command that resumes an undecided comparison with more games; empty for others, and for scripts."""
    words, left = list(stored_command(results.store, results.id)), results.games_to_verdict
    state = next((one.state for one in progress_of_runs(results.store) if one.run == results.id), "")
    ended = results.verdict is Verdict.UNDECIDED and state not in LIVE
    if not ended or math.isnan(left) or words[:2] != ["turnier", "compare"]:
        return ""
    if "--games" in words:
        at = words.index("--games")
        del words[at : at + 2]
    games = min(MAX_GAMES, math.ceil(2 * (results.duel.games + left)))
    more = roughly(games).replace(",", "")
    return shlex.join([*words, "--games", more]) + store_option(results.store)


def agents_table(results: ComparisonResults) -> Table:
    """Returns the results of both agents in the games of the verdict, the first agent first."""
    agents, duel = results.agents(), results.duel
    to_games = [games_address(results.id, agent) for agent in agents["agent"]]
    frame = named(agents, distinct(agents["label"])).assign(pairs=duel.test.units, replay=to_games)
    frame = frame.reset_index(drop=True)
    measured = (scores.MEAN,) if duel.single_player else scores.SHARES
    repeated = [Column("different", importance=MINOR)] if (agents["different"] < agents["games"]).any() else []
    columns = [Column("label", "agent", key=True), measured[0], scores.GAMES, *repeated, Column("pairs"), *measured[1:]]
    void = [scores.MISHAPS[1]] if agents["void"].any() else []
    failed = Column("failures", "failed", importance=MAIN)
    margin, alpha = results.comparison.margin, number(100 * results.comparison.alpha)
    note = f"The games of the verdict, with 95 % intervals; margin {margin}; a verdict is wrong with {alpha} % at most."
    return Table("Agents", frame, [*columns, failed, *void, scores.REPLAY], note)


def evidence_table(results: ComparisonResults) -> Table:
    """Returns the state of both tests after the last look at each."""
    evidence, (low, high) = results.evidence(), results.duel.test.bounds
    rows = []
    for verdict in (Verdict.STRONGER, Verdict.WEAKER):
        looks = evidence[(evidence["test"] == verdict.value) & evidence["look"]]
        last = float(looks["evidence"].iloc[-1]) if len(looks) else math.nan
        state = "shown" if last >= high else "ruled out" if last <= low else "open"
        games = int(looks["games"].iloc[-1]) if len(looks) else 0
        rows.append((verdict.value, state, last, high, low, len(looks), games))
    names = ("test", "state", "evidence", "shown at", "ruled out at", "looks", "games")
    columns = [Column(name, key=name == "test") for name in names]
    return Table(
        "Tests", pd.DataFrame(rows, columns=list(names)), columns, "A test that has ended is not looked at again."
    )
