"""A run as one HTML file that needs no other: figures with their data, tables, boards, and how to reproduce it."""

from __future__ import annotations

import base64
import html
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from turnier.arena.analysis.reanalysis import Reanalysis
from turnier.arena.match import moves_kept
from turnier.core.outputs import require_file, require_folder
from turnier.dashboards.agent_names import with_names
from turnier.dashboards.figures.certainty import (
    certainty_by_parameter,
    certainty_heat_maps,
    certainty_means,
    certainty_table,
    means_note,
)
from turnier.dashboards.figures.charts import Figure, image, table_csv
from turnier.dashboards.figures.comparison import (
    EVIDENCE_NOTE,
    agents_table,
    comparison_facts,
    evidence_chart,
    evidence_table,
    outcome_bars,
    verdict_banner,
)
from turnier.dashboards.figures.experiment import experiment_figure, experiment_frame, experiment_table, verdicts_note
from turnier.dashboards.figures.failures import FAILED_TITLE, failed_html, failed_note, failed_table
from turnier.dashboards.figures.replay import board_svg, match_name
from turnier.dashboards.figures.scores import (
    mean_scores,
    milestone_shares,
    score_against_cost,
    score_distribution,
    score_table,
)
from turnier.dashboards.figures.studies.landscape import parallel_coordinates
from turnier.dashboards.figures.studies.search import (
    all_of_front,
    candidate_table,
    generation_means,
    held_out_front,
    importance_bars,
    parameter_slice,
    search_history,
    step_sizes,
)
from turnier.dashboards.figures.studies.summary import (
    front_table,
    headline,
    held_out_note,
    held_out_table,
    points_table,
)
from turnier.dashboards.figures.tables import printed
from turnier.dashboards.figures.tournament import (
    PAIR_NOTE,
    crosstable,
    leader_text,
    list_note,
    pair_table,
    rating_list,
    rating_points,
    seat_points,
)
from turnier.dashboards.figures.training import evaluation_curves, rating_curves, training_curves
from turnier.dashboards.reports.page import html_page
from turnier.dashboards.run_summary import COMPARED, Scores, of_agents, of_game, ranks, scores
from turnier.games.registry import game_of
from turnier.results.failures import SHOWN_ID, list_failures
from turnier.results.match_list import full_ids
from turnier.results.store.progress import stored_command
from turnier.results.store.store import Run, Store
from turnier.runs.experiment import Experiment, measurements
from turnier.runs.self_play.ratings import rated_checkpoints
from turnier.runs.stored.collected import certainty_of_run
from turnier.runs.stored.comparison import KIND as COMPARISON
from turnier.runs.stored.comparison import ComparisonResults
from turnier.runs.stored.training import evaluation_unit, stored_evaluations
from turnier.search.front.points import stored_points
from turnier.search.storage import trials
from turnier.search.storage.commands import to_play_on
from turnier.search.storage.definitions import StudyFacts, agent_with, ranges_table
from turnier.search.storage.studies import stored_verdict

REPORTED = (*COMPARED, "certainty", "study", "training", "experiment")


@dataclass(frozen=True)
class TableSection:
    title: str
    data: pd.DataFrame
    note: str = ""


@dataclass(frozen=True)
class HtmlSection:
    html: str


@dataclass(frozen=True)
class BoardSection:
    title: str
    svg: str


Section = Figure | TableSection | BoardSection | HtmlSection


def write_run_report(store: Store, run: str, out: Path) -> Path:
    """Writes the page of a run to a file ending in .html, or into a folder; returns its path."""
    stored = store.find_run(run)
    if out.suffix == ".html":
        require_file(out, "--out")
        out.write_bytes(run_page(store, stored))
        return out
    require_folder(out, "--out")
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{re.sub(r'[^A-Za-z0-9_.-]+', '-', stored.id)}.html"  # of a store of others, any text
    path.write_bytes(run_page(store, stored))
    return path


def run_page(store: Store, run: Run) -> bytes:
    """Returns a run as an HTML page."""
    title = f"{run.name}, {run.kind}"
    body = [f"<h1>{html.escape(title)}</h1>", *map(_html, sections(store, run)), _origin(store, run)]
    return html_page(title, "\n".join(body)).encode()


