"""From a number to the board: positions behind figures, with the way to their matches."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from tests.core.test_outside import BOT, FIRST, LAST
from tests.dashboards.drawn_pages import Pages, run_of, url_of
from turnier.agents.registry import make_agent
from turnier.arena.analysis.reanalysis import Reanalysis
from turnier.arena.match import MatchSpec
from turnier.arena.play import play_match
from turnier.arena.workers.where import Where
from turnier.core.outside import classes
from turnier.dashboards.app import shown_store
from turnier.dashboards.app.shown_store import ShownStore
from turnier.dashboards.every_run import differences
from turnier.dashboards.links import run_address
from turnier.dashboards.sections import Text
from turnier.results.frames.matches import matches_frame
from turnier.results.store.store import Store
from turnier.runs.people.hosted_games import store_game
from turnier.runs.tournament import Tournament

STRONG, WEAK = "mcts(iterations=40)", "random"
SERIAL = Where("serial")
CLICK = {"of": "mc(iterations=40)", "legal": "any"}


@pytest.fixture
def why(store: Store) -> str:
    return run_address(run_of(store, "tournament", "yavalath").id, "why", agent=WEAK, against=STRONG)


def boards(html: str) -> dict[str, str]:
    """Returns the boards of a page by the address of their position, without the colours of choices."""
    found = re.findall(r'<figure><a href="(/match/[^"]+)"><img[^>]* src="data:image/svg\+xml,([^"]+)"', html)
    return {to: re.sub(r' style="fill: #\w+"', "", unquote(svg)) for to, svg in found}


def drawn(store: Store, to: str) -> str:
    """Returns the board that an address on the board's page shows first."""
    place = urlsplit(to)
    review = Reanalysis(store.find_record(place.path.rpartition("/")[2]))
    number = int(parse_qs(place.fragment)["move"][0]) - 1
    return review.game.svg(review.moments[number].position.state)


def test_the_panel_of_two_agents_leads_to_positions_in_which_they_differ(pages: Pages, store: Store, why: str) -> None:
    run = run_of(store, "tournament", "yavalath").id
    panel = pages.look(run_address(run, "pairs", agent=WEAK, against=STRONG))
    [link] = [to for to in panel.links if "/why?" in to]
    page = pages.look(link)
    assert page.title.startswith("yavalath") and f"Why is {STRONG} stronger than {WEAK}?" in page.text
    assert re.search(r"Looked at \d+ positions of \d+ of their games: they choose differently in \d+", page.text)
    assert f"Where it cost {WEAK} most" in page.text and "Where they differ most" in page.text
    shown = boards(page.html)
    assert len(shown) == 6
    for to, svg in shown.items():
        assert svg == drawn(store, to), to
    assert re.search(rf"{re.escape(STRONG)} would play \w+: -?[\d.]+ \(\w+: -?[\d.]+\)", page.text)
    assert page.html.count("background: #") >= 12  # the colours of choices, explained beside their texts
    assert pages.look(why).text == page.text


def test_a_comparison_leads_there_from_its_verdict(pages: Pages, store: Store) -> None:
    page = pages.look(run_address(run_of(store, "comparison").id))
    [link] = [to for to in page.links if "/why?" in to]
    assert len(boards(pages.look(link).html)) > 0


def test_only_one_page_searches_positions_at_once(url: str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown_store, "TURN", 0)
    pages = Pages(url)
    with pages.shown._alone:
        page = pages.look(why)
        assert "Positions are still being searched for other pages; reload this one in a minute." in page.text
        assert any(to.endswith("/games") for to in page.links)
    found = pages.look(why)
    with pages.shown._alone:  # what was found is kept
        assert pages.look(why).text == found.text


def test_pages_that_wait_for_the_same_positions_share_a_search(url: str) -> None:
    shown = ShownStore(url)
    run, times = next(iter(shown.runs().values())), []
    with ThreadPoolExecutor(2) as pool:
        with shown._alone:
            both = [pool.submit(shown.read_alone, [run], "why", lambda: times.append(1) or "found") for _ in "12"]
        assert [one.result() for one in both] == ["found", "found"]
    assert len(times) == 1


