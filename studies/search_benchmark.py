"""Which search finds good parameters with the fewest games? Ours beside those of others, on the same problems.

\b
Problems are won games on surfaces of Elo, skewed scores, the suite bbob-noisy, and games really played. With every
budget a search starts anew. The extra `rivals` installs what is compared besides Optuna and cmaes, and bbob-noisy;
what is not installed is left out.

\b
Examples:
    python studies/search_benchmark.py                       few problems of each kind, minutes
    python studies/search_benchmark.py --preset paper        20 problems of each kind: an hour on two cores
    python studies/search_benchmark.py --preset real         2048 and Yavalath, really played
    python studies/search_benchmark.py --only duels          searches whose names contain this
    python studies/search_benchmark.py --workers-only        studies with 8 to 1,000 simulated workers: minutes

Results are kept, so repeating the command adds what is missing. After a change of a search, delete its lines. The
tables and the picture are written beside the page, the tables between its two markers.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from turnier.core.errors import UserError
from turnier.core.terminal.console import Console
from turnier.dashboards.figures.charts import lines, points
from turnier.dashboards.figures.figure import Figure, save
from turnier.runs.bar import game_bar
from turnier.studies.benchmark.contenders import CONTENDERS
from turnier.studies.benchmark.runs import Results, add, measured, missing_packages, read, tasks, write
from turnier.studies.benchmark.summary import Summary
from turnier.studies.benchmark.tables import BY_NAME, PRESETS, TABLES
from turnier.studies.benchmark.workers import show_workers
from turnier.studies.scripts.script import choose_preset, run_script, with_table

DATA, PAGE = Path("docs/results/data/search_benchmark.csv"), Path("docs/results/search_benchmark.md")
START, END = "<!-- written by studies/search_benchmark.py -->", "<!-- end of the tables -->"
DRAWN = ("won 6", "won 12")
SHOWN = 6  # searches that a picture has lines of
HALF = 0.5
OURS = " (Turnier)"
MADE_HERE = {one.label for one in CONTENDERS if one.ours}


def pictures(results: Results) -> list[Figure]:
    """Returns the games for half of the gain, and the loss by games, of won games."""
    found = []
    for summary in (Summary.of(BY_NAME[name], results) for name in DRAWN):
        if summary is None:
            continue
        of = summary.table.title.removeprefix("Won games, ")
        needed = {label: summary.needed(label, HALF) for label in summary.ordered()}
        rows = [
            {"search": f"{label}{OURS * (label in MADE_HERE)}", "games": n.games, "low": n.low}
            | {"high": min(n.high, summary.games[-1])}
            for label, n in sorted(needed.items(), key=lambda one: one[1].games)
            if n.games < math.inf
        ]
        late = ", ".join(label for label, n in needed.items() if n.games == math.inf)
        note = (
            f"95 % bootstrap intervals; {summary.games[0]:,} games or fewer are shown as that. "
            f"More than {summary.games[-1]:,} games: {late or 'none'}."
        )
        if rows:
            data = pd.DataFrame(rows)
            chart = points(data, "search", "games", "low", "high", "games")
            found.append(Figure(f"Games for half of what there is to gain, {of}", chart, data, note))
        data = summary.frame(summary.ordered()[:SHOWN])
        chart = lines(data, "games", "loss", "low", "high", "search", ("games of the search", "Elo lost"), log=True)
        found.append(Figure(f"Elo lost, {of}", chart, data, "The first by mean rank, with 95 % intervals of means."))
    return found


def main(
    preset: Annotated[str, typer.Option(help=", ".join(PRESETS))] = "quick",
    only: Annotated[str, typer.Option(help="run only searches whose name contains this")] = "",
    processes: Annotated[int, typer.Option(help="searches at once", min=1)] = 2,
    data: Annotated[Path, typer.Option(help="file of results, which is added to")] = DATA,
    page: Annotated[Path, typer.Option(help="page that the tables are written into")] = PAGE,
    workers_only: Annotated[
        bool, typer.Option("--workers-only", help="only run studies with 8 to 1,000 simulated workers")
    ] = False,
) -> None:
    console, chosen = Console(), choose_preset(PRESETS, preset)
    if workers_only:
        show_workers(console)
        return
    if not page.exists():
        raise UserError(f"the page must exist, got {page}; run this in the root of the repository, or name another.")
    with_table(page.read_text(), "", START, END)  # raises, before anything is run
    results, wanted = read(data), tasks(chosen, only)
    for sentence in missing_packages(chosen):
        console.print(sentence)
    left = [task for task in wanted if task not in results]
    write(data, results)
    with game_bar("searches", len(wanted), unit="searches", completed=len(wanted) - len(left)) as bar:
        for task, result in measured(left, processes):
            add(data, task, result)
            results[task] = result
            bar.advance(1)
    write(data, results)
    sections = [one.markdown() for one in (Summary.of(table, results) for table in TABLES) if one]
    page.write_text(with_table(page.read_text(), "\n\n".join(sections), START, END))
    if figures := pictures(results):
        save(page.with_suffix(".png"), *figures)
    console.print(f"Results: {data}; tables: {page}; picture: {page.with_suffix('.png')}")


if __name__ == "__main__":
    run_script(main, __doc__)
