"""A run as one file: every kind has its figures, the file needs no other, and the command says where it is."""

from __future__ import annotations

import base64
import html
import re
import socket
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

import turnier
from tests.dashboards.drawn_pages import TRAP, Pages, store_named, url_of
from turnier.commands.app import app
from turnier.core.errors import UserError
from turnier.dashboards.app.serve import FIRST_PORT, LAST_PORT, listening_at
from turnier.dashboards.links import run_address
from turnier.dashboards.reports.run import run_page
from turnier.results.store.store import Store

HEADINGS = {
    "comparison": ("are equal at tictactoe within 90 Elo after", "Neither agent is better by 90 Elo", "1½: won one"),
    "tournament": (
        " leads: ",
        "Rating list",
        "<th>drawn</th>",
        "All pairs of agents",
        "Elo",
        "against",
    ),
    "certainty": ("normalised of a random agent", "iterations per move", "legal actions"),
    "study": (
        '<div class="verdict"',
        "<pre>",
        "held-out</dfn> games after",
        "Held-out games",
        "Searched parameters",
        "importance, %",
        "generation",
    ),
    "training": ("games trained", "mean score in training"),
    "experiment": ("A small question", "published"),
}


class Addresses(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attrs if name in ("href", "src", "xlink:href")]


@pytest.mark.parametrize("kind", HEADINGS)
def test_a_run_is_one_file_with_its_figures(kind: str, store: Store) -> None:
    run = [run for run in store.runs() if run.kind == kind][-1]
    page = run_page(store, run).decode().replace("\N{NO-BREAK SPACE}", " ")
    assert [text for text in HEADINGS[kind] if text not in page] == []
    assert run.id in page and page.count("<svg") >= 1
    addresses = Addresses()
    addresses.feed(page)
    assert addresses.found and all(a.startswith(("data:", "#")) for a in addresses.found)
    data = next(a for a in addresses.found if a.startswith("data:text/csv"))
    assert "," in base64.b64decode(data.partition("base64,")[2]).decode().splitlines()[0]


def test_names_of_players_fetch_nothing(tmp_path: Path) -> None:
    with Store.open(url_of(tmp_path / "names.db")) as own:
        page = run_page(own, own.run(store_named(own))).decode()
    addresses = Addresses()
    addresses.feed(page)
    assert " leads: " in page and html.escape(TRAP) in page
    assert [a for a in addresses.found if not a.startswith(("data:", "#"))] == []


def test_the_last_board_of_the_best_match_is_in_it(store: Store) -> None:
    run = next(run for run in store.runs() if run.kind == "tournament" and run.name.startswith("2048"))
    assert page_boards(run_page(store, run).decode()) == 2


def test_a_run_is_downloaded_as_one_file(pages: Pages, store: Store) -> None:
    run = next(run for run in store.runs() if run.kind == "comparison")
    answer = pages.ask(f"{run_address(run.id)}/report.html")
    assert answer.body == run_page(store, run)
    name = f"{run.id.replace(':', '-')}.html"
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'


@pytest.mark.parametrize("kind", HEADINGS)
def test_a_run_has_a_figure_for_notebooks_and_files(kind: str, store: Store, tmp_path: Path) -> None:
    run = [run for run in store.runs() if run.kind == kind][-1]
    figure = turnier.figure_of(store, run.id)
    assert figure is not None and figure._repr_svg_().startswith("<svg") and figure.title in figure._repr_svg_()
    for name, begin in (("a.svg", b"<svg"), ("a.png", b"\x89PNG"), ("a.pdf", b"%PDF")):
        figure.save(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(begin)


def page_boards(page: str) -> int:
    return len(re.findall('<div class="board"><svg', page))


def test_the_command_writes_a_run_by_how_its_name_begins(url: str, store: Store, tmp_path: Path) -> None:
    run = next(run for run in store.runs() if run.kind == "certainty")
    words = ["show", run.id[:15], "--html", "--store", url, "--out", str(tmp_path)]
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    [page] = tmp_path.iterdir()
    assert done.exit_code == 0 and str(page) in done.output and page.suffix == ".html"
    with pytest.raises(UserError, match="nothing"):
        CliRunner().invoke(app, ["show", "nothing", "--html", "--store", url], catch_exceptions=False)


def test_a_port_that_is_taken_is_told_or_passed_over() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(UserError, match=f"needs a free port, got 127.0.0.1:{port}: .*; choose another"):
            listening_at("127.0.0.1", port)
    with listening_at("127.0.0.1", port) as one:
        assert one.getsockname()[1] == port
    with listening_at("127.0.0.1", None) as first, listening_at("127.0.0.1", None) as second:
        ports = [listening.getsockname()[1] for listening in (first, second)]
    assert FIRST_PORT <= ports[0] < ports[1] <= LAST_PORT
