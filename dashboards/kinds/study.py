"""Studies: the verdict or the front, parameters and method, held-out games, and the course of the search."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache, partial
from typing import Any, NamedTuple

import pandas as pd

from turnier.core.number_text import around
from turnier.dashboards.agent_names import planned
from turnier.dashboards.colours import COLOURS
from turnier.dashboards.links import games_of
from turnier.dashboards.sections import Among, Choice, Copy, Drawing, Facts, Head, Section, Tab, Text
from turnier.dashboards.summaries.candidates import agents_of
from turnier.dashboards.summaries.front import front_head, front_of, points_table
from turnier.dashboards.summaries.held_out import held_out_table
from turnier.dashboards.summaries.study_values import (
    measured,
    shown_generations,
    shown_points,
    shown_trials,
    shown_unit,
    shown_verdict,
    within_bounds,
)
from turnier.dashboards.tables import MAIN, MINOR, Column, Table, known
from turnier.results.failures import list_failures
from turnier.results.frames import json_rows
from turnier.results.store.progress import progress_of_runs
from turnier.results.store.store import Store
from turnier.runs.results import RunResults
from turnier.search import MIN_SHOWN
from turnier.search import verdict as verdicts
from turnier.search.front.points import HELD_OUT, Point, stored_points
from turnier.search.storage import trials
from turnier.search.storage.checked_studies import FINISHED, study_notes
from turnier.search.storage.commands import to_play_on
from turnier.search.storage.definitions import (
    StudyFacts,
    agent_with,
    option_commands,
    ranges_table,
    value_text,
)
from turnier.search.storage.results import StudyResults
from turnier.search.storage.studies import VERDICT, run_id_of, stored_verdict
from turnier.search.verdict import StudyVerdict
from turnier.statistics.intervals import UNBOUNDED, mean_interval

BEGIN, OPTUNA = "make study\npython studies/cmaes_heuristics.py", True  # see `turnier.dashboards.sections`

BETTER, KEPT, OPEN = COLOURS[2], COLOURS[0], COLOURS[1]  # the colours of verdicts, and of studies without one yet
OUTCOMES = {verdicts.BETTER: BETTER, verdicts.UNDECIDED: OPEN}
SLICES = 4  # parameters whose values reports show
TOP = 25  # candidates of the table
UNVERIFIED = "Not yet verified: held-out games at the end decide whether it is better than the start."
LUCKY = (
    "The larger, the luckier. Blank: a parameter that the candidate does not use; without an interval: all of"
    " its values are the same."
)


VALUE = partial(Column, "value", low="low", high="high", short=True, importance=MAIN)  # of a candidate


class Data(NamedTuple):
    """The data of a study."""

    store: Store
    name: str
    definition: Mapping[str, Any]
    facts: StudyFacts
    stored_unit: str
    trials: pd.DataFrame  # see `trials_frame` and `shown_trials`
    noted: pd.DataFrame  # see `generations_frame` and `shown_generations`
    verdict: StudyVerdict | None
    points: Sequence[Point]  # of a front in held-out games
    values: Mapping[str, Any]  # the parameters that the search recommends now
    importance: pd.Series
    stored: int = 0  # all games of the study
    idle_games: int = 0  # games of recommendations by idle workers
    hints: Sequence[str] = ()  # advice on the search
    spread: Callable[[], pd.DataFrame] = pd.DataFrame  # of the importance, computed when it is first shown

    @property
    def unit(self) -> str:
        """The unit of the trials, as it is shown."""
        return shown_unit(self.stored_unit)

    @property
    def agent(self) -> str:
        """The agent that the search recommends now; empty if there is none."""
        return agent_with(self.definition, self.values) if self.values else ""

    @property
    def duels(self) -> bool:
        """Whether candidates play each other, so that their points do not say how good they are."""
        return self.facts.sampler_name == "duels"

    @property
    def games(self) -> int:
        """Games of candidates."""
        return int(self.trials["games"].sum()) * self.facts.unit_games


def read(results: RunResults) -> Data:
    store, run = results.store, results.store.run(results.id)
    name = run.name
    begun, study = name in trials.study_names(store), StudyResults(store, results.id)
    unit = trials.unit(store, name) if begun else ""
    frame = shown_trials(within_bounds(trials.trials_frame(store, name)), unit) if begun else _no_trials()
    return Data(
        store,
        name,
        run.definition,
        StudyFacts.of(run.definition),
        unit,
        frame,
        shown_generations(trials.generations_frame(store, name), unit) if begun else pd.DataFrame(),
        stored_verdict(store, name) if begun else None,
        stored_points(store, name) if begun else [],
        trials.recommended_values(store, name) if begun else {},
        trials.importance(frame),
        store.match_counts().get(results.id, 0),
        study.idle_games if begun else 0,
        study.hints() if begun else (),
        cache(partial(trials.importance_spread, frame)),
    )


def _no_trials() -> pd.DataFrame:
    """Returns the trials of a search without any."""
    frame = pd.DataFrame(columns=["number", "state", "value", "low", "high", "other", "games", "group"])
    frame.attrs = {"parameters": [], "ranges": {}, "bounds": UNBOUNDED}
    return frame


def mark(results: RunResults) -> str:
    """Returns a text that changes if views change without a further game: by a verdict, or a front."""
    store, name = results.store, results.store.run(results.id).name
    if name not in trials.study_names(store):
        return ""
    return repr([study_notes(store, name, note) for note in (VERDICT, HELD_OUT)])


def head(results: RunResults) -> Head:
    """Returns the verdict or the front; before that, the number of candidates."""
    store, run = results.store, results.store.run(results.id)
    agents = planned(run)
    if run.name not in trials.study_names(store):
        return Head(agents=agents)
    if verdict := stored_verdict(store, run.name):
        counted = verdict.counted
        meaning = (
            f"{'Not decided' if verdict.outcome == verdicts.UNDECIDED else 'Decided'} in {verdict.games:,} held-out"
            f" {counted} after {verdict.searched:,} {counted} of the search;"
            f" wrong in at most {100 * verdict.alpha:g} % of searches that find nothing better."
        )
        return Head(verdict.sentence, meaning, OUTCOMES.get(verdict.outcome, KEPT), agents)
    if points := stored_points(store, run.name):
        unit = trials.unit(store, run.name)
        points = shown_points(points, unit)
        return front_head(points, shown_unit(unit), StudyFacts.of(run.definition).unit_games, agents)
    now = [f"{path}={value_text(value)}" for path, value in trials.recommended_values(store, run.name).items()]
    said = f"No verdict yet, {trials.count_trials(store, run.name):,} candidates"
    return Head(f"{said}; proposed now: {', '.join(now)}." if now else f"{said}.", UNVERIFIED, OPEN, agents)


def sections(data: Data) -> Iterator[Section]:
    if data.trials["value"].notna().sum() == 0:
        yield Text("No candidate is finished yet.")
    else:
        yield from _result(data)
        yield Text(adds_up(data))
        yield from map(Text, data.hints)
    yield Facts(data.facts.rows(), "What is tuned, and how")
    yield Table.of(
        "Searched parameters", ranges_table(data.trials.attrs.get("ranges", {}), data.definition), key="parameter"
    )
    yield Tab("Search")
    if data.trials["value"].notna().any():
        yield from _parameters(data)
        yield from _search(data)
        if not data.duels:
            yield candidate_table(data)
    others = [name for name in trials.study_names(data.store)[::-1] if name != data.name]
    same = [name for name in others if trials.unit(data.store, name) == data.stored_unit]
    if same:
        yield Among("Compare with other studies", "compare", same, lambda names: _compared(data, names), optional=True)


def adds_up(data: Data) -> str:
    """Returns how the stored games of a study add up: those of candidates, held-out ones, and the rest."""
    counted, played = data.facts.counted, "played" if data.facts.counted == "games" else "had"
    candidates, verdict = int(data.trials["state"].isin(FINISHED).sum()), data.verdict
    said = f"{candidates:,} candidates {played} {data.games:,} {counted}"
    if verdict and verdict.games:
        finalists = len(verdict.figures) - verdict.free
        said += f", {finalists:,} finalist{'s' * (finalists != 1)} {verdict.games:,} held-out {counted}"
    if (others := data.stored - data.games - (verdict.games if verdict else 0)) <= 0:
        return f"{said}."
    if verdict is None:
        return f"{said}; {others:,} more do not count in the search, such as held-out games."
    return f"{said}; in {others:,} more, idle workers played what the search recommended: these count for neither."


def to_json(data: Data) -> Any:
    """Returns the progress of a study, its recommendation with reasons, and its finalists."""
    run = run_id_of(data.name)
    state = next((one.state for one in progress_of_runs(data.store) if one.run == run), "unknown")
    verdict, play_on = data.verdict, to_play_on(data.store, data.definition, data.verdict)
    found = {
        "study": data.name,
        "sampler": data.facts.sampler,
        "noise": data.facts.noise,
        "state": state,
        "candidates": int(data.trials["state"].isin(FINISHED).sum()),
        "games": data.games,
        "idle_games": data.idle_games,
        "parameters": dict(data.values),
        "proposed": data.agent,
        "verdict": None if verdict is None else verdict.to_json() | {"play_on": play_on},
        "hints": list(data.hints),
        "failures": json_rows(list_failures(data.store, [run]).table),
    }
    if verdict is not None:
        finalists = json_rows(pd.DataFrame([asdict(figures) for figures in verdict.figures]))
        found |= {"recommended": verdict.agent, "improved": verdict.improved, "outcome": verdict.outcome}
        found |= {"sentence": verdict.sentence, "play_on": play_on, "finalists": finalists}
    rows = [point.row() for point in data.points]
    return found | ({"front": rows, "finalists": rows} if rows else {})


def _result(data: Data) -> Iterator[Section]:
    """Yields the result of the study, or of its search so far; never the luckiest candidate."""
    verdict = data.verdict
    if verdict:
        if data.games > verdict.searched:
            so_far = f"{data.games:,} {data.facts.counted}"
            yield Text(f"The search has since been resumed, to {so_far}, and has no new verdict yet.")
        yield Copy(verdict.agent, f"The agent to {'use' if verdict.improved else 'keep'}:")
        if commands := option_commands(verdict.agent):
            yield Copy("\n".join(commands), "In the words of its program:")
        if said := to_play_on(data.store, data.definition, verdict):
            meaning, _, command = said.partition(": ")
            yield Copy(command, f"{meaning}:") if command.startswith("turnier") else Text(said)
        if verdict.games:  # none if the search found no other agent
            bounds = data.trials.attrs["bounds"]
            shown = shown_verdict(verdict, data.stored_unit)
            yield held_out_table(shown, data.unit, run_id_of(data.name), bounds)
            yield Drawing("studies.search.luck_arrows", (shown, data.unit, bounds))
    elif data.points:
        points = shown_points(data.points, data.stored_unit)
        yield points_table(points, data.unit, data.facts.unit_games, run_id_of(data.name))
        yield Drawing("studies.search.held_out_front", (points, data.unit))
    elif data.trials["other"].notna().any():
        yield Text("These are the search's own values, which favour the lucky: see the held-out games.")
        yield front_table(data)
    else:
        if so_far := _so_far(data):
            yield Text(so_far)
        if data.agent:
            yield Copy(data.agent, "What the search recommends now:")


def _so_far(data: Data) -> str:
    """Returns the mean of the previous recommendation's games, or else of the latest generation; empty if unknown."""
    played, bounds = data.noted[data.noted["idle_games"] >= MIN_SHOWN], data.trials.attrs["bounds"]
    if len(played):
        last = played.iloc[-1]
        value, games = (
            around(last["recommended"], *bounds.around(last["recommended"], last["half_width"])),
            int(last["idle_games"]) * data.facts.unit_games,
        )
        said = measured(data.unit, value).capitalize()
        return f"{said} in {games:,} idle-time games of the previous recommendation."
    if data.duels or not data.trials["group"].notna().any():
        return ""
    latest = data.trials[data.trials["group"] == data.trials["group"].max()]
    mean = mean_interval(latest["value"].dropna().tolist())
    value = around(mean.mean, *bounds.around(*mean))
    games = int(latest["games"].sum()) * data.facts.unit_games
    said = measured(data.unit, value, " of the latest generation's candidates:").capitalize()
    return f"{said}, {games:,} {data.facts.counted}."


