"""Writes measured figures next to published ones: a page per document, or the table of all with a verdict each.

A document becomes one Markdown and one HTML page; `all` becomes the table of every published figure; an experiment
becomes a figure, and a table in its short page, whose text is written by hand. With --missing,
nothing is written: a table shows the games that each experiment of the scripts, or each row of a single document, still
needs for an interval of the given --width; --json prints every row. `python studies/campaign.py` plays the missing
games.

\b
Examples:
    python studies/report.py weitz
    python studies/report.py all --out docs/results
    python studies/report.py kutsch:final-move --out docs/results/wishes
    python studies/report.py all --missing
"""

import json
from pathlib import Path
from typing import Annotated

import typer

from turnier.commands.options import DEFAULT_URL, JsonOption, StoreOption, WidthOption, writable_folder
from turnier.core.errors import UserError
from turnier.core.terminal.console import Console
from turnier.results.store.store import Store
from turnier.runs.experiments.published import NARROW_POINTS
from turnier.studies.campaigns.document import write_page, write_report
from turnier.studies.campaigns.figures import figures, statements_of
from turnier.studies.campaigns.learned import with_agents
from turnier.studies.campaigns.missing_tables import missing_rows, print_missing
from turnier.studies.campaigns.outlook import Outlook, outlooks
from turnier.studies.campaigns.published import write_published
from turnier.studies.campaigns.statement_page import write_statements
from turnier.studies.scripts.script import run_script

ALL = "all"


def main(
    document: Annotated[str, typer.Argument(help="a document (weitz), an experiment (weitz:table1), or all")],
    store: StoreOption = DEFAULT_URL,
    out: Annotated[Path, typer.Option(help="folder for the pages", callback=writable_folder)] = Path("reports"),
    missing: Annotated[bool, typer.Option("--missing", help="list what the published figures still need")] = False,
    width: WidthOption = None,
    as_json: JsonOption = False,
) -> None:
    if not missing and (as_json or width):
        raise UserError("--width and --json are for --missing; add it, or leave them out.")
    with Store.open(store, read_only=True) as results:
        if missing:
            found = _outlooks(results, document, width)
            print(json.dumps(missing_rows(found), indent=2)) if as_json else print_missing(
                Console(), found, rows=document != ALL
            )
            return
        if document == ALL:
            found = _outlooks(results, document)
            pages = [*write_published(found, out), *write_statements(found, out)]
        elif ":" in document:
            pages = _short_pages(results, document, out)
        else:
            own = [figure for figure in figures() if figure.document == document]
            words = [each for figure in own if (each := with_agents(figure, results))]
            pages = write_report(results, document, out, known=words)
    for page in pages:
        Console().print(f"Page: {page}", markup=False, soft_wrap=True)


def _short_pages(results: Store, name: str, out: Path) -> list[Path]:
    known = [each for figure in figures(only=[name]) if (each := with_agents(figure, results))]
    if not known:
        raise UserError(f"The learners of {name} are not trained yet; run its script first.")
    return [page for each in known for page in write_page(results, each, statements_of(each.run_id), out)]


def _outlooks(store: Store, document: str, width: float | None = None) -> list[list[Outlook]]:
    return outlooks(figures(only=[] if document == ALL else [document]), store, width or NARROW_POINTS)


if __name__ == "__main__":
    run_script(main, __doc__)
