"""The statements of the documents on one page: a line each, with its verdict, the evidence, and what it took."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from turnier.core.number_text import roughly
from turnier.dashboards.reports.page import write_pages
from turnier.studies.campaigns.figures import STATEMENTS, statements_of
from turnier.studies.campaigns.outlook import HOUR, Outlook, seconds_spent
from turnier.studies.campaigns.statements import FAILS, HOLDS, LEAST_GAMES, LOOKS, OPEN, Judged, Statement, judge

NAME = "statements"
TITLE = "# What the documents say, and what our games show\n"
NOTE = f"""Each statement is a test: its claims are differences of figures, or single ones, and must all be shown. It
*holds* if they are, *does not hold* if one of them is refuted, and is *not decided* otherwise. Intervals are so wide
that either is wrong in at most 2.5 % of the cases, although a campaign looks after {LEAST_GAMES} games and then up to
{LOOKS} times, each time after twice the games (those that refute also share their error among the claims); figures of
fewer than {LEAST_GAMES} games are not looked at. Of two equal figures, neither can be shown to be higher; so *best*
means that no other is more than 5 % higher, *the same* that none is more than 10 % higher. The evidence is the claim
that decided, or that is furthest from being shown, with its interval. Intervals of means over trainings, of which there
are 5, 10, 20 or 40, are over these: more games of the same networks would decide little, and how many trainings would
is not estimated.

    python studies/campaign.py --hours 8              # plays what decides statements first
    python studies/report.py all --out docs/results   # this page
"""


def judged(experiments: Iterable[Sequence[Outlook]]) -> dict[str, tuple[Statement, Judged, float]]:
    """Returns the statements about experiments by name: with its verdict, and the CPU seconds of its games."""
    found = {}
    for rows in experiments:
        by_label = {row.row.label: row for row in rows}
        for statement in statements_of(rows[0].experiment.run_id):
            own = [by_label[label] for label in statement.rows]
            verdict = judge(statement, {row.row.label: row.measured for row in own})
            if any(row.row.trainings for row in own):
                verdict = verdict._replace(games=0)
            found[statement.name] = statement, verdict, seconds_spent(own)
    return found


def write_statements(experiments: Sequence[Sequence[Outlook]], folder: Path) -> list[Path]:
    """Writes statements.md and a self-contained statements.html; returns the paths of both pages."""
    found = judged(experiments)
    shown = [found[statement.name] for statement in STATEMENTS if statement.name in found]
    parts = [TITLE, NOTE, summary(shown)]
    for document, some in itertools.groupby(shown, key=lambda each: each[0].experiment.partition(":")[0]):
        parts += [f"## {document.capitalize()}\n", section(list(some))]
    text = "\n".join(parts)
    return write_pages(folder, NAME, "statements of the documents", text, text)


def summary(found: Sequence[tuple[Statement, Judged, float]]) -> str:
    """Returns a table of the number of statements by document and verdict."""
    words = HOLDS, FAILS, OPEN
    lines = [f"| document | statements | {' | '.join(words)} | CPU hours |", "| --- |" + " ---: |" * 5]
    for document, some in itertools.groupby(found, key=lambda each: each[0].experiment.partition(":")[0]):
        own = list(some)
        counts = Counter(verdict.verdict for _, verdict, _ in own)
        hours = sum(seconds for *_, seconds in own) / HOUR
        lines.append(f"| {document} | {len(own)} | {' | '.join(str(counts[w]) for w in words)} | {hours:.2f} |")
    return "\n".join(lines) + "\n"


def section(found: Sequence[tuple[Statement, Judged, float]]) -> str:
    """Returns a document's statements as a table."""
    lines = ["| | statement | verdict | evidence | CPU hours |", "| --- | --- | --- | --- | ---: |"]
    for statement, verdict, seconds in found:
        text = f"{statement.text} ({statement.source}{'; ' * bool(statement.setting)}{statement.setting})"
        said = verdict.verdict + (f": about {roughly(verdict.games)} games would" if verdict.games else "")
        lines.append(f"| {statement.name} | {text} | {said} | {verdict.evidence} | {seconds / HOUR:.2f} |")
    return "\n".join(lines) + "\n"