def front_table(data: Data) -> Table:
    """Returns the candidates of the front, as `front_of` does, with their agents' texts."""
    front = front_of(data.trials)
    frame = front.assign(
        number=front["number"].astype(str),
        agent=agents_of(front, data.trials, data.definition),
    ).reset_index(drop=True)
    frame["replay"] = [games_of(run_id_of(data.name), agent) for agent in frame["agent"]]
    columns = [
        Column("number", "candidate", key=True),
        Column("other", data.trials.attrs["second"].title, importance=MAIN),
        VALUE(data.unit),
        Column("agent", importance=MINOR - 1),
        Column("replay", link=True),
    ]
    return Table("The front", frame, columns, "Candidates that no other beats at both objectives.")


def candidate_table(data: Data) -> Table:
    """Returns the candidates with the largest values, with their intervals and parameters."""
    done = data.trials[data.trials["state"] == "COMPLETE"].nlargest(TOP, "value")
    frame = done.assign(
        number=done["number"].astype(str),
        games=done["games"] * data.facts.unit_games,
        group=done["group"] + 1,
    ).reset_index(drop=True)
    names = data.trials.attrs["parameters"]
    for name in names:
        if not pd.api.types.is_float_dtype(frame[name]):
            frame[name] = frame[name].map(value_text)
    agents = agents_of(done, data.trials, data.definition)
    if all(agents):
        frame["replay"] = [games_of(run_id_of(data.name), agent) for agent in agents]
    second = data.trials.attrs.get("second")
    columns = [
        Column("number", "candidate", key=True),
        *known(frame, Column("replay", link=True)),
        VALUE(data.unit),
        *(known(frame, Column("other", second.title, importance=MAIN)) if second else []),
        *known(frame, Column("games", data.facts.counted), Column("group", "generation", importance=MINOR)),
        *(Column(name, digits=4) for name in names),
    ]
    return Table("Candidates with the largest values", frame, columns, f"{len(frame)} of {len(data.trials):,}. {LUCKY}")


