"""Kinds x verbs: whatever kind of run is stored, the same words name it, show it, write it, reopen it and delete it."""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import turnier
from tests.cli.running import end_of_command
from tests.cli.running import turnier as command
from tests.dashboards.agreeing import disagreeing_on
from tests.dashboards.drawn_pages import Pages
from tests.dashboards.read_pages import Seen
from tests.playing import spec_of
from turnier.agents.registry import AGENTS
from turnier.arena.play import play_match
from turnier.dashboards import sections
from turnier.dashboards.links import run_address
from turnier.results.packed import layout
from turnier.results.store.store import Store
from turnier.runs.declared.kinds import KINDS, plan_of
from turnier.runs.people.hosted_games import store_game

URL = "sqlite:///kinds.db"
HERE = ("--executor", "serial", "--store", URL)
PLAYED = {  # kind -> the command that plays the smallest run of it
    "tournament": ("tournament", "tictactoe", "random", "mc(iterations=2)", "--games", "4", *HERE),
    "comparison": ("compare", "random", "mc(iterations=20)", "--game", "tictactoe", "--games", "40", *HERE),
    "race": ("compare", "random", "greedy", "--base", "mc(iterations=9)", "--game", "tictactoe", "--games", "9", *HERE),
    "certainty": ("certainty", "tictactoe", "random", "mc(iterations=2)", "--states", "2", "--repeats", "3",
                  "--games", "3", *HERE),
    "judging": ("judge", "tictactoe", "random", "mc(iterations=2)", "--positions", "8", *HERE),
    "replication": ("tournament", "tictactoe", "random", "mc(iterations=2)", "--times", "2", "--games", "2", *HERE),
    "profile": ("profile", "tictactoe", "--agent", "mc", "--per-move", "2rollouts", "--steps", "2", "--games", "6",
                *HERE),
    "study": ("tune", "2048(size=2)", "mc(iterations=1)", "--parameters", "rollout_depth", "--budget", "12", *HERE),
    "balance": ("tune", "connect_four(rows=4,columns=4)", "mc(iterations=2)", "--parameters", "columns=4..5",
                "--balance", "5", "--budget", "8", *HERE),
    "training": ("train", "tictactoe", "ntuple(tuples=2,length=3)", "--games", "20", "--out", "w.npz", "--every", "10",
                 "--evaluate-every", "10", "--evaluation-games", "2", "--against", "mc(iterations=1)", "--store", URL),
    "repeated_training": ("train", "tictactoe", "ntuple(tuples=2,length=3)", "--games", "20", "--out", "v.npz",
                          "--every", "10", "--evaluate-every", "10", "--evaluation-games", "2", "--against",
                          "mc(iterations=1)", "--repeats", "2", "--store", URL),
    "server": ("spe_ed", "serve", "--port", "0", "--agent", "basic", "--agent", "random", "--players", "2", "--width",
               "8", "--height", "8", "--timeout", "1", "--games", "1", "--store", URL),
}  # fmt: skip
OTHERS = ("play", "experiment")  # kinds that people and scripts begin
RESUMED = {kind: declared.command for kind, declared in KINDS.items()}


MEASURED_IN_A_TABLE = ("tournament", "replication", "certainty", "judging", "profile")
NUMBER = r"[+-]?[\d,.]+"
ESTIMATE = re.compile(rf"(({NUMBER}) (?:% )?(?:\(({NUMBER}) to ({NUMBER})\)|± ({NUMBER})))")
BOUNDED = {"%": (0.0, 100.0), "plies": (0.0, math.inf), "score": (0.0, math.inf)}  # end of a heading -> values
ASKED_WHY = "tournament", "comparison", "race", "replication", "server", "experiment"  # two agents met in them
SIGNED = "minus", "difference", "agreement", "from", "to"  # words of headings of what may be below 0


def wrong_in(heading: str, cell: str) -> Iterator[str]:
    """Yields what is wrong with the intervals in a cell of a table."""
    words = re.findall(r"\w+|%", heading)
    least, most = (-math.inf, math.inf) if {*SIGNED} & {*words} else BOUNDED.get(words[-1], (-math.inf, math.inf))
    for _, *parts in ESTIMATE.findall(cell):
        value, low, high, half = (float(part.replace(",", "")) if part else math.nan for part in parts)
        low, high = (low, high) if math.isnan(half) else (value - half, value + half)
        if not low <= value <= high:
            yield "outside of its interval"
        elif low < least or high > most:
            yield "beyond what can be"