def figure_of(store: Store, run: str) -> Figure | None:
    """Returns the main figure of the run whose id begins so, as notebooks show it; None where nothing is stored."""
    figures = (section for section in sections(store, store.find_run(run)) if isinstance(section, Figure))
    return next(figures, None)


def sections(store: Store, run: Run) -> Iterator[Section]:
    """Yields the figures, tables and boards of a run; first of all what failed."""
    found = list_failures(store, [run.id])
    if found.text:
        yield HtmlSection(f"<p>{failed_html(found.text)}</p>")
        table = failed_table(found).assign(match=found.table["match"].str[:SHOWN_ID])
        yield TableSection(FAILED_TITLE, table, failed_note(found))
    if run.kind == COMPARISON:
        yield from _comparison(store, run)
    elif run.kind == "tournament":
        yield from _tournament(store, run)
    elif run.kind == "certainty":
        yield from _certainty(store, run)
    elif run.kind == "study":
        yield from _study(store, run)
    elif run.kind == "training":
        yield from _training(store, run)
    elif run.kind == "experiment":
        experiment = Experiment.from_run(run)
        frame = experiment_frame(experiment, measurements(experiment, store))
        figure = experiment_figure(experiment, frame)
        yield from [figure] if figure else []
        text = f"{experiment.text}\n\n{verdicts_note(experiment)}"
        yield TableSection(experiment.title, experiment_table(experiment, frame), text)


def _comparison(store: Store, run: Run) -> Iterator[Section]:
    results = ComparisonResults.find(store, run.id)
    yield HtmlSection(verdict_banner(results))
    facts = comparison_facts(results)
    yield HtmlSection(_rows({name.replace("_", " "): text for name, text in facts.items()}))
    yield from filter(None, (evidence_chart(results), outcome_bars(results)))
    yield TableSection("Tests", evidence_table(results), EVIDENCE_NOTE)
    if results.played:
        yield TableSection("Agents", agents_table(results), "The games of the verdict, by agent.")


def _tournament(store: Store, run: Run) -> Iterator[Section]:
    all_scores, all_ranks = scores(store, run.id), ranks(store, run.id)
    for game in sorted(all_scores.summary["game"].unique()):
        game_scores, game_ranks = of_agents(all_scores, game), of_game(all_ranks, game)
        yield HtmlSection(f"<h2>{html.escape(str(game_of(game)))}</h2>")
        if len(game_ranks.pairs):
            yield HtmlSection(f"<p>{leader_text(game_ranks)}</p>")
            yield TableSection("Rating list", rating_list(game_ranks), list_note(game_ranks))
            yield from filter(None, (draw(game_ranks) for draw in _COMPARED))
        yield mean_scores(game_scores.summary)
        figures: list[Figure | None] = [score_against_cost(game_scores.summary)]
        if game_scores.summary["win_rate"].isna().all():
            figures += [score_distribution(game_scores), milestone_shares(game_scores.summary)]
        yield from filter(None, figures)
        yield TableSection("Scores and costs", score_table(game_scores.summary))
        if len(game_ranks.pairs):
            yield TableSection("All pairs of agents", pair_table(game_ranks), PAIR_NOTE)
        yield from _last_boards(store, game_scores)


_COMPARED = (crosstable, rating_points, seat_points)


def _last_boards(store: Store, game_scores: Scores) -> Iterator[BoardSection]:
    """The last positions of the matches with the largest and the smallest score, where their moves were kept."""
    ends = dict.fromkeys(game_scores.extremes["match"].iloc[[0, -1]].tolist())
    for match in full_ids(store, ends).values():
        record = store.record(match)
        if not moves_kept(record.plies):
            continue
        reanalysis = Reanalysis(record)
        yield BoardSection(match_name(reanalysis.record), board_svg(reanalysis.game, reanalysis.moments[-1]))


def _certainty(store: Store, run: Run) -> Iterator[Section]:
    [positions] = with_names(certainty_of_run(store, run))
    if positions.empty:
        return
    yield TableSection("Agents", certainty_table(positions), means_note(positions))
    yield certainty_means(positions, "normalised")
    by_iterations = certainty_by_parameter(positions, "normalised")
    yield from [by_iterations] if by_iterations else []
    yield from certainty_heat_maps(positions, "normalised")