def _search(data: Data) -> Iterator[Section]:
    """Yields the development of the values."""
    yield Drawing("studies.search.generation_means", (data.trials, data.noted, data.unit))
    yield Drawing("studies.search.all_of_front", (data.trials, data.unit))
    if not data.duels:
        yield Drawing("studies.search.search_history", (data.trials, data.unit))
    for column in ("sigma", "axis_ratio"):
        if data.noted[column].notna().any():
            yield Drawing("studies.search.step_size", (data.noted, data.facts.sampler_name, column))


def _parameters(data: Data) -> Iterator[Section]:
    """Yields the effect of the parameters: their importance, one, two, and all of them."""
    shares = data.importance
    used = [name for name in data.trials.attrs["parameters"] if data.trials.loc[_valued(data), name].notna().any()]
    names = [*shares.index.intersection(used, sort=False), *(name for name in used if name not in shares.index)]
    if not names:
        return
    if shares.empty:
        yield Text("Parameter importance needs at least eight candidates.")
    else:
        yield Drawing("studies.search.importance_bars", lambda: (shares, data.trials, data.spread()))
    yield Choice(
        "By parameter", "parameter", names, lambda name: list(_by_parameter(data, name, names)), SLICES, beside=True
    )
    yield Drawing("studies.landscape.parallel_coordinates", (data.trials, names, data.unit))


