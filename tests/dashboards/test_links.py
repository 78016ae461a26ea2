"""Addresses that lead to runs, games and moves; and those with a wrong word, which never show something else."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from tests.dashboards.drawn_pages import Pages, run_of
from turnier.dashboards.links import games_address, match_address, run_address
from turnier.results.store.store import Store

PLAYED = ["Games", "Cost", "Origin"]
TABS = {
    "tournament": ["Result", "Pairs", *PLAYED],
    "comparison": ["Result", *PLAYED],
    "certainty": ["Result", *PLAYED],
    "study": ["Result", "Search", *PLAYED],
    "training": ["Result", *PLAYED],
    "experiment": ["Result", *PLAYED],
}


def test_every_run_has_a_place_with_tabs(pages: Pages, store: Store) -> None:
    runs = store.runs()
    assert {run.kind: pages.look(run_address(run.id)).tabs for run in runs} == TABS
    titles = [pages.look(run_address(run.id)).title for run in runs]
    assert len(set(titles)) == len(titles), "tabs of a browser are told apart"


def test_addresses_keep_what_agents_are_called() -> None:
    assert run_address("study:a b", "search", parameter="x&y") == "/runs/study:a%20b/search?parameter=x%26y"
    assert games_address("tournament:1", "mc(a=1,b=2)", "c&d") == (
        "/runs/tournament:1/games?agent=mc%28a%3D1%2Cb%3D2%29&against=c%26d"
    )
    assert match_address("study:a b", "3f", 0) == "/match/3f?run=study%3Aa%20b#move=1"


def kind(link: str) -> tuple[str, ...]:
    """Returns what tells links apart of which each is followed once: a page of a run, a match, a kind of file."""
    place = urlsplit(link)
    path = place.path
    if "/files/" in path or path.endswith("/report.html"):
        return ("file", link.rpartition(".")[2])
    return ("/match" if path.startswith("/match/") else path, *sorted(parse_qs(place.query)))


def test_all_links_lead_to_what_they_say(pages: Pages, store: Store) -> None:
    waiting, followed = ["/"], set[tuple[str, ...]]()
    while waiting:
        link = waiting.pop()
        if kind(link) in followed:
            continue
        followed.add(kind(link))
        place = urlsplit(link)
        assert not place.netloc, link
        if kind(link)[0] == "file" or place.path.startswith("/dashboard/"):
            answer = pages.ask(link)
            assert answer.status == 200 and answer.body, link
            continue
        page = pages.look(link)
        assert not page.trouble, (link, page.trouble)
        for picture in page.fetched[-1:]:
            assert pages.ask(picture).status == 200, (link, picture)
        waiting += [to for to in page.links if not to.startswith("#")]
    tabs = [(run.id, "" if tab == "Result" else tab.lower()) for run in store.runs() for tab in TABS[run.kind]]
    assert {(run_address(*tab),) for tab in tabs} <= followed
    assert ("/match", "run") in followed and len(followed) > 45


@pytest.mark.parametrize("address", ["/runs/{}", "/runs/{}/games", "/compare?run={}&run=study:tiny"])
def test_an_unknown_run_is_an_error_and_never_another_run(pages: Pages, address: str) -> None:
    trouble = pages.look(address.format("tournament:doesnotexist")).trouble
    assert "There is no run named 'tournament:doesnotexist'; the nearest are tournament:" in trouble
    assert len(trouble.splitlines()) == 1


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("/nopage", "no page is at /nopage"),
        ("/run", "no page is at /run; did you mean /runs"),
        ("/?game=ches", "no game named 'ches'"),
        ("/?kind=torunament", "no kind named 'torunament'; did you mean tournament?"),
        ("/?state=done", "no state named 'done'"),
        ("/?most=many", "most must be 1 to 5,000, got 'many'"),
        ("{}/nothing", "no tab named 'nothing'"),
        ("{}/search", "no tab named 'search'"),
        ("{}/games/2", "a run has tabs, got 'games/2'"),
        ("{}/games?agent=nobody", "no agent named 'nobody'"),
        ("{}/games?agent=random&result=lots", "no result named 'lots'; did you mean lost?"),
        ("{}/games?order=newest", "no order named 'newest'"),
        ("{}/games?most=0", "most must be 1 to 600, got '0'"),
        ("{}/pairs?agent=nobody&against=random", "no agent named 'nobody'"),
        ("{}/files/nothing.csv", "no file named 'nothing.csv'"),
        ("{}/files/ratings.exe", "no file named 'ratings.exe'; did you mean ratings."),
        ("/runs/study:tiny/search?parameter=x", "no by parameter named 'x'"),
        ("/runs/study:tiny/search?compare=tinny", "no compare with other studies named 'tinny'"),
        ("/league/ches", "no game named 'ches'"),
        ("/league/hex", "No tournament of hex is stored here; there are leagues of"),
        ("/league/ches/files/a.csv", "no game named 'ches'"),
        ("/compare", "two or more runs stand side by side, got 0"),
        ("/compare?run=study:tiny&run=study:tiny", "got 1; tick them on the page Runs"),
    ],
)
def test_a_wrong_word_in_an_address_is_a_sentence(pages: Pages, store: Store, address: str, sentence: str) -> None:
    place = address.format(run_address(run_of(store, "tournament", "yavalath").id))
    trouble = pages.look(place).trouble
    assert pages.ask(place).status == (400 if address.startswith("/compare") else 404)
    assert sentence.lower() in trouble.lower() and len(trouble.splitlines()) == 1


def test_a_wrong_word_asks_for_no_data(pages: Pages) -> None:
    for address in (
        "/api/runs/nobody",
        "/api/runs/nobody/figures",
        "/api/live?run=nobody",
        "/api/matches/00/board.svg",
    ):
        answer = pages.ask(address)
        assert answer.status == 400 and "\n" not in answer.json["error"], address
    assert pages.ask("/api/nothing").json["error"] == "/api/nothing is not there."


def test_a_run_is_found_by_its_beginning_or_name_and_shown_at_its_own_address(pages: Pages, store: Store) -> None:
    for short in ("comparison:", "study:ti", "tiny"):
        run = store.find_run(short)
        answer = pages.ask(f"/runs/{short}/games?order=longest")
        assert (answer.status, answer.headers["location"]) == (307, f"{run_address(run.id, 'games')}?order=longest")
    assert pages.look("/runs/tiny/").title == pages.look("/runs/study:tiny").title


def test_games_of_some_agents_are_listed_and_kept_by_the_filters(pages: Pages, store: Store) -> None:
    run = run_of(store, "tournament", "2048")
    agent = str(run.definition["agents"][0])
    page = pages.look(games_address(run.id, agent))
    assert page.tables["Games"].shape[0] == 12 and f'<option value="{agent}" selected' in page.html
    name = page.tables["Games"]["score and agent of each seat"].iloc[0].rpartition(" ")[2]
    assert len(pages.look(games_address(run.id, name)).tables["Games"]) == 12
