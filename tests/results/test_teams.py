"""Teams of servers: one table over all boards and numbers of players."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import turnier
from turnier.results.frames import death_reasons, matches_frame, teams_frame
from turnier.results.store.store import Store

AGENTS = ("--agent", "basic", "--agent", "greedy", "--agent", "random")
BOARDS = ("--players", "2..3", "--width", "8..10", "--height", "8..10", "--timeout", "1", "--seed", "2")


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store that holds the games of a server only."""
    folder = tmp_path_factory.mktemp("teams")
    found = f"sqlite:///{folder}/t.db"
    turnier("spe_ed", "serve", "--port", "0", *AGENTS, *BOARDS, "--games", "6", "--store", found, folder=folder)
    return found


def test_a_table_over_all_boards(url: str) -> None:
    store = Store.open(url, read_only=True)
    frame = matches_frame(store, kind="server")
    assert frame["game"].nunique() > 1 and set(frame["seats"]) == {2, 3}
    teams = teams_frame(frame).set_index("agent")
    assert teams["games"].sum() == len(frame)
    for agent, part in frame.groupby("agent", observed=True):
        row = teams.loc[str(agent)]
        counts = [int((part["result"] == result).sum()) for result in ("win", "draw", "loss")]
        assert [row["wins"], row["draws"], row["losses"]] == counts
        assert 1 <= row["place"] <= 3 and 2 <= row["crowd"] <= 3
    assert abs(teams["elo"].mean()) < 1e-6 and teams["elo"].is_monotonic_decreasing
    winners = frame[frame["result"] == "win"]
    places = frame.assign(living=frame["match"].map(winners.set_index("match")["seat"]) == frame["seat"])
    assert places["living"].sum() == len(winners)


def test_games_without_a_result_do_not_count(url: str) -> None:
    frame = matches_frame(Store.open(url, read_only=True), kind="server")
    assert teams_frame(frame.assign(termination="error")).empty


def test_reasons_add_up_to_the_deaths(url: str) -> None:
    store = Store.open(url, read_only=True)
    frame = matches_frame(store, kind="server")
    died = sum(row[f"died_{row['seat']}"] > 0 for row in frame.to_dict("records"))
    out = death_reasons(store.records(frame["match"].unique().astype(str)))
    assert sum(sum(reasons.values()) for reasons in out.values()) == died > 0
    assert not [why for found in out.values() for why in found if "trail of" in why]


def test_results_and_status_know_servers(url: str, tmp_path: Path) -> None:
    assert "why they went out" in turnier("show", "--all", "--store", url, folder=tmp_path).lower()
    store = Store.open(url, read_only=True)
    prefix = store.runs()[0].id[:11]
    rows = json.loads(turnier("show", prefix, "--json", "--store", url, folder=tmp_path))
    assert {row["agent"].split("(")[0] for row in rows} == {"basic", "greedy", "random"}
    assert any(row["out"] for row in rows)
    status = json.loads(turnier("runs", "--json", "--store", url, folder=tmp_path))
    assert [(one["state"], one["done"], one["planned"]) for one in status] == [("finished", 6, 6)]
