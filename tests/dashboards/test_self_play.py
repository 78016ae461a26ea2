"""A training by self-play on its page, in its line of the list of runs and in its report."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dashboards.drawn_pages import Pages
from turnier.dashboards.agent_names import planned
from turnier.dashboards.links import run_address
from turnier.dashboards.reports.run import run_page
from turnier.dashboards.sections import head
from turnier.results.store.store import Store
from turnier.runs.training import Training

AGENTS = [
    "puct(iterations=8,evaluator=ntuple(tuples=4),selection=gumbel)",
    "puct(iterations=8,evaluator=residual(blocks=1,filters=16),selection=gumbel)",
]


@pytest.mark.parametrize("agent", AGENTS)
def test_its_checkpoints_are_rated_on_its_page(agent: str, tmp_path: Path) -> None:
    if "residual" in agent:
        pytest.importorskip("jax")
    url = f"sqlite:///{tmp_path}/own.db"
    settings = {"learning": "self_play(generation=10)", "evaluate_every": 20, "evaluation_games": 8}
    with Store.open(url) as store:
        results = Training(
            "tictactoe", agent, out=tmp_path / "z.npz", games=40, every=10, against="random", **settings
        ).run(store, progress=False)
        (run,) = store.runs()
        assert planned(run) == (agent,)
        assert head(results).sentence.startswith("After 40 training games: games won")
        report = run_page(store, run).decode()
        checkpoints = set(store.curves.evaluated(run.id).values())
    assert "Ratings of checkpoints" in report and report.count("<svg") == 3
    page = Pages(url).look(run_address(run.id))
    assert "Ratings of checkpoints" in page.figures and len(page.figures) == 3 and "Elo" in page.tables["Evaluations"]
    assert len(checkpoints) == 3 and results.best in (0, 20, 40)
