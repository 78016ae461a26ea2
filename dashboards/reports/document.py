"""Report pages: a document's experiments as one Markdown and one HTML page, ours beside the published figures."""

from __future__ import annotations

import base64
import html
import math
from collections.abc import Sequence
from pathlib import Path

import matplotlib
from markdown_it import MarkdownIt

from turnier.results.store.store import Store
from turnier.runs.experiment import Experiment, Figure, Row, counted, figures, stored_experiments, unit, verdict

matplotlib.use("Agg")
from matplotlib import pyplot  # the backend has to be chosen first

# Told apart by colour-blind eyes and in print (Okabe and Ito).
OURS, PUBLISHED = "#0072B2", "#D55E00"
SERIES = (OURS, PUBLISHED, "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = "os^Dv*P"
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
table { border-collapse: collapse; display: block; overflow-x: auto } td, th { padding: .25rem .75rem }
td:not(:first-child) { white-space: nowrap }
th { text-align: left; border-bottom: 2px solid #999 } td { border-bottom: 1px solid #ddd }
code { background: #f2f2f2; padding: 0 .25rem } img { max-width: 100% }
"""


def write_report(store: Store, document: str, folder: Path) -> list[Path]:
    """Writes DOCUMENT.md with its pictures and a self-contained DOCUMENT.html; returns the paths of both pages."""
    experiments = stored_experiments(store, document)
    folder.mkdir(parents=True, exist_ok=True)
    title = f"# {document.capitalize()}: ours beside the published figures\n"
    note = (
        "Means and shares have 95 % intervals; *agrees*: the published figure lies in ours. No interval of the"
        " published figures is known.\n"
    )
    markdown, embedded = [title, note], [title, note]
    for experiment in experiments:
        measured = figures(experiment, store)
        picture = folder / f"{document}-{experiment.name}.png"
        plot(experiment, measured, picture)
        data = base64.b64encode(picture.read_bytes()).decode()
        for page, source in ((markdown, picture.name), (embedded, f"data:image/png;base64,{data}")):
            page.append(section(experiment, measured, source))
    pages = [folder / f"{document}.md", folder / f"{document}.html"]
    pages[0].write_text("\n".join(markdown), encoding="utf-8")
    pages[1].write_text(_html(document, "\n".join(embedded)), encoding="utf-8")
    return pages


def section(experiment: Experiment, measured: Sequence[Figure], picture: str) -> str:
    """Returns an experiment as Markdown: its text, the table, the picture, and the agents in full."""
    games = sum(figure.games for figure in measured)
    what, each = counted(experiment)
    lines = [f"## {experiment.title}\n", experiment.text, ""]
    lines += [
        f"| | ours | 95 % | published | ours is | {what} | {each} |",
        "| --- | ---: | ---: | ---: | --- | ---: | ---: |",
    ]
    for row, figure in zip(experiment.rows, measured, strict=True):
        published = "" if row.published is None else _number(row.published)
        interval = f"{_number(figure.low)} to {_number(figure.high)}" if math.isfinite(figure.low) else ""
        value = f"**{_number(figure.value)}**" if figure.games else "not played yet"
        cells = (row.label.replace("|", "\\|"), value, interval, published, verdict(row, figure), f"{figure.games:,}")
        lines.append(f"| {' | '.join(cells)} | {figure.seconds:.3g} |")
    units = " and ".join(dict.fromkeys(unit(row) for row in experiment.rows))
    lines += [
        "",
        f"Unit: {units}. {games:,} {what}, seed {experiment.seed}.",
        "",
        f"![{experiment.title}]({picture})",
        "",
    ]
    lines += dict.fromkeys(f"- {row.series or row.label}: `{row.game}`, {_who(row)}" for row in experiment.rows)
    return "\n".join(lines) + "\n"


def plot(experiment: Experiment, measured: Sequence[Figure], path: Path) -> None:
    """Draws the rows into a PNG file: a curve over `axis` for each series, or bars by label; published as crosses."""
    figure, axes = pyplot.subplots(figsize=(8, 0.45 * len(measured) + 1.6 if not experiment.axis else 4.2))
    pairs = [(row, m) for row, m in zip(experiment.rows, measured, strict=True) if m.games]
    unit_text = unit(experiment.rows[0])
    if experiment.axis:
        for i, series in enumerate(dict.fromkeys(row.series for row, _ in pairs)):
            _curve(axes, series, i, [(row, m) for row, m in pairs if row.series == series])
        places = [float(row.x or 0) for row, _ in pairs]
        if min(places, default=0) > 0 and max(places) / min(places) >= 20:
            axes.set_xscale("log")
        axes.set(xlabel=experiment.axis, ylabel=unit_text)
    else:
        labels, values = [row.label for row, _ in pairs], [m.value for _, m in pairs]
        axes.barh(labels, values, xerr=_errors(pairs), color=OURS, alpha=0.75, capsize=3, label="ours, 95 %")
        _crosses(axes, "X", [(row.published, row.label) for row, _ in pairs])
        axes.invert_yaxis()
        axes.set(xlabel=unit_text)
    if pairs:
        axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


Pairs = Sequence[tuple[Row, Figure]]


def _curve(axes: pyplot.Axes, series: str, index: int, pairs: Pairs) -> None:
    """Draws one series; the only one of a plot has no name."""
    places = [float(row.x or 0) for row, _ in pairs]
    colour, marker = SERIES[index % len(SERIES)], MARKERS[index % len(MARKERS)]
    options = {"fmt": f"{marker}-", "capsize": 3, "color": colour, "label": series or "ours, 95 %"}
    axes.errorbar(places, [m.value for _, m in pairs], yerr=_errors(pairs), **options)
    published = [(place, row.published) for place, (row, _) in zip(places, pairs, strict=True)]
    _crosses(axes, "x--", published, colour if series else PUBLISHED, f"{series}, published" if series else "published")


def _errors(pairs: Pairs) -> list[list[float]]:
    return [[m.value - m.low for _, m in pairs], [m.high - m.value for _, m in pairs]]


def _crosses(
    axes: pyplot.Axes,
    style: str,
    points: Sequence[tuple[object, object]],
    colour: str = PUBLISHED,
    label: str = "published",
) -> None:
    known = [point for point in points if None not in point]
    if known:
        axes.plot(*zip(*known, strict=True), style, color=colour, label=label)


def _who(row: Row) -> str:
    between = " with two legal actions, then " if row.states else " against "
    return between.join(f"`{agent}`" for agent in row.agents)


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.1f}"


def _html(document: str, markdown: str) -> str:
    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(markdown)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(document)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head>'
        f"<body>\n{body}</body></html>\n"
    )
