"""A run as one HTML file that needs nothing else: figures with their data, tables, boards, and how to play it again."""

from __future__ import annotations

import base64
import html
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from turnier.arena.reanalysis import Reanalysis
from turnier.dashboards.figures import certainty as certainty_figures
from turnier.dashboards.figures import experiment as experiment_figures
from turnier.dashboards.figures import replay as replay_figures
from turnier.dashboards.figures import scores as score_figures
from turnier.dashboards.figures import studies as study_figures
from turnier.dashboards.figures import tournament as tournament_figures
from turnier.dashboards.figures import training as training_figures
from turnier.dashboards.figures.charts import Figure, image, table_csv
from turnier.dashboards.reports.document import STYLE
from turnier.dashboards.run_summary import COMPARED, Scores, of_agents, of_game, ranks, scores
from turnier.games.registry import game_of
from turnier.results.frames.certainty import position_certainty, searches_of_runs
from turnier.results.match_list import full_ids
from turnier.results.store.progress import stored_command
from turnier.results.store.store import Run, Store
from turnier.runs.experiment import Experiment, figures
from turnier.runs.training import evaluation_unit, stored_evaluations
from turnier.search.storage import trials

REPORTED = (*COMPARED, "certainty", "study", "training", "experiment")
_MORE = "svg { max-width: 100%; height: auto } figure { margin: 1.5rem 0 } figcaption { color: #555; font-size: 14px }"
_MORE += " .board { max-width: 22rem } .boards { display: flex; flex-wrap: wrap; gap: 2rem }"


@dataclass(frozen=True)
class Table:
    title: str
    data: pd.DataFrame
    note: str = ""


@dataclass(frozen=True)
class Board:
    title: str
    svg: str


Part = Figure | Table | Board


def write_run_report(store: Store, run: str, folder: Path) -> Path:
    """Writes the page of the run whose id begins so; returns its path."""
    found = store.find_run(run)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{found.id.replace(':', '-')}.html"
    path.write_bytes(run_page(store, found))
    return path


def run_page(store: Store, run: Run) -> bytes:
    """Returns a run as an HTML page."""
    title = html.escape(f"{run.name}, {run.kind}")
    body = [f"<h1>{title}</h1>", _origin(store, run)]
    body += [_shown(part) for part in parts(store, run)]
    page = (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}{_MORE}</style></head>'
        f"<body>\n{chr(10).join(body)}\n</body></html>\n"
    )
    return page.encode()


def parts(store: Store, run: Run) -> Iterator[Part]:
    """Yields what there is to show of a run."""
    if run.kind in COMPARED:
        yield from _tournament(store, run)
    elif run.kind == "certainty":
        yield from _certainty(store, run)
    elif run.kind == "study":
        yield from _study(store, run)
    elif run.kind == "training":
        yield from _training(store, run)
    elif run.kind == "experiment":
        experiment = Experiment.from_run(run)
        found = experiment_figures.frame(experiment, figures(experiment, store))
        plot = experiment_figures.plot(experiment, found)
        yield from [plot] if plot else []
        yield Table(experiment.title, experiment_figures.table(experiment, found), experiment.text)


def _tournament(store: Store, run: Run) -> Iterator[Part]:
    whole, compared = scores(store, run.id), ranks(store, run.id)
    for game in sorted(whole.summary["game"].unique()):
        its, its_ranks = of_agents(whole, game), of_game(compared, game)
        yield Table(str(game_of(game)), score_figures.score_table(its.summary))
        yield score_figures.means(its.summary)
        made: list[Figure | None] = [score_figures.costs(its.summary)]
        if its.summary["win_rate"].isna().all():
            made += [score_figures.distribution(its), score_figures.milestones(its.summary)]
        if len(its_ranks.pairs):
            made += [show(its_ranks) for show in _COMPARED]
        yield from (figure for figure in made if figure)
        if len(its_ranks.pairs):
            yield Table("Every two agents", tournament_figures.pair_table(its_ranks), tournament_figures.NEEDED)
        yield from _ends(store, its)


_COMPARED = (tournament_figures.matrix, tournament_figures.ratings, tournament_figures.seats)


def _ends(store: Store, its: Scores) -> Iterator[Board]:
    """The last positions of the matches with the largest and the smallest score."""
    ends = dict.fromkeys(its.extremes["match"].iloc[[0, -1]].tolist())
    for match in full_ids(store, ends).values():
        review = Reanalysis(store.record(match))
        yield Board(replay_figures.match_name(review.record), replay_figures.board(review.game, review.moments[-1]))


def _certainty(store: Store, run: Run) -> Iterator[Part]:
    positions = position_certainty(searches_of_runs(store, [run.id]))
    if positions.empty:
        return
    yield Table("Agents", certainty_figures.agent_table(positions), "Means over the groups with 95 % intervals.")
    yield certainty_figures.means(positions, "normalised")
    by_iterations = certainty_figures.by_parameter(positions, "normalised")
    yield from [by_iterations] if by_iterations else []
    yield from certainty_figures.heat_maps(positions, "normalised")


def _study(store: Store, run: Run) -> Iterator[Part]:
    name = run.name
    found = trials.trials_frame(store, name)
    if found["value"].notna().sum() == 0:
        return
    unit, noted = trials.unit(store, name), trials.generations_frame(store, name)
    made = [study_figures.history(found, unit), study_figures.generations(found, noted, unit)]
    made += [study_figures.front(found, unit), *study_figures.step_sizes(noted)]
    shares = trials.importance(found)
    made += [study_figures.importance(shares)]
    made += [study_figures.slice_of(found, parameter, unit) for parameter in shares.index[:4]]
    yield from (figure for figure in made if figure)
    yield Table("Best candidates", study_figures.candidate_table(found, unit), f"{unit}, with 95 % intervals.")


def _training(store: Store, run: Run) -> Iterator[Part]:
    game = game_of(str(run.definition["game"]))
    curve = training_figures.curves({run.id: store.curves.points(run.id)})
    evaluated = training_figures.evaluations({run.id: stored_evaluations(store, run.id, game)}, evaluation_unit(game))
    yield from (figure for figure in (curve, evaluated) if figure)


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
    rows = (f"<tr><td>{key}</td><td><code>{html.escape(text)}</code></td></tr>" for key, text in facts.items() if text)
    return f"<table>{''.join(rows)}</table>"


def _shown(part: Part) -> str:
    title = html.escape(part.title)
    if isinstance(part, Board):
        return f'<figure><div class="board">{part.svg}</div><figcaption>{title}</figcaption></figure>'
    data = base64.b64encode(table_csv(part.data)).decode()
    link = f'<a download="{_file_name(part.title)}.csv" href="data:text/csv;base64,{data}">data as CSV</a>'
    caption = f"{html.escape(part.note)} {link}".strip()
    if isinstance(part, Table):
        return f"<h2>{title}</h2>{part.data.to_html(index=False, border=0, na_rep='')}<p><small>{caption}</small></p>"
    svg = image(part, "svg").decode()
    return f"<figure>{svg[svg.index('<svg') :]}<figcaption>{caption}</figcaption></figure>"


def _file_name(title: str) -> str:
    return "-".join("".join(c if c.isalnum() else " " for c in title.lower()).split())