def _study(store: Store, run: Run) -> Iterator[Section]:
    name = run.name
    frame = trials.trials_frame(store, name)
    if frame["value"].notna().sum() == 0:
        return
    unit, noted, definition = trials.unit(store, name), trials.generations_frame(store, name), run.definition
    facts, verdict, points = StudyFacts.of(definition), stored_verdict(store, name), stored_points(store, name)
    values = trials.recommended_values(store, name)
    agent = agent_with(definition, values) if values else ""
    first = headline(frame, noted, verdict, points, agent, unit, facts.unit_games, live=False)
    shown = filter(None, (first.agent, to_play_on(store, definition, verdict)))
    copied = "".join(f"<pre>{html.escape(text)}</pre>" for text in shown)
    yield HtmlSection(first.html + copied)
    if verdict:
        yield TableSection("Held-out games", held_out_table(verdict, facts.unit_games), held_out_note(unit))
    if points:
        yield TableSection("Held-out games", points_table(points, unit), "95 % intervals.")
        yield held_out_front(points, unit)
    elif frame["other"].notna().any():
        yield TableSection("The front", front_table(frame, unit, definition), unit)
    yield HtmlSection(f"<h2>What is tuned, and how</h2>{_rows(facts.rows())}")
    yield TableSection("Searched parameters", ranges_table(frame.attrs["ranges"], definition), "")
    figures = [generation_means(frame, noted, unit), all_of_front(frame, unit), search_history(frame, unit)]
    shares = trials.importance(frame)
    figures += [*step_sizes(noted, facts.sampler_name), importance_bars(shares, frame)]
    figures += [parameter_slice(frame, parameter, unit) for parameter in shares.index[:4]]
    figures += [parallel_coordinates(frame, list(shares.index), unit)]
    yield from filter(None, figures)
    note = f"{unit}, with 95 % intervals: the larger, the luckier."
    yield TableSection("Candidates with the largest values", candidate_table(frame, unit, facts.unit_games), note)


def _training(store: Store, run: Run) -> Iterator[Section]:
    game = game_of(str(run.definition["game"]))
    curve = training_curves({run.id: store.curves.points(run.id)})
    evaluations, opponents = {run.id: stored_evaluations(store, run.id, game)}, [str(run.definition.get("against", ""))]
    evaluated = evaluation_curves(evaluations, evaluation_unit(game), opponents)
    rated = rating_curves({run.id: rated_checkpoints(store, run.id)}) if "agent" in run.definition else []
    yield from (figure for figure in (curve, evaluated, *rated) if figure)


def _origin(store: Store, run: Run) -> str:
    """When, on what, by which versions, and with which command."""
    known = run.environment
    facts = {
        "run": run.id,
        "begun": f"{run.created:%Y-%m-%d %H:%M} UTC",
        "machine": ", ".join(str(known[key]) for key in ("cpu", "cpus", "machine") if known.get(key)),
        "versions": ", ".join(f"{key} {known[key]}" for key in ("turnier", "python", "numba") if known.get(key)),
        "command": shlex.join(stored_command(store, run.id) or known.get("command") or ()),
    }
    return "<h2>Origin</h2>" + _rows({key: text for key, text in facts.items() if text})


def _rows(facts: Mapping[str, str]) -> str:
    """Returns facts as a table of two columns."""
    rows = (f"<tr><th>{html.escape(key)}</th><td>{html.escape(text)}</td></tr>" for key, text in facts.items())
    return f'<table class="facts">{"".join(rows)}</table>'


def _html(section: Section) -> str:
    if isinstance(section, HtmlSection):
        return section.html
    title = html.escape(section.title)
    if isinstance(section, BoardSection):
        return f'<figure><div class="board">{section.svg}</div><figcaption>{title}</figcaption></figure>'
    data = base64.b64encode(table_csv(section.data)).decode()
    link = f'<a download="{_file_name(section.title)}.csv" href="data:text/csv;base64,{data}">data as CSV</a>'
    caption = f"{html.escape(section.note)} {link}".strip()
    if isinstance(section, TableSection):
        table = printed(section.data).to_html(index=False, border=0, na_rep="")
        return f"<h2>{title}</h2>{table}<p><small>{caption}</small></p>"
    svg = image(section, "svg", note=False).decode()
    return f"<figure>{svg[svg.index('<svg') :]}<figcaption>{caption}</figcaption></figure>"


def _file_name(title: str) -> str:
    return "-".join("".join(c if c.isalnum() else " " for c in title.lower()).split())
