"""The first page: what each kind of run says at a glance, links, filters, notes, and runs that come and go."""

from __future__ import annotations

import contextlib
import io
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from tests.dashboards.conftest import DECIDED, TINY
from tests.dashboards.drawn_pages import TRAP, Pages, run_of, url_of
from tests.results.made import GAME
from tests.results.test_certainty import voted
from turnier.arena.match import MatchSpec
from turnier.arena.play import play_match
from turnier.dashboards.kinds.certainty import agents_table
from turnier.dashboards.links import match_address, run_address
from turnier.dashboards.markup import edge
from turnier.dashboards.sections import Head, head
from turnier.results.frames.certainty import position_certainty, searches_of_runs
from turnier.results.store import manifest
from turnier.results.store.annotations import NOTE
from turnier.results.store.run_changes import delete_run
from turnier.results.store.store import Run, Store
from turnier.runs.bar import run_bar
from turnier.runs.certainty import Certainty
from turnier.runs.comparison import Comparison
from turnier.runs.people.hosted_games import store_game
from turnier.runs.results import RunResults
from turnier.runs.stored.comparison import ComparisonResults
from turnier.runs.tournament import Tournament
from turnier.search.storage.studies import stored_verdict
from turnier.search.study_run import StudyRun


@pytest.fixture
def copied(url: str, tmp_path: Path) -> str:
    """A copy of the store, which tests may change."""
    whole, own = (sqlite3.connect(path) for path in (url.removeprefix("sqlite:///"), tmp_path / "copy.db"))
    with closing(whole), closing(own):
        whole.backup(own)  # with what is still in the write-ahead log
    return url_of(tmp_path / "copy.db")


def quiet() -> Console:
    return Console(file=io.StringIO())


def glance(store: Store, run: Run) -> Head:
    return head(RunResults.find(store, run.id))


def results(store: Store) -> dict[str, str]:
    return {f"{run.kind} {run.name}": glance(store, run).sentence for run in store.runs()}


def test_a_tournament_shows_its_leader_with_points_or_mean(store: Store) -> None:
    said = results(store)
    assert re.fullmatch(
        r"mc\(iterations=40\) leads: [\d,]+ ± \d+, 12 games; the best of these with .* % probability",
        said["tournament 2048(size=3)"],
    )
    assert re.fullmatch(
        r"mc.* leads: \d+(\.\d)? % \(\d.* to \d.*\) of the points, \d+ games; the best of these .*",
        said["tournament yavalath(size=3)"],
    )
    best_first = next(glance(store, run).agents for run in store.runs() if run.name == "2048(size=3)")
    assert best_first[0] == "mc(iterations=40)"


def test_a_tournament_says_which_agents_are_yet_to_play(copied: str) -> None:
    with Store.open(copied) as store:
        run = next(run for run in store.runs() if (run.kind, run.name) == ("tournament", "2048(size=3)"))
        assert glance(store, run).unplayed == ()
        planned = {**run.definition, "agents": [*run.definition["agents"], "mc(iterations=500)"]}
        store.begin_run("tournament:later", "tournament", run.name, planned)
        store.append("tournament:later", [record for records in store.records_of_run(run.id) for record in records])
        seen = glance(store, store.run("tournament:later"))
    assert seen.unplayed == ("mc(iterations=500)",) == seen.agents[-1:]
    assert "leads so far:" in seen.sentence and seen.sentence.endswith("; yet to play: mc(iterations=500)")


def test_other_kinds_show_what_they_measured(store: Store) -> None:
    said = results(store)
    assert re.search(
        r"mc\(iterations=\d+\) leads: .* % (\(.* to .*\) )?normalised certainty in \d+ pos",
        said["certainty 2048(size=3)"],
    )
    assert re.match(r"After 400 training games: .*, 6 evaluation games", said["training tictactoe"])
    assert said["experiment A small question"].startswith("2 figures: ")
    assert "candidates" in said["study tiny"] or "ecommended" in said["study tiny"]


def test_certainty_is_the_mean_over_groups_of_any_size_with_its_interval(copied: str) -> None:
    """Two groups have 25 % and 62.5 %: 43.75 %, not the 37.5 % of all six positions."""
    votes = {1: ("aaab", 2), 2: ("aabb", 2), 3: ("aaab", 2), 4: ("aabb", 2), 5: ("aaaa", 3), 6: ("aabb", 3)}
    records = [record for state, (actions, legal) in votes.items() for record in voted(state, actions, legal)]
    with Store.open(copied) as store:
        planned = Certainty(GAME, ["random"], states=3, repeats=4, games=1, collector="random")
        store.begin_run("certainty:1", "certainty", GAME, planned.definition)
        store.searches.append("certainty:1", records)
        seen = glance(store, store.run("certainty:1"))
        shown = agents_table(position_certainty(searches_of_runs(store, ["certainty:1"]))).texts().iloc[0]
    mean, _, interval = shown["normalised, %"].partition(" ")
    assert float(mean) == pytest.approx(43.75, abs=1)
    assert seen.sentence == f"random leads: {mean} % {interval} normalised certainty in 6 positions"