def wrong_on(page: Seen) -> list[str]:
    """Returns what is not a number on a page, intervals outside of their values' bounds, and charts without values."""
    found = [f"nan: {line}" for line in page.text.splitlines() if re.search(r"\b(nan|NaN|inf)\b", line)]
    for title, table in page.tables.items():
        cells = [(heading, str(cell)) for heading in table for cell in table[heading]]
        found += [f"{title}, {heading}: {cell} is {why}" for heading, cell in cells for why in wrong_in(heading, cell)]
    for title, figure in page.figures.items():
        rows = [row for rows in figure.get("datasets", {}).values() for row in rows]
        numbers = [value for row in rows for value in row.values() if isinstance(value, float | int)]
        if not numbers:
            found.append(f"{title}: shows nothing")
    return found


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store that has a run of every kind; the tournament has match rows and packed games."""
    folder = tmp_path_factory.mktemp("kinds")
    command(*PLAYED["tournament"][:-5], "2", *HERE, folder=folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "LEAST", 1)
        for words in PLAYED.values():
            command(*words, folder=folder)
    with Store.open(f"sqlite:///{folder}/kinds.db") as store:
        with store.database.reading() as connection:
            packed = store.packed.counts(connection)
        assert {run.partition(":")[0] for run in packed} >= {"tournament", "replication"}
        assert [games for run, games in packed.items() if run.startswith("tournament")] == [2]
        store_game(store, play_match(spec_of("tictactoe", "random", "random", seed=3)))
        store.begin_run("experiment:1", "experiment", "an experiment", {"game": "tictactoe"})
        store.append("experiment:1", [play_match(spec_of("tictactoe", "random", "greedy", seed=4))])
    return folder


@pytest.fixture
def folder(stored: Path, tmp_path: Path) -> Path:
    for file in stored.iterdir():
        if file.is_file():
            shutil.copy(file, tmp_path)
    return tmp_path


def test_every_kind_is_walked() -> None:
    assert {*PLAYED, *OTHERS} >= KINDS.keys() and plan_of("server") is None


def texts_in(value: Any) -> Iterator[str]:
    """Yields the words in a definition, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for each in value.values() if isinstance(value, dict) else value:
            yield from texts_in(each)


def test_definitions_name_agents_so_that_no_default_can_change_them(stored: Path) -> None:
    """Whatever the kind, and however short the text was typed: another default of `mc` would be another agent."""
    with Store.open(f"sqlite:///{stored}/kinds.db", read_only=True) as store:
        texts = {text for run in store.runs() for text in texts_in(run.definition) if re.match(r"mc\b", text)}
        kinds = {run.kind for run in store.runs() if any(text in texts for text in texts_in(run.definition))}
    assert kinds >= {*PLAYED} - {"server"}, "every kind has an agent mc"
    for text in texts:
        assert AGENTS.pinned(text) == text == AGENTS.pinned(text, stored=True)


@pytest.mark.parametrize("kind", [*PLAYED, *OTHERS])
def test_one_word_for_each_thing(kind: str, folder: Path) -> None:
    def said(*words: str) -> str:
        return command(*words, "--store", URL, folder=folder)

    # These show it by no name in a table.
    random = kind not in ("study", "training", "repeated_training", "experiment", "profile", "balance")
    if random:
        assert said("runs", "alias", "Code Monkey", "random").startswith("Code Monkey: random, in ")
    listed: dict[str, dict[str, Any]] = {run["kind"]: run for run in json.loads(said("runs", "--json"))}
    run = listed[kind]["run"]
    assert run in said("runs")
    shown = said("show", run)
    assert run in shown and said("show", run[:-4]) == shown, "the beginning of an id is enough"
    assert shown.count("\n") <= (everything := said("show", run, "--all")).count("\n")
    assert not random or "Code Monkey: random\n" in everything
    json.loads(said("show", run, "--json"))
    report = (folder / said("show", run, "--html").split()[-1]).read_text()
    assert report.lower().startswith("<!doctype html>") and kind in report and (not random or "Code Monkey" in report)
    if kind != "judging":
        assert "turnier show" in said("show", run, "--matches")
        said("show", run, "--out", "games.csv")
        assert len((exported := (folder / "games.csv").read_text()).splitlines()) > 1 and "Monkey" not in exported
    said("runs", "note", run, "seen")
    said("runs", "rename", run, "another", "--yes")
    named = f"{kind}:another" if kind == "study" else "another"
    assert "another" in said("show", named) and "seen" in said("runs")
    (other,) = [each["run"] for each in json.loads(said("runs", "--json")) if each["name"] == "another"]
    with Store.open(f"sqlite:///{folder}/kinds.db", read_only=True) as store:
        results = turnier.RunResults.find(store, other)
        page, table = results._repr_html_(), results.table().reset_index().to_string()
        assert other in repr(results) and page and (not random or ("Code Monkey" in page and "Code Monkey" in table))
    assert f"Deleted {other}" in said("runs", "delete", other, "--yes")
    assert other not in said("runs")


