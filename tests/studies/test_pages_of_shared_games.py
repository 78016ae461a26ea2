"""The pages of documents in `docs/results` have the numbers of the games that are shared beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from turnier.results.store.store import Store
from turnier.runs.experiments.experiment import measurements
from turnier.studies.campaigns.document import section
from turnier.studies.campaigns.figures import figures
from turnier.studies.campaigns.game_arrays import ENDING
from turnier.studies.campaigns.games_file import import_games
from turnier.studies.campaigns.learned import with_agents, with_networks_in

RESULTS = Path(__file__).parents[2] / "docs/results"
SHARED = RESULTS / "data/campaign"
FIGURES = {figure.run_id.replace(":", "-"): figure for figure in figures()}
FILES = sorted(path.stem for path in SHARED.glob(f"*{ENDING}") if not path.stem.startswith("study-"))

QUICK = ("brot", "spe_ed", "staehli", "weitz")  # documents whose pages are compared in seconds; Kutsch's takes a minute


def test_every_shared_file_is_of_an_experiment() -> None:
    assert FILES and [name for name in FILES if name not in FIGURES] == []
    assert {FIGURES[name].document for name in FILES} == {*QUICK, "kutsch"}, "each document has its page compared below"


@pytest.mark.parametrize("document", [*QUICK, pytest.param("kutsch", marks=pytest.mark.long)])
def test_a_page_has_the_rows_of_its_shared_games(document: str, tmp_path: Path) -> None:
    """Experiments share games, those of Kutsch with other documents, so all that share are in one store."""
    names = [name for name in FILES if FIGURES[name].document == document]
    page = (RESULTS / document / f"{document}.md").read_text()
    missing = {}
    with Store.open(f"sqlite:///{tmp_path / 'shared.db'}") as store:
        for name in FILES if document == "kutsch" else names:
            import_games(store, SHARED / f"{name}{ENDING}", tmp_path)
        for name in names:
            experiment = with_agents(FIGURES[name], store)
            assert experiment is not None
            ours = section(with_networks_in(experiment, ""), measurements(experiment, store), "")
            lines = [line for line in ours.splitlines() if line.startswith(("|", "Unit:"))]
            # Without the last cell, the time: games that files share were timed more than once.
            missing[name] = [line for line in lines if line.rsplit("|", 2)[0] not in page]
    missing = {name: lines for name, lines in missing.items() if lines}
    assert missing == {}, f"renew the page: python studies/report.py {document} --out docs/results/..."
