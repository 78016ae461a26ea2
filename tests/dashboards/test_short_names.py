"""Short names of agents: what tells them from each other, in few digits, in every view and at every width."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from html import escape
from pathlib import Path
from unittest import mock

import pytest

from tests.results.made import DUEL, made
from turnier.agents.registry import label_of
from turnier.core.terminal.console import Console
from turnier.core.terminal.given_names import GIVEN
from turnier.dashboards.agent_names import distinct
from turnier.dashboards.kinds.tournament import list_of, pair_table
from turnier.dashboards.pages.tables import breakable, table_html
from turnier.dashboards.sections import flat
from turnier.dashboards.short_names import kind_of, readable
from turnier.dashboards.summaries.matches import of_game, ranks
from turnier.dashboards.tables import Table
from turnier.dashboards.terminal import print_sections
from turnier.results.frames import Standings, matches_frame
from turnier.results.store.store import Store

FISH = [f'uci(command=/usr/games/stockfish,movetime=50,options="Skill Level={level}")' for level in (3, 10)]
TUNED = [
    f"mctse(iterations=100,evaluator=heuristics2048(empty2={empty},merge=0.8123456789012345))"
    for empty in (0.35123456789012345, 0.41987654321098765)
]


def test_names_say_what_differs_in_few_digits() -> None:
    assert readable([*FISH, "random"]) == ["stockfish Skill 3", "stockfish Skill 10", "random"]
    assert readable([*TUNED, FISH[0]]) == ["mctse empty2 0.351", "mctse empty2 0.42", "stockfish"]
    assert readable(["mcts(iterations=100)", "mcts"]) == ["mcts(iterations=100)", "mcts"], "these can be read"
    elo = FISH[0].replace('="', '="UCI_Elo=1350;')
    assert readable([*FISH, elo]) == ["stockfish Skill 3", "stockfish Skill 10", "stockfish Elo 1350, Skill 3"]


def test_digits_and_parameters_are_added_until_names_are_distinct() -> None:
    close = [f"mcts(exploration={text})" for text in ("1.4142135", "1.4142136")]
    assert readable(close) == ["mcts exploration 1.4142135", "mcts exploration 1.4142136"]
    long = {f"parameter{i}": "0.123456789" for i in range(9)}
    made_of = [long | {"parameter3": "0.2", "parameter5": value, "parameter7": value} for value in ("0.3", "0.4")]
    texts = [f"mctse({','.join(f'{key}={value}' for key, value in one.items())})" for one in (long, *made_of)]
    assert readable(texts) == ["mctse parameter5 0.123", "mctse parameter5 0.3", "mctse parameter5 0.4"]


def test_what_is_no_agent_keeps_its_text() -> None:
    odd = "a label, of forty characters and more (such as this one"
    assert readable([odd, "random"]) == [odd, "random"]
    assert readable(FISH[:1]) == FISH[:1], "it is told from nobody"
    assert (
        kind_of('uci(command="python bots/own.py")') == "python" and kind_of("x/first.py:Bot@4b16(a=1)") == "Bot@4b16"
    )


@pytest.fixture
def duels(tmp_path: Path) -> Iterator[Store]:
    """Two Stockfishes and two tuned agents that have all met."""
    agents = [*FISH, *TUNED]
    with Store.open(f"sqlite:///{tmp_path}/a.db") as own:
        own.begin_run("tournament:1", "tournament", "t", {"agents": agents})
        pairs = [(a, b) for i, a in enumerate(agents) for b in agents[i + 1 :]]
        own.append("tournament:1", [made(seed, (1.0, -1.0), pair, DUEL) for pair in pairs for seed in range(4)])
        yield own


def listed(store: Store) -> Table:
    standings = Standings.of(matches_frame(store, run="tournament:1"), pairs=False)
    return next(section for section in flat(list(list_of(standings, DUEL))) if isinstance(section, Table))


@pytest.mark.parametrize("width", [40, 60, 80])
def test_two_stockfishes_are_told_apart_at_every_width(duels: Store, width: int) -> None:
    paper = io.StringIO()
    with mock.patch.dict(os.environ):
        os.environ.pop("COLUMNS", None)
        print_sections(Console(file=paper, width=width), [listed(duels)])
    lines = paper.getvalue().splitlines()
    rule = next(i for i, line in enumerate(lines) if set(line) == {"─"})
    rows, legend = lines[rule + 1 : rule + 5], " ".join(lines[rule + 5 :])
    for name in ("stockfish Skill 3", "stockfish Skill 10", "mctse empty2 0.351", "mctse empty2 0.42"):
        assert sum(name + " " in row for row in rows) == 1 and f"{name}: " in legend
    assert "Elo" in lines[rule - 1] and max(map(len, lines)) <= width


def test_the_names_of_a_pair_have_the_texts_of_both(duels: Store) -> None:
    page = table_html(pair_table(of_game(ranks(duels, "tournament:1"), DUEL)))
    for name, text in (("stockfish Skill 3", FISH[0]), ("stockfish Skill 10", FISH[1])):
        assert page.count(f'title="{escape(text)}">{name}<') == page.count(f">{name}<") == 3


def test_a_given_name_is_shown_while_its_store_is_open(duels: Store, tmp_path: Path) -> None:
    assert duels.annotations.name_agent(FISH[0], "Fish & Chips") == 1
    assert label_of(FISH[0]) == "Fish & Chips" and distinct(map(label_of, FISH))["Fish & Chips"] == "Fish & Chips"
    page = table_html(listed(duels))
    assert f'title="{escape(FISH[0])}">Fish &amp; Chips <button type="button" data-copy="{escape(FISH[0])}"' in page
    with Store.open(f"sqlite:///{tmp_path}/a.db", read_only=True) as again:
        assert again.annotations.names == {FISH[0]: "Fish & Chips"}
        duels.close()
        assert label_of(FISH[0]) == "Fish & Chips"
    assert label_of(FISH[0]).startswith("uci(") and not any(FISH[0] in names for names in GIVEN.values())


def test_an_agent_is_broken_after_a_bracket_only_before_a_long_parameter() -> None:
    assert breakable("1 mc(iterations=60) : -1 mc(iterations=60)") == "1 mc(iterations=60) : -1 mc(iterations=60)"
    assert breakable("mcts(iterations=50,evaluator=heuristics2048(use_empty=true))") == (
        "mcts(iterations=50,<wbr>evaluator=heuristics2048(<wbr>use_empty=true))"
    )