@pytest.mark.parametrize("kind", [*PLAYED, *OTHERS])
def test_every_page_of_every_kind_shows_numbers_that_can_be_and_agree(kind: str, stored: Path) -> None:
    url = f"sqlite:///{stored}/kinds.db"
    with Store.open(url, read_only=True) as store:
        run = next(run for run in store.runs() if run.kind == kind)
        head = sections.head(turnier.RunResults.find(store, run.id))
    pages = Pages(url)
    result = pages.look(run_address(run.id))
    for tab in result.tabs:
        page = pages.look(run_address(run.id, "" if tab == result.tabs[0] else tab.lower()))
        assert wrong_on(page) == [], tab
        assert disagreeing_on(page) == [], tab
    for measured in ESTIMATE.findall(head.sentence) if kind in MEASURED_IN_A_TABLE else ():
        cells = [cell for table in result.tables.values() for cell in table.to_numpy().ravel()]
        assert measured[0].replace(" %", "") in " ".join(cells), "the headline's number is in a table"


def test_what_is_wrong_on_a_page_is_seen() -> None:
    rows = "<tr><th>points, %</th></tr><tr><td>{}</td></tr>"
    figure = '<script type="application/json">{"datasets": {"a": [{"x": null}]}}</script>'
    for cell, about in (("nan", "nan"), ("5 (-3 to 13)", "beyond"), ("99 ± 4", "beyond"), ("5 (6 to 7)", "outside")):
        seen = Seen(f"<html><h2>Points</h2><table class='data'>{rows.format(cell)}</table></html>")
        assert [about in one for one in wrong_on(seen)] == [True], cell
    assert wrong_on(Seen(f"<html><h2>Empty</h2>{figure}</html>")) == ["Empty: shows nothing"]


def test_a_number_that_reads_differently_on_a_page_is_seen() -> None:
    page = "<html><h2>List</h2><p>{}</p><table class='data'><tr><th>a</th></tr><tr><td>{}</td></tr></table></html>"
    for said, cell, about in (
        ("gains +23.4 % (14.1 to 31.6) over it", "+23.4 (14.1 to 31.6)", ""),
        ("gains +23 % (14 to 32) over it", "+23.4 (14.1 to 31.6)", "23 14 32 is 23.4 14.1 31.6"),
        ("gains +23.4 percentage points (90 %: 14.1 to 31.6)", "+0.234 (0.141 to 0.316)", "another unit"),
        ("mean score 45,434 ± 7,161", "45,430 ± 7,200", ""),
        ("mean score 45,434.2 ± 7,161.1", "45,434 ± 7,161", "is 45,434 7,161"),
    ):
        found = disagreeing_on(Seen(page.format(said, cell)))
        assert bool(found) == bool(about) and all(about in one for one in found), (said, found)
    quoted = page.replace("<th>a", "<th>best, %").format("the best of these with {} % probability", "{}")
    assert disagreeing_on(Seen(quoted.format("22", "22.3"))) and not disagreeing_on(Seen(quoted.format("22", "22")))


