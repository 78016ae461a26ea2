"""The documents: the reference of commands is current, links lead somewhere, the README stays short."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pandas as pd

from docs.screenshots import (
    AGAIN,
    MADE_OF,
    PICTURES,
    browser,
    commands_again,
    digest,
    make_store,
    photograph,
    served,
    settle,
    shown_in_documents,
)
from tests.server.browsers import needs_chromium
from turnier.core.number_text import plus_minus
from turnier.studies.kutsch.certainty_against_score import rank_correlation

REPO = Path(__file__).resolve().parents[2]
DOCUMENTS = [*REPO.glob("*.md"), *(REPO / "docs").rglob("*.md"), *(REPO / "benchmarks").glob("*.md")]


def writer_of(name: str) -> ModuleType:
    """Returns a script of docs/reference."""
    spec = importlib.util.spec_from_file_location(name, REPO / "docs/reference" / f"{name}.py")
    assert spec and spec.loader
    writer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(writer)
    return writer


def test_the_page_on_certainty_and_score_says_what_its_figures_say() -> None:
    page = (REPO / "docs/results/certainty_against_score.md").read_text()
    found = pd.read_csv(REPO / "docs/results/data/certainty_against_score.csv")
    for family, part in {"all agents": found, **dict(list(found.groupby("family")))}.items():
        rho, low, high = rank_correlation(part, 1)
        assert f"| {family} ({len(part)}) | {rho:.2f} | {low:.2f} to {high:.2f} |" in page
    fastest, slowest = found["cpu_ms_per_move"].min(), found["cpu_ms_per_move"].max()
    assert f"{fastest:.2f} to {slowest:.2f} ms measured" in page
    assert set(found["family"][found.nlargest(4, "agreement_percent").index]) == {"MC"}
    assert set(found.nsmallest(3, "score")["agent"]) < set(found.nlargest(4, "agreement_percent")["agent"])
    for score, half in found.loc[found["family"] == "MC", ["score", "score_half_width"]].itertuples(index=False):
        assert plus_minus(score, half) in page


def test_the_reference_of_commands_is_current() -> None:
    writer = writer_of("write_cli")
    assert writer.PAGE.read_text() == writer.page(), "run: python docs/reference/write_cli.py"


def test_links_lead_to_files() -> None:
    broken = []
    for document in DOCUMENTS:
        for target in re.findall(r"\]\(([^)\s]+)\)", document.read_text()):
            path, _, heading = target.partition("#")
            file = document.parent / path if path else document
            if "://" in target:
                continue
            if not file.exists() or (heading and heading not in headings(file)):
                broken.append(f"{document.relative_to(REPO)}: {target}")
    assert broken == []


def headings(document: Path) -> set[str]:
    """Returns the anchors of a document's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.*)$", document.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_named_files_exist() -> None:
    """Paths in backticks that begin at the root."""
    pattern = r"`((?:platform|dashboards|studies|tests|docs)/[\w./]+\.(?:py|md|sh|gz|jsonl))`"
    named = [(document, path) for document in DOCUMENTS for path in re.findall(pattern, document.read_text())]
    missing = [f"{doc.relative_to(REPO)}: {path}" for doc, path in named if not (REPO / path).exists()]
    assert [line for line in missing if "NAME" not in line] == []


def test_the_readme_is_short() -> None:
    assert len((REPO / "README.md").read_text().splitlines()) <= 100


def test_pictures_of_pages_are_as_new_as_the_pages() -> None:
    assert MADE_OF.read_text().splitlines()[0] == digest(), "run: python docs/screenshots.py"
    assert [name for name in PICTURES if not (MADE_OF.parent / f"{name}.png").exists()] == []


@needs_chromium
def test_pictures_that_are_made_again_show_the_same_words(tmp_path: Path) -> None:
    url = make_store(tmp_path, commands_again(), scripts=())
    shown = shown_in_documents(url)
    with served(url) as address, browser() as chromium:
        page = chromium.new_page(viewport={"width": 1280, "height": 900})
        words = {}
        for name in AGAIN:
            page.goto(f"{address}{shown[name]}")
            settle(page)
            words[name] = photograph(page, tmp_path / f"{name}.png")
    known = dict(line.split() for line in MADE_OF.read_text().splitlines()[1:])
    assert words == known, "run: python docs/screenshots.py"
