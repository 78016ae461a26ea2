"""What tests of campaigns share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.studies.campaign_figures import play
from turnier.results.store.store import Store
from turnier.studies.campaigns.games_file import export_games


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a played campaign: all.db, nets, and its export."""
    folder = tmp_path_factory.mktemp("campaign")
    with Store.open(f"sqlite:///{folder}/all.db") as store:
        play(store, folder / "nets")
        (folder / "export").mkdir()
        for run in store.runs():
            export_games(store, run, folder / "export")
    return folder
