"""What a run has shown so far, in one line: who leads, what was decided, how sure that is."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace

import pandas as pd

from turnier.agents.registry import EVALUATORS, label_of
from turnier.core.errors import UserError
from turnier.core.number_text import estimate, percent_sure, plus_minus
from turnier.dashboards.agent_names import distinct
from turnier.dashboards.figures.certainty import in_percent
from turnier.dashboards.figures.comparison import VERDICT_COLOURS
from turnier.games.registry import game_of
from turnier.results.failures import failures_text
from turnier.results.frames.certainty import agent_certainty
from turnier.results.frames.matches import matches_frame, summary
from turnier.results.frames.standings import Standings
from turnier.results.frames.terms import Terms
from turnier.results.store.annotations import SETTINGS
from turnier.results.store.store import Run, Store
from turnier.runs.experiment import Experiment, measurements, verdict
from turnier.runs.stored.collected import certainty_of_run
from turnier.runs.stored.comparison import KIND as COMPARISON
from turnier.runs.stored.comparison import ComparisonResults
from turnier.runs.stored.training import evaluation_unit, stored_evaluations
from turnier.search.front.points import HELD_OUT, dominated, stored_points
from turnier.search.storage.checked_studies import study_notes
from turnier.search.storage.studies import VERDICT, stored_verdict
from turnier.search.storage.trials import count_trials, study_names
from turnier.statistics.sprt import Verdict


@dataclass(frozen=True)
class Glance:
    """A run in one line; `colour` is that of its verdict, empty where it has none."""

    agents: tuple[str, ...] = ()  # names, the best first where that is known
    result: str = ""
    colour: str = ""
    failed: str = ""  # how many games failed or are void, see `Failures.text`
    unplayed: tuple[str, ...] = ()  # agents that come later, whose pace and strength nothing is known of


def glance(store: Store, run: Run) -> Glance:
    """Reads what is stored of a run and returns it in one line."""
    look = _KINDS.get(run.kind)
    seen = look(store, run) if look else Glance()
    return replace(seen, failed=failures_text(store, run.id))


def decided_by(store: Store, run: Run) -> str:
    """Returns what a run's line depends on besides its results: a comparison's settings, what a study ended with."""
    if run.kind == COMPARISON:
        return store.annotations.get(run.id, SETTINGS)
    if run.kind == "study" and run.name in study_names(store):
        return repr([study_notes(store, run.name, note) for note in (VERDICT, HELD_OUT)])
    return ""


def agents_planned(run: Run) -> tuple[str, ...]:
    """Returns the names of the agents that a run was planned with: those that play, or what is searched or trained."""
    return tuple(distinct(_labels_planned(run)).values())


def _labels_planned(run: Run) -> list[str]:
    plan = run.definition
    if "evaluator" in plan:
        with contextlib.suppress(UserError):
            return [str(EVALUATORS.make(plan["evaluator"]))]
    texts = plan.get("agents") or [plan.get("agent") or plan.get("network")]
    return [label_of(str(text)) for text in texts if text]


def games_of(run: Run) -> list[str]:
    """Returns the names of the games that a run plays, without their variants."""
    plan = run.definition
    texts = [plan["game"]] if "game" in plan else [row["game"] for row in plan.get("rows", ())] or [run.name]
    return list(dict.fromkeys(str(text).partition("(")[0] for text in texts))


def _tournament(store: Store, run: Run) -> Glance:
    frame = matches_frame(store, run=run.id, ids=False)
    ratings = Standings.of(frame, pairs=False, terms=Terms.of_runs(store, [run.id])).ratings
    if ratings.empty:
        return _means(frame, run)
    names = tuple(distinct([*ratings["label"], *_labels_planned(run)]).values())
    unplayed, first = names[len(ratings) :], ratings.iloc[0]
    if pd.isna(first["elo"]):
        value = plus_minus(first["mean"], (first["mean_high"] - first["mean_low"]) / 2)
    else:
        share, low, high = (100 * first[f"points_share{end}"] for end in ("", "_low", "_high"))
        value = f"{estimate(share, low, high, ' %')} of the points"
    likely = (
        ""
        if pd.isna(first["best_of_all"])
        else f"; the best of these with {percent_sure(first['best_of_all'])} % probability"
    )
    later = f"; yet to play: {', '.join(unplayed)}" if unplayed else ""
    leads = f"{names[0]} leads{' so far' if unplayed else ''}: {value}, {first['games']:,} games{likely}{later}"
    return Glance(names, leads, unplayed=unplayed)


def _means(frame: pd.DataFrame, run: Run) -> Glance:
    """Returns a run's best mean, where its agents are not rated."""
    table = summary(frame).sort_values("mean", ascending=False)
    if table.empty:
        return Glance(agents_planned(run))
    agents, first = tuple(distinct(table["label"]).values()), table.iloc[0]
    return Glance(agents, f"{agents[0]}: {plus_minus(first['mean'], first['half_width'])}, {first['games']:,} games")


