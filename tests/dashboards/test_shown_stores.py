"""Pages of stores that are empty, damaged, locked or old, or whose names are traps; and requests that are refused."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.dashboards.drawn_pages import TRAP, Pages, run_of, store_named, url_of
from turnier.arena.workers.local import SerialExecutor
from turnier.arena.workers.where import Where
from turnier.dashboards.app import shown_store
from turnier.dashboards.app.shown_store import ShownStore
from turnier.dashboards.links import run_address
from turnier.results.databases import sqlite
from turnier.results.store import manifest
from turnier.results.store.annotations import NOTE
from turnier.results.store.progress import ProgressReporter
from turnier.results.store.store import Store
from turnier.runs.comparison import Comparison
from turnier.search.definition import StudyDefinition
from turnier.search.study_run import StudyRun

BEGIN = "turnier tune 2048 mc --params rollout_depth=0..50 --budget 10min"
READING = "/", "/league", "/runs/study:tiny", "/compare?run=a&run=b", "/dashboard", "/dashboard/studies/1"
DATA = "/api/runs", "/api/runs/study:tiny", "/api/live?run=a", "/api/matches/00/board.svg", "/api/studies"


@pytest.mark.parametrize("exists", [True, False])
def test_an_empty_or_missing_store_says_what_to_type(exists: bool, tmp_path: Path) -> None:
    path = tmp_path / "empty.db"
    if exists:
        Store.open(url_of(path)).close()
    pages = Pages(url_of(path))
    for address in ("/", "/?kind=study", "/?kind=certainty", "/league"):
        page = pages.look(address)
        assert "Type:" in page.text and page.copied[0].startswith("turnier "), address
        assert f"--store {url_of(path)}" in page.copied[0]
    assert pages.ask("/api/runs").json == []
    assert pages.ask("/api/names").json["option"] == f" --store {url_of(path)}"  # of the command on the page Play
    assert pages.look("/dashboard").trouble.endswith(f"type: {BEGIN} --store {url_of(path)}")
    assert "since none is stored" in pages.look("/runs/study:tiny").trouble
    assert exists == path.exists(), "looking stores nothing"


def test_kinds_without_a_run_say_how_one_is_begun(pages: Pages) -> None:
    page = pages.look("/?kind=judging")
    assert page.copied[0].startswith('turnier judge tictactoe random "mcts(iterations=100)" --store sqlite:///')


def test_a_store_that_appears_is_shown(tmp_path: Path) -> None:
    pages = Pages(url_of(tmp_path / "later.db"))
    assert "No run is stored here yet" in pages.look().text
    with Store.open(url_of(tmp_path / "later.db")) as store:
        store.begin_run("tournament:1", "tournament", "the first one", {"game": "2048"})
    assert "the first one" in pages.look_later().text


def test_a_store_is_read_again_only_after_a_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown_store, "BEAT", 0.0)
    path, read = tmp_path / "seen.db", []
    progress_of_runs = shown_store.progress_of_runs
    monkeypatch.setattr(shown_store, "progress_of_runs", lambda store: read.append(1) or progress_of_runs(store))
    with Store.open(url_of(path)) as store:
        store.begin_run("tournament:1", "tournament", "one", {"game": "2048"})
    shown = ShownStore(url_of(path))
    assert [list(shown.progress()), list(shown.progress())] == [["tournament:1"]] * 2
    assert len(read) == 2, "what has just been written may not be all"
    monkeypatch.setattr(sqlite, "SETTLED", 0.0)
    read.clear()
    for _ in range(5):
        assert list(shown.progress()) == list(shown.runs()) == ["tournament:1"]
    assert len(read) == 1
    with Store.open(url_of(path)) as store:
        for number in range(2, 6):  # in the log, then merged into the file
            store.begin_run(f"tournament:{number}", "tournament", "another", {"game": "2048"})
            assert len(shown.progress()) == len(shown.runs()) == number
            assert len(shown.progress()) == number
        assert len(read) == 5
        store.annotations.set("tournament:1", NOTE, "the first one")
        assert shown.progress()["tournament:1"].note == "the first one"
        driven = SimpleNamespace(total=4, done=1, skipped=0, unit="games")
        with ProgressReporter(store, "tournament:1", driven):
            read.clear()
            assert [shown.progress()["tournament:1"].state for _ in "123"] == ["running"] * 3
            assert len(read) == 3, "whether its driver lives is nothing that a file says"
    assert shown.progress()["tournament:1"].state == "finished"


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        ("damaged", "must be an undamaged SQLite database"),
        ("foreign", "must be new or Turnier's own"),
        ("newer", "install a newer Turnier"),
        ("older", "type: turnier upgrade --store "),
        ("locked", "must not be locked"),
    ],
)
def test_a_store_that_cannot_be_read_is_one_sentence(
    spoil: str, sentence: str, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "spoilt.db"
    shutil.copy(url.removeprefix("sqlite:///"), path)
    holder = sqlite3.connect(path, isolation_level=None)
    if spoil == "damaged":
        path.write_bytes(b"no database" * 1000)
    elif spoil == "foreign":
        path.unlink()
        holder = sqlite3.connect(path)
        holder.execute("CREATE TABLE matches (title)")
    elif spoil == "locked":
        monkeypatch.setattr("turnier.dashboards.app.shown_store.PATIENCE", 0.1)
        holder.execute("PRAGMA journal_mode = DELETE")
        holder.execute("BEGIN EXCLUSIVE")
    else:
        holder.execute(f"UPDATE turnier_version SET version = {99 if spoil == 'newer' else 9}")
    pages = Pages(url_of(path))
    for address in READING:
        trouble = pages.look(address).trouble
        assert sentence in trouble and len(trouble.splitlines()) == 1, address
    for address in DATA:
        answer = pages.ask(address)
        assert answer.status == 400 and sentence in answer.json["error"], address
    holder.close()


def test_a_store_that_was_locked_is_shown_once_it_is_free(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "locked.db"
    shutil.copy(url.removeprefix("sqlite:///"), path)
    monkeypatch.setattr("turnier.dashboards.app.shown_store.PATIENCE", 0.1)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("PRAGMA journal_mode = DELETE")
    holder.execute("BEGIN EXCLUSIVE")
    pages = Pages(url_of(path))
    assert "must not be locked" in pages.look().trouble
    holder.execute("COMMIT")
    holder.close()
    assert "Past runs" in pages.look_later().text


def test_names_are_shown_as_they_are_and_fetch_nothing(tmp_path: Path) -> None:
    with Store.open(url_of(tmp_path / "names.db")) as store:
        run = store_named(store)
        store.annotations.set(run, NOTE, TRAP)
        pages = Pages(store.url)
        place = run_address(run)
        pair = run_address(run, "pairs", agent=TRAP, against="random")
        games = run_address(run, "games", agent=TRAP)
        for address in ("/", place, f"{place}/pairs", pair, games, f"{place}/cost", "/league/tictactoe"):
            page = pages.look(address)
            assert not page.trouble and TRAP.rpartition("/")[2] in page.text, address
            assert all(to.startswith(("/", "#")) for to in (*page.fetched, *page.links)), address
            assert page.html.count("x()") == page.html.count("&lt;script&gt;x()") + page.html.count("u003cscript>x()")
        assert TRAP in str(pages.look(f"{place}/pairs").figures["Who beats whom"])


@pytest.mark.parametrize(
    "address", ["/runs/{}", "/?game={}", "/{}", "/runs/study:tiny/{}", "/league/{}", "/runs/study:tiny?x={}"]
)
def test_words_of_an_address_are_shown_as_they_are(pages: Pages, address: str) -> None:
    from urllib.parse import quote

    answer = pages.ask(address.format(quote(TRAP, safe="")))
    page = pages.look(address.format(quote(TRAP, safe="")))
    assert "http://example.org" not in " ".join(page.fetched + page.links) and "<script>x()" not in page.html
    assert "script-src 'self'" in answer.headers["content-security-policy"]


def test_commands_name_the_store_that_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifest, "_command", ["turnier", "compare", "random", "greedy"])
    comparison = Comparison("random", "greedy", game="tictactoe", margin=1, games=8, first_round=4)
    study = StudyDefinition(
        "one", "tictactoe", "mc(iterations=5)", ("iterations=1..9",), "random", "fixed(games=1)", ("random",)
    )
    with Store.open(url_of(tmp_path / "own.db")) as store:
        comparison.run(store, where=Where("threads", 1), progress=False)
        StudyRun(store, study, progress=False).run(1, SerialExecutor())
        pages = Pages(store.url)
        for run in store.runs():
            copied = pages.look(run_address(run.id, "origin")).copied
            assert copied[0] == f"turnier compare random greedy --store {store.url}"
            assert copied[1] == f"turnier check {run.id} --sample 5% --store {store.url}"


def test_a_run_says_where_it_comes_from(pages: Pages, store: Store) -> None:
    run = run_of(store, "comparison")
    facts = pages.look(run_address(run.id, "origin")).facts
    assert facts["run"] == run.id and facts["begun"].startswith(f"{run.created:%Y-%m-%d %H:%M}")
    assert f"turnier {run.environment['turnier']}" in facts["versions"] and facts["machine"]
    assert facts["seed"] == "3" and facts["agents"].splitlines() == run.definition["agents"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "127.0.0.1:8501"}, 200),
        ({"host": "evil.example"}, 400),
        ({"host": "127.0.0.1.evil.example"}, 400),
        ({"origin": "http://evil.example"}, 403),
        ({"sec_fetch_site": "cross-site"}, 403),
        ({"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate", "sec_fetch_dest": "document"}, 200),
        ({"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate", "sec_fetch_dest": "iframe"}, 403),
    ],
)
def test_pages_are_shown_only_under_names_of_this_machine_and_not_inside_other_sites(
    url: str, headers: dict[str, str], status: int
) -> None:
    pages = Pages(url, ("127.0.0.1", "localhost"))
    for address in ("/", "/runs/study:tiny", "/play"):
        assert pages.ask(address, **headers).status == status, address
    assert "frame-ancestors 'none'" in pages.ask("/").headers["content-security-policy"]


def test_paths_lead_nowhere_else(pages: Pages) -> None:
    for address in ("/site/../app.py", "/site/%2e%2e/app.py", "/static/..%2f..%2fapp.py", "/runs/../../etc/passwd"):
        assert pages.ask(address).status == 404, address
    for address in ("/" + "x" * 17_000, "/?kind=" + "x" * 70_000, "/api/runs?kind=" + "x" * 70_000):
        refused = pages.ask(address)
        assert refused.status == 414 and b"xxx" not in refused.body
    for method in ("POST", "PUT", "DELETE"):
        assert pages.ask("/runs/study:tiny", method, content_type="application/json").status == 405, method
