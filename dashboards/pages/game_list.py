"""The games of a run: a list with filters, small boards above it, and the games of two agents in a panel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

import pandas as pd
from starlette.datastructures import QueryParams

from turnier.core.number_text import counted
from turnier.dashboards.agent_names import short_game
from turnier.dashboards.app.shown_store import ShownStore
from turnier.dashboards.every_run import games
from turnier.dashboards.links import SIDES, run_address
from turnier.dashboards.markup import unbroken
from turnier.dashboards.pages.drawn import View
from turnier.dashboards.pages.forms import form, number_of, one_of, select
from turnier.dashboards.pages.page import Block, panel
from turnier.dashboards.pages.tables import table_html
from turnier.dashboards.sections import Meetings
from turnier.dashboards.tables import Table
from turnier.results.store.store import Run

SHOWN, MOST = 60, 600  # games listed at first, and at most
BOARDS = 12  # small boards above the list
OF_PAIR, BOARDS_OF_PAIR = 24, 6  # games and small boards in the panel


class GameList:
    """The games that an address asks for; raises UserError if it names an agent, result or order that there is not."""

    def __init__(self, shown: ShownStore, run: Run, query: QueryParams) -> None:
        self.shown, self.run, self.query = shown, run, query
        self.frame = shown.frame(run)
        self.names = games.agents_of(self.frame)
        result, order = one_of(query, "result", games.RESULTS), one_of(query, "order", games.ORDERS, games.ORDERS[0])
        self.games = {str(game): short_game(str(game)) for game in self.frame["game"].unique()}
        game = one_of(query, "game", self.games)
        self.chosen = games.Chosen(asked_agents(query, self.names), result, order, game)
        self.found = games.matching(self.frame, self.chosen)

    def table(self) -> Table:
        """Returns the first of the games."""
        most = number_of(self.query, "most", SHOWN, MOST)
        return games.games_table(self.shown.store, self.run.id, self.frame, self.found.head(most), len(self.found))

    def blocks(self, view: View) -> Iterator[Block]:
        """Yields the filters, the boards and the list."""
        yield Block("filters", self._filters(view.path))
        table = self.table()
        if table.frame.empty:
            yield Block("none", "<p>No game is like that.</p>")
            return
        yield Block("boards", small_boards(table.frame.head(BOARDS)))
        more = ""
        if len(self.found) > len(table.frame) < MOST:
            words = dict(self.query) | {"most": str(min(MOST, 5 * max(SHOWN, len(table.frame))))}
            more = f'<p><a href="{escape(run_address(self.run.id, "games", **words))}" data-stay>More games</a></p>'
        yield Block("games", table_html(table, view.file(table.title, "csv", dropped=())) + more)

    def _filters(self, path: str) -> str:
        alone, chosen = int(self.frame["seats"].max()) == 1, self.chosen
        agents = [*chosen.agents, "", ""]
        sides = [
            select(side, self.names, agents[place], "any", side)
            for place, side in enumerate(SIDES[: 1 if alone else 2])
        ]
        results = games.RESULTS[3:] if alone or not chosen.agents else games.RESULTS
        of_game = [select("game", self.games, chosen.game, "any", "game")] if len(self.games) > 1 else []
        return form(
            path,
            *of_game,
            *sides,
            select("result", results, chosen.result, "any", "result"),
            select("order", games.ORDERS, chosen.order, label="order"),
        )


def asked_agents(query: QueryParams, names: Mapping[str, str]) -> tuple[str, ...]:
    """Returns the full texts of the one or two agents that an address names, see `games.full_texts`."""
    return games.full_texts([query[side] for side in SIDES if query.get(side)], names)


def why_link(run: Run, agents: Sequence[str]) -> str:
    """Returns a link to positions in which two agents, given by name or full text, differ most."""
    to = escape(run_address(run.id, "why", **dict(zip(SIDES, agents, strict=True))))
    return f'<p><a href="{to}">Why? Positions where they differ most</a></p>'


def pair_panel(shown: ShownStore, run: Run, view: View, met: Meetings, names: list[str]) -> Block:
    """Returns the games of two agents in a panel over the page, where the click was."""
    frame, texts = shown.frame(run), [met.agents[name] for name in names]
    said = met.said(*names)
    parts = [f"<p><b>{unbroken(said)}</b></p>" * bool(said), why_link(run, texts)]
    for some in [[text] for text in texts] if met.alone else [texts]:
        found = games.matching(frame, games.Chosen(tuple(some)))
        table = games.games_table(shown.store, run.id, frame, found.head(OF_PAIR), len(found), short=True)
        every = escape(run_address(run.id, "games", **dict(zip(SIDES, some, strict=False))))
        parts.append(
            f"{small_boards(table.frame.head(BOARDS_OF_PAIR))}{table_html(table, level=3)}"
            f'<p><a href="{every}">{"All " * (len(found) > 1)}{counted(len(found), "game")}, with filters</a></p>'
        )
    return panel(f"{names[0]} against {names[1]}", "".join(parts), view.without(*SIDES))


def small_boards(rows: pd.DataFrame) -> str:
    """Returns the last positions of games, rows of `games_table`, as small boards that lead to them."""
    shown = "".join(
        f'<a href="{escape(to)}" title="{escape(text)}"><img loading="lazy" alt="last position of {escape(text)}"'
        f' src="/api/matches/{escape(match)}/board.svg"></a>'
        for to, text, match in rows[["board", "game", "full_id"]].itertuples(index=False)
    )
    return f'<div class="boards">{shown}</div>'