def _comparison(store: Store, run: Run) -> Glance:
    results = ComparisonResults.find(store, run.id)
    agents = agents_planned(run)
    than = " than" if results.verdict in (Verdict.STRONGER, Verdict.WEAKER) else ""
    said = f"{agents[0]} is {results.verdict}{than} {agents[-1]}" if than else str(results.verdict)
    colour = VERDICT_COLOURS[results.verdict]
    return Glance(agents, f"{said}: {results.estimate_text}, {results.duel.games:,} games", colour)


def _study(store: Store, run: Run) -> Glance:
    if run.name not in study_names(store):
        return Glance(agents_planned(run))
    concluded = stored_verdict(store, run.name)
    if points := stored_points(store, run.name):
        best, second = sum(not worse for worse in dominated(points)), points[0].objective.name
        said = f"a front of strength and {second}: {best} of {len(points)} agents in held-out games"
        return Glance(agents_planned(run), said)
    if concluded is None:
        return Glance(agents_planned(run), f"no verdict so far, {count_trials(store, run.name):,} candidates")
    colour = VERDICT_COLOURS[Verdict.STRONGER if concluded.improved else Verdict.UNDECIDED]
    return Glance(agents_planned(run), concluded.sentence, colour)


def _certainty(store: Store, run: Run) -> Glance:
    positions = certainty_of_run(store, run)
    if positions.empty:
        return Glance(agents_planned(run))
    table = in_percent(agent_certainty(positions), "normalised").sort_values("percent", ascending=False)
    agents, first = tuple(distinct(table["label"]).values()), table.iloc[0]
    value = estimate(first["percent"], first["low"], first["high"], " %")
    return Glance(agents, f"{agents[0]} is the most certain: {value} normalised in {first['states']:,} positions")


def _training(store: Store, run: Run) -> Glance:
    agents, game = agents_planned(run), game_of(str(run.definition["game"]))
    found = stored_evaluations(store, run.id, game)
    if not found:
        return Glance(agents)
    last = found[-1]
    name, _, unit = evaluation_unit(game).partition(", ")
    value = estimate(last.value, last.low, last.high, f" {unit}" if unit else "")
    return Glance(agents, f"after {last.games:,} training games: {name} {value}, {last.matches:,} evaluation games")


def _experiment(store: Store, run: Run) -> Glance:
    if "rows" not in run.definition:
        return Glance()
    experiment = Experiment.from_run(run)
    said = [verdict(row, found) for row, found in zip(experiment.rows, measurements(experiment, store), strict=True)]
    counts = pd.Series([text for text in said if text]).value_counts()
    parts = ", ".join(f"{count} {text}" for text, count in counts.items())
    return Glance((), f"{len(experiment.rows)} rows: {parts}" if parts else f"{len(experiment.rows)} rows")


_KINDS: dict[str, Callable[[Store, Run], Glance]] = {
    "tournament": _tournament,
    "comparison": _comparison,
    "study": _study,
    "certainty": _certainty,
    "training": _training,
    "experiment": _experiment,
}