def test_a_comparison_shows_its_verdict_in_its_colour(copied: str) -> None:
    with Store.open(copied) as store:
        Comparison("mc(iterations=20)", "random", game="tictactoe", games=400).run(store, progress=False)
        run = store.find_run("last")
        seen = glance(store, run)
    assert (
        re.match(r"mc\(iterations=20\) is stronger than random at tictactoe after \d+ games .* Elo", seen.sentence)
        and seen.colour
    )
    pages = Pages(copied)
    assert f"border-color: {edge(seen.colour)}" in pages.look().html
    assert f"border-left: 0.5rem solid {edge(seen.colour)}" in pages.look(run_address(run.id)).html


def test_a_comparison_that_is_repeated_with_another_margin_shows_the_new_verdict(copied: str) -> None:
    agents, pages = ("mcts(iterations=16)", "mcts(iterations=17)"), Pages(copied)
    with Store.open(copied) as store:
        run = run_of(store, "comparison").id
        games = ComparisonResults.find(store, run).duel.games
        for margin, verdict in ((1.0, "undecided"), (90.0, "equal")):
            again = Comparison(*agents, game="tictactoe", margin=margin, games=games, seed=3)
            again.run(store, progress=False)
            assert again.run_id == run
            for address in ("/?kind=comparison", run_address(run)):
                assert f" are {verdict} " in pages.look_later(address).text


def test_a_study_that_gains_a_verdict_without_a_game_shows_it(copied: str) -> None:
    pages = Pages(copied)
    assert "No verdict yet" in pages.look("/?kind=study").text
    assert "Held-out games" not in pages.look(run_address("study:tiny")).tables
    with Store.open(copied) as store:
        verdict = stored_verdict(store, DECIDED)
        assert verdict is not None
        StudyRun(store, TINY, progress=False).store_verdict(verdict)
    assert "No verdict yet" not in pages.look_later("/?kind=study").text
    assert "Held-out games" in pages.look(run_address("study:tiny")).tables


def test_every_run_is_a_link_to_its_page_and_can_be_set_side_by_side(pages: Pages, store: Store) -> None:
    page = pages.look()
    addresses = [run_address(run.id) for run in reversed(store.runs())]
    assert [link for link in page.links if link.startswith("/runs/")] == addresses
    assert page.choices["run"] == [run.id for run in reversed(store.runs())]
    assert "Nothing is running" in page.text
    first = pages.look("/?most=2")
    assert len(first.tables["Past runs"]) == 2 and "/?most=8" in first.links


@pytest.mark.parametrize(
    ("filters", "kept"),
    [
        ("kind=study", lambda run: run.kind == "study"),
        ("kind=study&state=stopped", lambda run: False),
        ("game=spe_ed", lambda run: run.name.startswith("spe_ed")),
        ("kind=judging", lambda run: False),
    ],
)
def test_runs_are_filtered_by_game_kind_and_state(
    pages: Pages, store: Store, filters: str, kept: Callable[[Run], bool]
) -> None:
    page = pages.look(f"/?{filters}")
    found = {run.id for run in store.runs() if run_address(run.id) in page.links}
    assert found == {run.id for run in store.runs() if kept(run)}
    assert bool(found) == ("Past runs" in page.text)


def test_notes_are_shown_as_text_and_runs_that_go_vanish(copied: str) -> None:
    pages = Pages(copied)
    assert "study:front" in pages.look().html
    with Store.open(copied) as store:
        store.annotations.set("study:tiny", NOTE, f"first {TRAP}")
        delete_run(store, store.run("study:front"))
    page = pages.look_later()
    assert f"first {TRAP}" in page.text and "study:front" not in page.html
    assert "no run named 'study:front'" in pages.look(run_address("study:front")).trouble


def test_a_run_that_cannot_be_read_says_so_and_the_others_are_shown(copied: str) -> None:
    gone = {"game": "gone", "agents": ["gone", "random"], "seed": 1, "openings": 0}
    with Store.open(copied) as store:
        store.begin_run("comparison:old", "comparison", "gone", gone)
    pages = Pages(copied)
    told = pages.look()
    assert "no game named" in told.text and run_address("study:tiny") in told.links
    assert "no game named" in pages.look(run_address("comparison:old")).trouble
    assert len(pages.ask("/api/runs").json) > 5 and pages.ask("/api/runs/comparison:old").status == 400