def test_agents_that_take_long_are_not_asked_by_a_page(url: str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(differences, "SECONDS", 1e-6)
    page = Pages(url).look(why)
    assert "for a position, too long for a page: ask them about one with `turnier analyse`" in page.text
    assert not boards(page.html)


def test_programs_are_not_asked_by_a_page(url: str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(differences, "is_harmless", lambda agent: "random" not in agent)
    page = Pages(url).look(why)
    assert f"{WEAK}: people, programs and code of others are not asked again by a page." in page.text


def test_agents_that_have_not_met_have_no_positions(store: Store) -> None:
    run = run_of(store, "tournament", "yavalath").id
    frame, agents = matches_frame(store, run=run, ids=False), [make_agent(text).full_text() for text in (STRONG, WEAK)]
    met = frame.groupby("match")["agent"].transform(lambda seats: set(agents) <= set(seats)).astype(bool)
    [said] = differences.sections(store, run, frame[~met], agents)
    assert said == Text(f"{STRONG} and {WEAK} have no games to look at.")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({}, "an address of the Why tab must name two agents; begin with /runs/tournament"),
        ({"agent": WEAK}, "an address of the Why tab must name two agents"),
        ({"agent": WEAK, "against": "x"}, "There is no agent named 'x'"),
    ],
)
def test_an_address_without_two_agents_is_a_sentence(
    pages: Pages, store: Store, words: dict[str, str], sentence: str
) -> None:
    page = pages.look(run_address(run_of(store, "tournament", "yavalath").id, "why", **words))
    assert page.trouble.startswith(sentence) and len(page.trouble.splitlines()) == 1


def test_a_figure_of_certainty_leads_to_its_positions(pages: Pages, store: Store) -> None:
    run = run_of(store, "certainty").id
    page = pages.look(run_address(run))
    assert page.html.count('data-cells="of first last legal"') == 4  # over the game, and by agent
    assert "Where mc(iterations=40) is least certain" in page.text and boards(page.html)
    figure = page.figures["mc(iterations=40): normalised"]
    cells = [row for data in figure["datasets"].values() for row in data]
    cell = next(row for row in cells if int(row["cell"].rpartition("n ")[2]) > 1)
    words = {name: str(cell[name]) for name in ("of", "first", "last", "legal")}
    panel = pages.look(run_address(run, **words)).html.partition('<aside class="panel"')[2].partition("</aside>")[0]
    assert f"{cell['of']}, empty cells {cell['first']}, {cell['legal']} legal actions: " in panel
    shown = boards(panel)
    assert len(shown) == int(cell["cell"].rpartition("n ")[2])
    for to, svg in shown.items():
        assert svg == drawn(store, to), to
    assert re.search(r"<p>(up|down|left|right): \d of 4 searches</p>", panel)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [({"of": "x", "first": "0", "last": "0"}, "no agent named 'x'"), ({"first": "x", "last": "0"}, "no phase named")],
)
def test_a_cell_that_there_is_not_is_a_sentence(
    pages: Pages, store: Store, words: dict[str, str], sentence: str
) -> None:
    page = pages.look(run_address(run_of(store, "certainty").id, **(CLICK | words)))
    assert sentence in page.trouble


def test_a_league_has_people_and_versions_over_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ann, greedy = (make_agent(text).full_text() for text in ("human(name=ann)", "greedy"))
    with Store.open(url_of(tmp_path / "league.db")) as store:
        for text in (FIRST, LAST):
            (tmp_path / "bot.py").write_text(BOT)
            (tmp_path / "helper.py").write_text(text)
            monkeypatch.setattr(classes, "_classes", {})  # as in a new process
            Tournament("tictactoe", ["bot.py:Bot", "greedy"], games=4).run(store, where=SERIAL, progress=False)
        for seed, seats in enumerate([(ann, greedy), (greedy, ann), (ann, greedy)]):
            stood_in = play_match(MatchSpec("tictactoe", (greedy, greedy), seed))
            store_game(store, replace(stood_in, spec=replace(stood_in.spec, agents=seats)))
        page = Pages(store.url).look("/league/tictactoe")
    people = page.tables["People"].iloc[0]
    assert (people["person"], people["against"], people["games"]) == ("human(name=ann)", "greedy", "3")
    assert people["replay"].startswith("/runs/play:") and " ± " in people["Elo"]
    versions = page.tables["Versions, the oldest first"]
    listed = page.table("tictactoe").set_index("agent")
    assert len(set(versions["agent"])) == 2 and list(versions["first played"]) == sorted(versions["first played"])
    assert list(versions["Elo"]) == [listed.loc[agent, "Elo"] for agent in versions["agent"]]
    assert len(page.figures["Versions over time"]["layer"]) == 3
    families = set(page.tables["The best of every family"]["family"])
    assert families == {"Bot", "greedy"}  # neither versions, nor people, who take their time
    assert "Strength against time" in page.figures
