"""Prints studies: the finalists and the verdict, or a front."""

from __future__ import annotations

import json
import math
from typing import Any

from turnier.agents.registry import AGENTS
from turnier.commands.search_tables import (
    print_figures,
    print_hints,
    print_parameters,
    print_points,
    print_verdict,
)
from turnier.commands.tables import print_failures, print_warnings
from turnier.core.terminal.console import Console
from turnier.results.failures import list_failures
from turnier.results.frames import json_rows
from turnier.search.noise import NOISES
from turnier.search.samplers.registry import SAMPLERS
from turnier.search.storage.results import FrontResults, SearchResults, StudyResults


def print_search(results: SearchResults, as_json: bool) -> None:
    """Prints a study or a front."""
    console = Console()
    if isinstance(results, FrontResults):
        print_front(console, results, as_json)
    elif isinstance(results, StudyResults):
        print_study(console, results, as_json)


def print_study(console: Console, results: StudyResults, as_json: bool) -> None:
    """Prints how far a study is, and its verdict once there is one, with tables or as JSON."""
    if as_json:
        print(json.dumps(_study_facts(results), indent=2))
        return
    verdict = results.verdict
    if verdict:
        labelled = {row.label: AGENTS.make(row.agent) for row in verdict.figures}
        print_parameters(console, results.space, labelled)
        print_figures(console, verdict, results.definition.objective.name)
    idle = f", {results.idle_games:,} games of recommendations by idle workers" if results.idle_games else ""
    console.print(f"{results.games:,} games of candidates in {len(results.generations())} generations{idle}.")
    if verdict:
        print_verdict(console, verdict, results.play_on)
    else:
        proposed = f"No held-out games yet; until then keep the start. Proposed so far: {results.proposed}"
        console.print(proposed, soft_wrap=True, markup=False, highlight=False)
    print_hints(console, results.hints())
    print_warnings(console, results.warnings())


def _study_facts(results: StudyResults) -> dict[str, Any]:
    verdict = results.verdict
    known = {
        "study": results.name,
        "sampler": str(SAMPLERS.make(results.definition.sampler)),
        "noise": str(NOISES.make(results.definition.noise)),
        "games": results.games,
        "idle_games": results.idle_games,
        "hints": results.hints(),
        "parameters": results.space.of_agent(results.proposed),
        "proposed": str(results.proposed),
        "recommended": str(results.recommended),
    }
    if verdict:
        said = {"improved": verdict.improved, "outcome": verdict.outcome, "verdict": verdict.sentence}
        known |= said | {"play_on": results.play_on}
    rows = [
        {key: None if isinstance(x, float) and math.isnan(x) else x for key, x in vars(figures).items()}
        for figures in (verdict.figures if verdict else ())
    ]
    failures = list_failures(results.store, [results.id])
    return known | {"finalists": rows, "failures": json_rows(failures.table)}


def print_front(console: Console, results: FrontResults, as_json: bool) -> None:
    """Prints the start and the front in held-out games, as a table or as JSON."""
    failures = list_failures(results.store, [results.id])
    if as_json:
        finalists = [point.row() for point in results.points]
        shown = {"study": results.name, "finalists": finalists, "failures": json_rows(failures.table)}
        print(json.dumps(shown, indent=2))
        return
    if results.points:
        objective = results.definition.objective
        print_points(console, results.points, objective.name, objective.unit_games)
    else:
        console.print(f"{len(results.trials()):,} candidates; no held-out games yet.")
    print_failures(console, results.store, failures)
