"""A run as one self-contained HTML file: figures with their data, tables, boards, and how to reproduce it."""

from __future__ import annotations

import base64
import html
import re
from pathlib import Path

from turnier.core.outputs import require_file, require_folder
from turnier.dashboards import markup
from turnier.dashboards.every_run.origin import origin
from turnier.dashboards.figures.figure import image, table_csv
from turnier.dashboards.figures.replay import board_svg, match_name
from turnier.dashboards.reports.page import html_page
from turnier.dashboards.sections import Board, Diagrams, Drawing, Section, failed_table, flat, head, sections
from turnier.dashboards.tables import Table, file_name
from turnier.results.failures import list_failures
from turnier.results.store.store import Run, Store
from turnier.runs.results import RunResults


def write_run_report(store: Store, run: str, out: Path) -> Path:
    """Writes the page of a run to a file ending in .html, or into a folder; returns its path."""
    stored = store.find_run(run)
    if out.suffix == ".html":
        require_file(out, "--out")
        out.write_bytes(run_page(store, stored))
        return out
    require_folder(out, "--out")
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{re.sub(r'[^A-Za-z0-9_.-]+', '-', stored.id)}.html"  # in others' stores, any text
    path.write_bytes(run_page(store, stored))
    return path


def run_page(store: Store, run: Run) -> bytes:
    """Returns a run as an HTML page."""
    title, results = f"{run.name}, {run.kind}", RunResults.find(store, run.id)
    body = [f"<h1>{html.escape(title)}</h1>", markup.banner(head(results))]
    failures = list_failures(store, [run.id])
    if failures.text:
        body += [f"<p>{markup.failed(failures.text)}</p>", _html(failed_table(failures))]
    body += [*map(_html, flat(sections(results))), markup.written(origin(store, run))]
    return html_page(title, "\n".join(body)).encode()


def _html(section: Section) -> str:
    if isinstance(section, Board):
        replay = section.replay()
        title, svg = html.escape(match_name(replay.record)), board_svg(replay.game, replay.moments[-1])
        return f'<figure><div class="board">{svg}</div><figcaption>{title}</figcaption></figure>'
    if isinstance(section, Diagrams):
        return markup.diagrams(section, links=False)
    if isinstance(section, Table):
        note = _caption(section.note, section.title, table_csv(section.numbers()))
        return f"<h2>{html.escape(section.title)}</h2>{markup.table(section)}<p><small>{note}</small></p>"
    if not isinstance(section, Drawing):
        return markup.written(section)
    if (figure := section.drawn) is None:
        return ""
    svg = image(figure, "svg", note=False).decode()
    note = _caption(figure.caption, figure.title, table_csv(figure.data))
    return f"<figure>{svg[svg.index('<svg') :]}<figcaption>{note}</figcaption></figure>"


def _caption(note: str, title: str, csv: bytes) -> str:
    """Returns a note with a link to the data."""
    data, name = base64.b64encode(csv).decode(), file_name(title)
    return f'{html.escape(note)} <a download="{name}.csv" href="data:text/csv;base64,{data}">data as CSV</a>'.strip()
