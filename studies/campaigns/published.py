"""All published figures on one page: ours, theirs, a verdict each, and the games and hours behind it."""

from __future__ import annotations

import itertools
import shlex
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from turnier.core.number_text import estimate, plus_minus
from turnier.dashboards.figures import charts
from turnier.dashboards.figures.figure import Figure, image
from turnier.dashboards.reports.page import embedded, write_pages
from turnier.runs.experiments.experiment import counted
from turnier.runs.experiments.published import SETTINGS, VERDICTS, WORDS, is_share, published_text, setting_text
from turnier.studies.campaigns.outlook import HOUR, Outlook, seconds_spent
from turnier.studies.campaigns.statements import LEAST_GAMES

LIMITS = (0.0, 250.0)  # % of the published figure: intervals of a few games are cut off there
FIGURE_NOTE = f"Ours with 95 % intervals, cut off at {LIMITS[1]:g} %. Crosses: published, without known intervals."
NAME, NOT_PLAYED = "published", "not played yet"
VERDICT_WORDS = (*WORDS, NOT_PLAYED)
TITLE = "# Every published figure, and ours\n"
NOTE = f"""Means with the half-width of their 95 % interval, shares with the interval itself. {VERDICTS} Before
{LEAST_GAMES} games, or all that are planned if these are fewer, a figure is undecided.

The first table counts each figure once, however many rows of the document have it: those with the document's own
setting, those whose setting had to be changed, other agents of ours that are compared with a headline, and what cannot
be compared, which has no verdict. CPU hours count shared games once per experiment; trainings are not included. They
are measured by the clock, so games that were played beside other work count more than their work.
"""


def write_published(experiments: Sequence[Sequence[Outlook]], folder: Path) -> list[Path]:
    """Writes published.md and a self-contained published.html; returns the paths of both pages.

    Args:
        experiments: the rows of each experiment; those without a published figure are left out.
        folder: for the pages.
    """
    known = [[row for row in rows if row.row.published is not None] for rows in experiments]
    shown = [rows for rows in known if rows]
    linked, inlined = [TITLE, NOTE, summary(shown)], [TITLE, NOTE, summary(shown)]
    folder.mkdir(parents=True, exist_ok=True)
    for document, some in itertools.groupby(shown, key=lambda rows: rows[0].experiment.document):
        own = list(some)
        sections = [f"## {document.capitalize()}\n", *map(section, own)]
        figure = ratios(document, own)
        if figure:
            path, picture = folder / f"{NAME}-{document}.png", image(figure, "png")
            path.write_bytes(picture)
            linked.append(f"![{figure.title}]({path.name})\n")
            inlined.append(f"![{figure.title}]({embedded(picture)})\n")
        linked += sections
        inlined += sections
    return write_pages(folder, NAME, "published figures", "\n".join(linked), "\n".join(inlined))


def ratios(document: str, experiments: Sequence[Sequence[Outlook]]) -> Figure | None:
    """Returns our figures as shares of the published ones, which are 100 %; None if nothing was played."""
    rows = []
    for row in itertools.chain.from_iterable(experiments):
        published = row.row.published
        if published and row.played > 1:  # a published 0 has no shares
            ours = row.measured
            label = f"{row.experiment.name.removesuffix('-paper')}: {row.row.label}"
            shares = (100 * end / published for end in (ours.value, ours.low, ours.high))
            rows.append((_measured(row), label, *shares, 100.0))
    if not rows:
        return None
    columns = ["measured", "label", "value", "low", "high", "published"]
    frame = pd.DataFrame(rows, columns=columns).drop_duplicates("measured").drop(columns="measured")
    shown = frame.assign(low=frame["low"].clip(*LIMITS), high=frame["high"].clip(*LIMITS))
    chart = charts.points(shown, "label", "value", "low", "high", "ours, % of published", mark="published")
    return Figure(f"{document.capitalize()}: ours as a share of what was published", chart, frame, FIGURE_NOTE)


def _measured(row: Outlook) -> tuple[object, ...]:
    """Returns the identity of a figure: documents publish some of them in several places.

    Its games identify its agent, which may be written with more or fewer parameters, unless several have played them.
    """
    agent = row.row.agents[0] if len(row.row.agents) > 1 or not row.spent else ""
    return (row.row.measure, row.row.published, agent, row.row.phases, row.row.legal, frozenset(row.spent))


def summary(experiments: Sequence[Sequence[Outlook]]) -> str:
    """Returns a table with a line per document and class of figures: their number by verdict, each figure once."""
    lines = [
        f"| document | figures | | {' | '.join(VERDICT_WORDS)} |",
        "| --- | --- |" + " ---: |" * (1 + len(VERDICT_WORDS)),
    ]
    classes = Counter[tuple[str, str]]()
    verdicts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for row in {_measured(row): row for row in itertools.chain.from_iterable(experiments)}.values():
        key = row.experiment.document, row.row.setting
        classes[key] += 1
        verdicts[key][_verdict(row)] += 1
    for document in dict.fromkeys(rows[0].experiment.document for rows in experiments):
        for setting, heading in SETTINGS.items():
            key = document, setting
            if classes[key]:
                counts = (str(verdicts[key][word] or "") for word in VERDICT_WORDS)
                lines.append(f"| {document} | {heading} | {classes[key]} | {' | '.join(counts)} |")
    return "\n".join(lines) + "\n"


def section(rows: Sequence[Outlook]) -> str:
    """Returns an experiment's published figures as Markdown."""
    experiment = rows[0].experiment
    lines = [
        f"### {experiment.title}\n",
        f"| | ours | published | ours is | setting | {counted(experiment)[0]} |",
        "| --- | ---: | ---: | --- | --- | ---: |",
    ]
    for row in rows:
        label, ours = row.row.label.replace("|", "\\|"), _ours(row) if row.played else ""
        cells = (label, ours, published_text(row.row), _verdict(row), setting_text(row.row), f"{row.measured.games:,}")
        lines.append(f"| {' | '.join(cells)} |")
    command = f"python studies/campaign.py --only {shlex.quote(experiment.run_id)}"
    return "\n".join(lines) + f"\n\n{_hours(rows)} CPU hours; `{command}`\n"


def _ours(row: Outlook) -> str:
    """Returns our figure; the interval of a share is not symmetric, so it is written out."""
    value, low, high = row.measured.value, row.measured.low, row.measured.high
    return estimate(value, low, high) if is_share(row.row) else plus_minus(value, (high - low) / 2)


def _verdict(row: Outlook) -> str:
    return row.verdict or (NOT_PLAYED if not row.played else "")


def _hours(rows: Sequence[Outlook]) -> str:
    return f"{seconds_spent(rows) / HOUR:.2f}"
