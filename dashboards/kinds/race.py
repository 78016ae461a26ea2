"""Races: which of several agents are better than their base, the evidence for it, and who stopped early."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from turnier.core.number_text import number, roughly
from turnier.dashboards.agent_names import distinct, named, names_of, planned
from turnier.dashboards.colours import VERDICT_COLOURS
from turnier.dashboards.kinds import games as scores
from turnier.dashboards.sections import Drawing, Facts, Head, Section, Text
from turnier.dashboards.tables import MAIN, MINOR, Column, Table
from turnier.results.failures import list_failures
from turnier.results.frames import json_rows
from turnier.runs.results import RunResults
from turnier.runs.stored.race import RaceResults
from turnier.statistics.sprt import Verdict

BEGIN = 'turnier compare "mc(iterations=9)" "mc(iterations=30)" --base random --game tictactoe'
COMPARES = True  # see `turnier.dashboards.sections`


def read(results: RunResults) -> RaceResults:
    return results if isinstance(results, RaceResults) else RaceResults.find(results.store, results.id)


def head(results: RunResults) -> Head:
    """Returns the verdict and its meaning."""
    found = read(results)
    verdict = Verdict.STRONGER if found.best else Verdict.UNDECIDED if found.duels.playing else Verdict.EQUAL
    *labels, base = names_of([*found.race.agents, found.race.base])
    sentence = found.sentence_on(labels, base)
    return Head(sentence, found.meaning, VERDICT_COLOURS[verdict], planned(found.store.run(found.id)))


def sections(results: RaceResults) -> Iterator[Section]:
    race, duels = results.race, results.duels
    if not duels.games:
        yield Text("No round of games has ended yet.")
        return
    yield agents_table(results)
    yield Drawing("comparison.race_chart", (results,))
    left = results.games_to_verdict
    yield Facts(
        {
            "base": str(race.base),
            "games": f"{duels.games:,}" + (f" + {results.waiting:,} of the next round" if results.waiting else ""),
            "expected games left": "0"
            if not duels.playing
            else f"about {roughly(left)}"
            if left == left
            else "not known",
            "margin": race.margin,
            "any is wrongly called better with probability": f"at most {number(100 * race.alpha)} %",
        }
    )


def agents_table(results: RaceResults) -> Table:
    """Returns the agents with what is shown of them, the best first."""
    frame = results.agents()
    names = distinct(frame["label"])
    ahead = frame["ahead"].map(names).fillna("")
    said = frame["standing"].where(ahead == "", "behind " + ahead)
    unit, value = ("%", "difference_percent") if results.duels.single_player else ("", "elo")
    title = "mean beside the base's" if unit else "Elo"
    columns = [
        Column("label", "agent", key=True),
        Column("said", "verdict", importance=MAIN),
        Column(value, title, unit, low=f"{value}_low", high=f"{value}_high", signed=True, importance=MAIN),
        scores.GAMES,
        *[Column("different", importance=MINOR)] * bool((frame["different"] < frame["games"]).any()),
        Column("pairs", importance=MINOR),
        *[Column("games_left", "expected games left")] * bool(results.duels.playing),
    ]
    note = (
        "The 95 % intervals hold for all agents at once, so for the best one, too. That an agent is not better by"
        f" {results.race.margin} is said of each by itself, so an interval may reach beyond. Who is behind has left."
    )
    return Table("Agents", named(frame, names).assign(said=said), columns, note)


def to_json(results: RaceResults) -> Any:
    race, duels = results.race, results.duels
    failures = list_failures(results.store, [results.id], only=results.played)
    return {
        "best": results.best,
        "sentence": results.sentence,
        "base": str(race.base),
        "margin": race.margin,
        "alpha": race.alpha,
        "games": duels.games,
        "playing": len(duels.playing),
        "agents": json_rows(results.agents()),
        "failures": json_rows(failures.table),
    }
