"""A document's experiments as one Markdown and one HTML page: our figures and the published ones.

A single experiment has a short page for readers: its text is written by hand, its table and figure by `write_page`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from turnier.core.number_text import estimate, interval, number
from turnier.dashboards.figures.experiment import experiment_figure
from turnier.dashboards.figures.figure import image
from turnier.dashboards.kinds.experiment import experiment_frame
from turnier.dashboards.reports.page import embedded, write_pages
from turnier.results.failures import failures_text
from turnier.results.store.store import Store
from turnier.runs.bar import one_by_one
from turnier.runs.experiments.experiment import Experiment, counted, measurements, same_games, stored_experiments
from turnier.runs.experiments.published import VERDICTS, WORDS, is_share, published_text, setting_text, verdict
from turnier.runs.experiments.row import Measurement, Row, unit
from turnier.statistics.intervals import Interval, weighted_sum
from turnier.studies.campaigns.learned import with_networks_in
from turnier.studies.campaigns.statements import Statement, judge
from turnier.studies.scripts.script import with_table

NOTE = f"Means and shares have 95 % intervals. {VERDICTS}\n"
QUICK = "quick"
TABLE, END_OF_TABLE = "<!-- table of studies/report.py -->", "<!-- end of the table -->"
NOTE_OF_QUICK = "*Quick preset: fewer games than published, in some documents also smaller agents.*\n"


def write_report(
    store: Store, document: str, folder: Path, tests: bool = False, known: Sequence[Experiment] = ()
) -> list[Path]:
    """Writes DOCUMENT.md with its pictures and a self-contained DOCUMENT.html; returns the paths of both pages.

    Args:
        store: of the experiments.
        document: the document of the experiments.
        folder: for the pages.
        tests: also experiments of the preset for tests.
        known: experiments in the order of the document, with today's words; others follow, the oldest first.
    """
    experiments = _with_words_of(known, stored_experiments(store, document, tests))
    folder.mkdir(parents=True, exist_ok=True)
    figures, markdown, whole = [], [], []
    for experiment in one_by_one(experiments, document, "experiments"):
        measured = measurements(experiment, store)
        figures.append(measured)
        figure = experiment_figure(experiment, experiment_frame(experiment, measured))
        linked = inlined = ""
        if figure:
            linked, picture = f"{document}-{experiment.name}.png", image(figure, "png")
            (folder / linked).write_bytes(picture)
            inlined = embedded(picture)
        shown = with_networks_in(experiment, "")  # folders of networks differ between machines
        failed = failures_text(store, experiment.run_id)
        markdown.append(section(shown, measured, linked, failed))
        whole.append(section(shown, measured, inlined, failed))
    top = [f"# {document.capitalize()}: our figures and the published ones\n", NOTE, contents(experiments, figures)]
    return write_pages(folder, document, document, "\n".join(top + markdown), "\n".join(top + whole))


def _with_words_of(known: Sequence[Experiment], stored: Sequence[Experiment]) -> list[Experiment]:
    """Returns stored experiments in the order of the known ones, in whose place these stand if they are the same."""
    places = {experiment.run_id: place for place, experiment in enumerate(known)}
    ordered = sorted(stored, key=lambda experiment: places.get(experiment.run_id, len(places)))
    newer = {experiment.run_id: experiment for experiment in known}
    found = [(experiment, newer.get(experiment.run_id)) for experiment in ordered]
    return [newest if newest and same_games(old, newest) else old for old, newest in found]


def contents(experiments: Sequence[Experiment], figures: Sequence[Sequence[Measurement]]) -> str:
    """Returns a table with a line per experiment: the number of published figures by verdict."""
    lines = [f"| | {' | '.join(WORDS)} |", "| --- |" + " ---: |" * len(WORDS)]
    for experiment, measured in zip(experiments, figures, strict=True):
        counts = Counter(verdict(row, ours) for row, ours in zip(experiment.rows, measured, strict=True))
        lines.append(f"| {experiment.title} | {' | '.join(str(counts[word] or '') for word in WORDS)} |")
    return "\n".join(lines) + "\n"


def section(experiment: Experiment, measured: Sequence[Measurement], picture: str, failed: str = "") -> str:
    """Returns an experiment as Markdown: its text, the table, the picture if there is one, and the agents in full.

    `failed` tells the number of failed or void games, see `Failures.text`.
    """
    games = sum(row.games for row in measured)
    what, each = counted(experiment)
    lines = [f"## {experiment.title}\n", *[NOTE_OF_QUICK] * (experiment.preset == QUICK), experiment.text, ""]
    lines += [
        f"| | ours | 95 % | published | ours is | setting | {what} | {each} |",
        "| --- | ---: | ---: | ---: | --- | --- | ---: | ---: |",
    ]
    for row, ours in zip(experiment.rows, measured, strict=True):
        half = (ours.high - ours.low) / 2
        value = f"**{number(ours.value, half)}**" if ours.games else "not played yet"
        label, compared = row.label.replace("|", "\\|"), (published_text(row), verdict(row, ours), setting_text(row))
        cells = (label, value, interval(ours.low, ours.high), *compared)
        lines.append(f"| {' | '.join(cells)} | {ours.games:,} | {number(ours.seconds)} |")
    units = " and ".join(dict.fromkeys(unit(row) for row in experiment.rows))
    lines += ["", f"Unit: {units}. {games:,} {what}, seed {experiment.seed}.", ""]
    lines += [f"**Failed or void: {failed}.**", ""] if failed else []
    if picture:
        lines += [f"![{experiment.title}]({picture})", ""]
    lines += dict.fromkeys(f"- {row.series or row.label}: `{row.game}`, {_agents(row)}" for row in experiment.rows)
    return "\n".join(lines) + "\n"


def _agents(row: Row) -> str:
    between = " with two legal actions, then " if row.states else " against "
    first, *others = (f"`{agent}`" for agent in row.agents)
    more = len(row.trainings)
    also = f" and {more} other training{'s' * (more > 1)}, each with a seed of its own," * bool(more)
    return between.join([first + also, *others])


def write_page(store: Store, experiment: Experiment, statements: Sequence[Statement], folder: Path) -> list[Path]:
    """Writes the figure of one experiment, and its table into its page; returns the paths of both.

    Of a page that exists, only the table between its two marked lines changes.

    Args:
        store: of the experiment.
        experiment: with games.
        statements: about it; their verdicts follow the table.
        folder: for NAME.md and NAME.png, named like the experiment without its preset.
    """
    measured = measurements(experiment, store)
    folder.mkdir(parents=True, exist_ok=True)
    page, picture = (
        folder / f"{experiment.name.removesuffix(f'-{experiment.preset}')}{end}" for end in (".md", ".png")
    )
    figure = experiment_figure(experiment, experiment_frame(experiment, measured))
    if figure:
        picture.write_bytes(image(figure, "png"))
    shown = f"![{experiment.title}]({picture.name})\n\n" * bool(figure)
    new = f"# {experiment.title}\n\n{experiment.text}\n\n{shown}{TABLE}\n\n{END_OF_TABLE}\n"
    text = page.read_text(encoding="utf-8") if page.exists() else new
    table = compared_table(experiment, measured, statements)
    page.write_text(with_table(text, table, TABLE, END_OF_TABLE), encoding="utf-8")
    return [page, picture] if figure else [page]


def compared_table(experiment: Experiment, measured: Sequence[Measurement], statements: Sequence[Statement]) -> str:
    """Returns an experiment's rows, means less the first of their unit too, and the verdicts on statements."""
    units = dict.fromkeys(unit(row) for row in experiment.rows)
    of_means = not all(is_share(row) for row in experiment.rows)
    columns = [f"{' or '.join(units)}, 95 %", *["minus the first"] * of_means, counted(experiment)[0]]
    lines = [f"| | {' | '.join(columns)} |", f"| --- |{' ---: |' * len(columns)}"]
    firsts: dict[str, Measurement] = {}
    for row, ours in zip(experiment.rows, measured, strict=True):
        first, less = firsts.setdefault(unit(row), ours), ""
        if first is not ours and first.games > 1 and ours.games > 1 and not is_share(row):
            ends = [Interval(each.value, each.low, each.high) for each in (ours, first)]
            less = estimate(*weighted_sum((1.0, -1.0), ends))
        value = estimate(ours.value, ours.low, ours.high) if ours.games else "not played yet"
        cells = [row.label.replace("|", "\\|"), value, *[less] * of_means, f"{ours.games:,}"]
        lines.append(f"| {' | '.join(cells)} |")
    by_label = {row.label: figure for row, figure in zip(experiment.rows, measured, strict=True)}
    for statement in statements:
        judged, source = judge(statement, by_label), f"({statement.source})"
        lines += ["", f"**{statement.name}: {judged.verdict}.** {statement.text} {source} {judged.evidence}."]
    return "\n".join(lines)