@pytest.mark.parametrize("kind", [*PLAYED, *OTHERS])
def test_why_one_agent_is_stronger_is_shown_by_positions_or_it_is_said_why_not(kind: str, folder: Path) -> None:
    runs = json.loads(command("runs", "--json", "--store", URL, folder=folder))
    run = next(one["run"] for one in runs if one["kind"] == kind)
    end = end_of_command("show", run, "--why", "--store", URL, folder=folder)
    said = " ".join(end.printed.split())
    if end.code:
        sentence = " ".join(end.errors.split())
        assert end.code == 2 and re.fullmatch(r"Error: [^.]+\.", sentence) and not said, sentence
    elif "Looked at " in said:
        assert re.search(r"Looked at [\d,]+ positions of [\d,]+ of their games: .* differently in [\d,]+", said)
        assert re.search(r"(Why is .+ stronger than .+\?|Where they differ)", said)
    else:
        assert said.count(". ") == 0 and said.endswith("."), said
    assert (end.code == 2) == (kind not in ASKED_WHY)


def test_names_are_listed_changed_and_taken_away(folder: Path) -> None:
    def said(*words: str) -> str:
        return command(*words, "--store", URL, folder=folder)

    assert said("runs", "alias") == "No agent has a name yet; type: turnier runs alias NAME AGENT\n"
    said("runs", "alias", "Code  Monkey", "random")
    said("runs", "alias", "Two", "mc(iterations=2)")
    assert said("runs", "alias") == "Code Monkey: random\nTwo: mc(iterations=2)\n"
    assert said("runs", "alias", "Two") == "Two: mc(iterations=2)\n"
    assert json.loads(said("runs", "alias", "--json"))["Code Monkey"] == "random"
    said("runs", "alias", "Monkey", "Code Monkey")
    assert "Monkey" in said("show", "tournament", "--matches") and "Code" not in said("runs", "alias")
    said("runs", "alias", "Monkey", "")
    assert said("runs", "alias") == "Two: mc(iterations=2)\n"


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("a(b", "random"), "a name must have 1 to 40 letters, digits, spaces and"),
        (("x" * 41, "random"), "a name must have 1 to 40"),
        (("\u202eabc", "random"), "a name must have 1 to 40"),
        (("MCTS", "random"), "a name must not be that of a kind of agents"),
        (("two", "random"), "a name must be of one agent, and 'two' is that of mc(iterations=2)"),
        (("One", "mc(iterations=3)"), "an agent must have played in the store to get a name, but 'mc(iterations=3)'"),
        (("Ore",), "No agent has the name 'Ore'"),
    ],
)
def test_what_is_no_name_is_refused_in_a_sentence(words: tuple[str, ...], error: str, folder: Path) -> None:
    command("runs", "alias", "Two", "mc(iterations=2)", "--store", URL, folder=folder)
    end = end_of_command("runs", "alias", *words, "--store", URL, folder=folder)
    assert end.code == 2 and error in " ".join(end.errors.split())


def test_a_run_gets_a_name_when_it_begins_and_when_it_is_resumed(folder: Path) -> None:
    words = ("--name", "first  try", "--seed", "2")
    assert "first try (tournament:" in command(*PLAYED["tournament"], *words, folder=folder)
    again = command("tournament", "--resume", "first try", "--name", "second", "--store", URL, folder=folder)
    assert "second (tournament:" in again
    names = [each["name"] for each in json.loads(command("runs", "--json", "--store", URL, folder=folder))]
    assert "second" in names and "first try" not in names


@pytest.mark.parametrize("kind", RESUMED)
def test_every_kind_is_resumed_by_its_name(kind: str, folder: Path) -> None:
    listed = json.loads(command("runs", "--json", "--store", URL, folder=folder))
    begun = [each["run"] for each in listed if each["kind"] == kind]  # several trainings are trainings, too
    name = kind if len(begun) == 1 else begun[0][:-4]
    again = command(RESUMED[kind], "--resume", name, "--store", URL, folder=folder)
    assert kind in again and command("show", name, "--store", URL, folder=folder)[:40] in again
    other = next(command for command in RESUMED.values() if command != RESUMED[kind])
    refused = end_of_command(other, "--resume", name, "--store", URL, folder=folder)
    assert refused.code == 2 and f"type turnier {RESUMED[kind]} --resume" in refused.errors


def test_without_a_name_the_newest_run_is_shown_and_named(folder: Path) -> None:
    assert command("show", "--store", URL, folder=folder).startswith("The newest run, experiment:1:")
    assert command("show", "--store", URL, folder=folder).splitlines()[1:] == (
        command("show", "last", "--store", URL, folder=folder).splitlines()
    )