def test_games_of_a_server_and_of_people_have_a_place(copied: str) -> None:
    played = play_match(MatchSpec("spe_ed(width=12,height=12,players=2)", ("random", "random"), 5))
    clients = replace(played, spec=replace(played.spec, agents=("alice", "bob")))
    with Store.open(copied) as store:
        store.begin_run("server:1", "server", "spe_ed", {"rules": "", "seed": 1})
        store.append("server:1", [clients])
        store_game(store, play_match(MatchSpec("tictactoe", ("random", "random"), 5)))
        people = run_of(store, "play").id
    pages = Pages(copied)
    page = pages.look(run_address("server:1"))
    assert page.tabs == ["Result", "Games", "Cost", "Origin"] and "alice" in page.text
    games = pages.look(run_address("server:1", "games", agent="alice")).tables["Games"]
    assert list(games["board"]) == [match_address("server:1", clients.spec.id)]
    assert {run_address("server:1"), run_address(people)} <= set(pages.look().links)
    assert len(pages.look(run_address(people, "games")).tables["Games"]) == 1


def test_a_run_says_how_far_it_is_and_how_a_stopped_one_goes_on(copied: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifest, "_command", ["turnier", "tournament", "tictactoe", "random", "greedy"])
    halted = Tournament("tictactoe", ["random", "greedy"], games=8)
    pages, place = Pages(copied), run_address(halted.run_id)
    with Store.open(copied) as store:
        store.begin_run(halted.run_id, "tournament", "tictactoe", halted.definition)
        with contextlib.suppress(KeyboardInterrupt), run_bar(store, halted.run_id, "test", 8, quiet()) as bar:
            bar.advance(2)
            for address in ("/", "/?state=running"):
                page = pages.look_later(address)
                assert "1 running" in page.text and place in page.links and "/api/live" in page.html
            running = pages.look(place)
            assert f'data-live="/api/live?run={halted.run_id}"' in running.html
            assert "of 8 games" in running.text and "Running: " in running.text
            assert not {"To resume it:"} & set(pages.look(f"{place}/origin").text.splitlines())
            raise KeyboardInterrupt
    page = pages.look_later(place)
    assert re.search(
        r"Stopped \d{4}-.* UTC: 2 of 8 games done. Interrupted. Origin has the command to resume", page.text
    )
    assert "data-live" not in page.html
    origin = pages.look(f"{place}/origin")
    assert "To resume it:" in origin.text and origin.copied[0].startswith("turnier tournament tictactoe random greedy")
    assert place in pages.look("/?state=stopped").links


def test_pages_hear_what_changes(copied: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for beat in ("shown_store.BEAT", "live.BEAT", "live.IDLE_BEAT"):
        monkeypatch.setattr(f"turnier.dashboards.app.{beat}", 0.01)
    pages = Pages(copied)
    with Store.open(copied) as store:
        numbers = iter(range(1000))
        pages.hear("/api/live", "news", lambda: store.annotations.set("study:tiny", NOTE, f"{next(numbers)}"))
        played = Tournament("tictactoe", ["random", "greedy"], games=8)
        records = iter([play_match(spec) for spec in played.plan or ()])
        store.begin_run(played.run_id, "tournament", "tictactoe", played.definition)
        of_run = f"/api/live?run={played.run_id}"
        pages.hear(of_run, "news", lambda: store.append(played.run_id, [next(records)]))
        kept = [store.run(played.run_id)]  # it is deleted once, however long the page takes to say so
        told = pages.hear(of_run, "refused", lambda: delete_run(store, kept.pop()) if kept else None)
        assert "this run is no longer stored" in told
    monkeypatch.setattr("turnier.dashboards.app.live.LISTENERS", 0)
    assert pages.ask("/api/live").status == 429


def test_find_looks_in_all_runs_and_stays_in_the_address(copied: str) -> None:
    with Store.open(copied) as store:
        sought = store.runs()[-1]
        others = [run.id for run in store.runs() if run.id != sought.id]
    html = Pages(copied).look(f"/?find={sought.id.upper()}&most=1").html
    rows = html.partition('id="runs"')[2].partition("</table>")[0]
    assert sought.id in rows and not any(other in rows for other in others)
    assert f'value="{sought.id.upper()}"' in html
    assert "No run is like that." in Pages(copied).look("/?find=nothing+like+it").html
