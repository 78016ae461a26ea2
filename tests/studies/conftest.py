"""What tests of campaigns share, also a PostgreSQL server."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.postgres import postgres_server, postgres_url  # noqa: F401
from tests.results.conftest import store, url  # noqa: F401
from tests.studies.campaign_figures import play
from turnier.results.store.store import Store
from turnier.studies.campaigns.games_file import export_games


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a played campaign: all.db, nets, and its export."""
    folder = tmp_path_factory.mktemp("campaign")
    with Store.open(f"sqlite:///{folder}/all.db") as opened:
        play(opened, folder / "nets")
        (folder / "export").mkdir()
        for run in opened.runs():
            export_games(opened, run, folder / "export")
    return folder