def _valued(data: Data) -> pd.Series:
    return data.trials["value"].notna()


def _by_parameter(data: Data, name: str, names: Sequence[str]) -> Iterator[Section]:
    yield Drawing("studies.search.parameter_slice", (data.trials, name, data.unit))
    used = data.trials.loc[_valued(data), names].notna()
    others = [other for other in names if other != name and (used[name] & used[other]).sum() >= trials.MIN_EVALUATED]
    if others:
        yield Choice(
            "and by a second",
            "second",
            others,
            lambda second: [Drawing("studies.landscape.contour", (data.trials, name, second, data.unit))],
            shown=0,
        )


def _compared(data: Data, names: Sequence[str]) -> Sequence[Section]:
    """Returns the study beside others: their curves over games, and their verdicts."""
    others = [read(RunResults(data.store, run_id_of(name))) for name in names]
    studies = [data, *others]
    curves = {study.name: (study.trials, study.facts.unit_games) for study in studies}
    rows = [
        {
            "study": study.name,
            "verdict": study.verdict.sentence if study.verdict else "no verdict yet",
            "games": study.games,
            "agent": study.verdict.agent if study.verdict else study.agent,
        }
        for study in studies
    ]
    table = Table.of("Verdicts", pd.DataFrame(rows), "Games are those of the candidates.", key="study")
    return [Drawing("studies.search.histories", (curves, data.unit)), table]
