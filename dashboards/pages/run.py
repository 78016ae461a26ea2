"""A run is a place: its result, pairs, games, failures, cost and origin are tabs of one page, for every kind."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import cached_property
from html import escape
from typing import Any, TypeVar

from starlette.datastructures import QueryParams

from turnier.agents.registry import short_text
from turnier.core.errors import UserError, unknown
from turnier.core.number_text import number
from turnier.dashboards import markup
from turnier.dashboards.agent_names import short_game
from turnier.dashboards.app.shown_store import ShownStore
from turnier.dashboards.every_run import cost, differences, games, origin
from turnier.dashboards.links import BEHIND, HOME, SIDES, match_address, play_address, run_address
from turnier.dashboards.pages.drawn import RESULT, Control, View
from turnier.dashboards.pages.game_list import GameList, asked_agents, pair_panel, why_link
from turnier.dashboards.pages.page import Block, Page, copied
from turnier.dashboards.pages.tables import table_html
from turnier.dashboards.run_heading import kind_name, named_agents, titled
from turnier.dashboards.sections import Section, Text, failed_table, kind_of, kinds_with
from turnier.dashboards.tables import Column
from turnier.results.store.progress import FINISHED, LIVE
from turnier.results.store.store import Run
from turnier.search.storage import trials
from turnier.search.storage.studies import stored_verdict

SEARCH, GAMES, FAILURES, COST, ORIGIN, WHY = "Search", "Games", "Failures", "Cost", "Origin", "Why"
CANDIDATES = "candidate"  # the part of an address before a candidate's number
ORDER = (RESULT, "Pairs", SEARCH, WHY, GAMES, FAILURES, COST, ORIGIN)
T = TypeVar("T")
CURRENT = ' aria-current="page"'


class RunPage:
    """A run as an address shows it; raises UserError if the address names a tab or an option that there is not."""

    def __init__(self, shown: ShownStore, run: Run, tab: str, query: QueryParams) -> None:
        self.shown, self.run, self.query, self.asked = shown, run, query, tab.lower()
        self.tab = next((name for name in self.tabs if name.lower() == (tab or RESULT).lower()), "")
        if not self.tab:
            raise unknown("tab", tab, [name.lower() for name in self.tabs])
        own = GAMES in self.tabs and run.kind not in kinds_with("SEARCHES")  # whose positions come from others' games
        to_games = self._address(GAMES) if own else ""
        searched = own and run.kind in kinds_with("OPTUNA")
        candidates = f"{run_address(run.id, CANDIDATES)}/" if searched else ""
        self.view = View(self._address(self.tab), query, self.tab, to_games, shown.head(run)[0].agents, candidates)

    def _address(self, tab: str) -> str:
        return run_address(self.run.id, "" if tab == RESULT else tab.lower())

    @cached_property
    def described(self) -> dict[str, list[Section | Control]]:
        """The sections of the run's kind, by tab."""
        kind = kind_of(self.run.kind)
        view = View(run_address(self.run.id), self.query)

        def describe() -> dict[str, list[Section | Control]]:
            return view.chosen(kind.sections(self.shown.read(self.run, kind.read)))

        # Clicks only open panels: nothing is drawn again.
        choices = [one for one in self.query.multi_items() if one[0] not in (*SIDES, *BEHIND)]
        return self.shown.read_all([self.run], f"sections {choices}", describe)

    @cached_property
    def searches(self) -> str:
        """The tab of searched positions, named like the kind of runs that only searches."""
        return kinds_with("SEARCHES")[0].capitalize()

    @cached_property
    def tabs(self) -> list[str]:
        """The tabs that have something to show."""
        described = {*self.described}  # first: the run's head takes from what its sections have read
        has_games = bool(self.shown.matches().get(self.run.id))
        there = {
            RESULT: True,
            self.searches: not (set(kinds_with("SEARCHES")) | set(kinds_with("ONCE"))) & {self.run.kind}
            and self.run.id in self.shown.searched(),
            WHY: has_games and self.asked == WHY.lower(),  # of two agents that the address names
            GAMES: has_games,
            FAILURES: has_games and bool(self.shown.head(self.run)[1]),
            ORIGIN: True,
        }
        found = (described - {COST}) | {name for name, shows in there.items() if shows}
        found |= {COST} if has_games else set()
        before_games = ORDER.index(GAMES)
        order = (*ORDER[:before_games], *sorted(found.difference(ORDER)), *ORDER[before_games:])
        return [name for name in order if name in found]

    def page(self) -> Page:
        blocks = list(self._blocks())
        live = f"/api/live?run={self.run.id}" if self.shown.is_live(self.run) else ""
        tabs = "".join(
            f'<a href="{escape(self._address(name) + f"?{self.query}" * (name == WHY))}"'
            f"{CURRENT if name == self.tab else ''}>{escape(name)}</a>"
            for name in self.tabs
        )
        kind = (kind_name(self.run.kind).capitalize(), f"{HOME}?kind={self.run.kind}")
        head = f'<nav class="tabs" aria-label="tabs of the run">{tabs}</nav>'
        return Page(titled(self.run), blocks, head, live, (("Runs", HOME), kind))

    def file(self, name: str) -> tuple[bytes, str]:
        """Returns the file of a figure or table of the tab, with its media type."""
        return self.view.content(self._sections(), name)

    def _sections(self) -> list[Section | Control]:
        some: dict[str, Callable[[], Sequence[Section | Control]]] = {
            FAILURES: lambda: [failed_table(self.shown.failures(self.run))],
            COST: lambda: [*self._kept("cost", self._cost), *self.described.get(COST, [])],
            ORIGIN: lambda: list(origin.sections(self.shown.store, self.run, self._progress, self.shown.option)),
            self.searches: self._certainty,
            WHY: self._differences,
            GAMES: lambda: [GameList(self.shown, self.run, self.query).table()],
        }
        return list(some[self.tab]()) if self.tab in some else self.described.get(self.tab, [])

    def _kept(self, name: str, read: Callable[[], Iterator[T]]) -> list[T]:
        """Returns what takes long for many games; it is read again after changes of the run or of the address."""
        return self.shown.read_all([self.run], f"{name} {self.query}", lambda: list(read()))

    def _blocks(self) -> Iterator[Block]:
        yield from self._state()
        if self.tab == RESULT:
            yield from self._head()
        if self.tab in (GAMES, COST) and (said := self._adds_up()):
            yield Block("adds up", f"<p>{markup.prose(said)}</p>")
        if self.tab == GAMES:
            yield from self._kept("games", lambda: GameList(self.shown, self.run, self.query).blocks(self.view))
            return
        if self.tab == FAILURES:
            yield from self._failed()
            return
        yield from self._drawn() if self.tab in (ORIGIN, WHY) else self._kept(f"{self.tab} drawn", self._drawn)
        if self.tab == ORIGIN:
            yield Block(
                "file",
                f'<p><a href="{escape(run_address(self.run.id))}/report.html" download>This run as one'
                " HTML file</a>, for a thesis or an e-mail.</p>",
            )

    def _drawn(self) -> Iterator[Block]:
        some = self._sections()
        yield from self.view.blocks(some)
        if met := self.view.met(some):
            yield pair_panel(self.shown, self.run, self.view, *met)

    @property
    def _progress(self) -> Any:
        return self.shown.progress().get(self.run.id)

    def _state(self) -> Iterator[Block]:
        """Yields the progress of a run that has not ended, and its agents without games."""
        one, parts = self._progress, []
        head, _ = self.shown.head(self.run)
        if one and one.state != FINISHED and one.done is not None and one.planned is not None:
            done = f"{one.done:,} of {one.planned:,} {one.unit}"
            if one.state in LIVE:
                left = (
                    ""
                    if one.seconds_left is None or head.unplayed
                    else (f", about {timedelta(seconds=round(one.seconds_left))} left")
                )
                rate = "" if one.rate is None else f", {number(one.rate)} per second"
                share = min(1.0, one.done / max(1, one.planned))
                parts.append(
                    f'<progress value="{share:.3f}" aria-label="progress"></progress> '
                    f"Running: {escape(done + rate + left)}."
                )
            else:
                to = f'<a href="{escape(self._address(ORIGIN))}">Origin has the command to resume it</a>'
                parts.append(f"{escape(one.stopped or f'Not finished: {done}.')} {to}.")
        if head.unplayed:
            parts.append(f"No games yet: {escape(named_agents(head.unplayed))}.")
        if parts:
            yield Block("state", f'<p class="state" role="status">{" ".join(parts)}</p>')

    def _head(self) -> Iterator[Block]:
        head, failed = self.shown.head(self.run)
        parts = [markup.banner(head)]
        if failed:
            parts.append(f"<p>{markup.failed(failed, run_address(self.run.id, 'failures'))}</p>")
        if len(head.agents) == 2 and self.shown.matches().get(self.run.id) and self.run.kind in kinds_with("COMPARES"):
            parts.append(why_link(self.run, head.agents))
        is_study = getattr(kind_of(self.run.kind), "OPTUNA", False)
        if is_study and (said := self.shown.read_all([self.run], "price", self._price)):
            parts.append(f"<p>{markup.unbroken(said)}</p>")
        if is_study and self.run.name in trials.study_names(self.shown.store):
            numbers = trials.optuna_numbers(self.shown.store, self.run.name)
            names = ("this study in optuna-dashboard", "its finalists in held-out games")
            links = zip(numbers, names, strict=False)
            shown = [f'<a href="/dashboard/studies/{number}">{name}</a>' for number, name in links]
            shown.insert(0, f'<a href="{escape(self._address(SEARCH))}">Which parameters matter</a>')
            parts.append(f"<p>{', '.join(shown)}</p>")
        parts.append(self._winner())
        if any(parts):
            yield Block("head", "".join(parts))

    def _adds_up(self) -> str:
        """Returns how the games of the run add up, if its kind says so."""
        kind = kind_of(self.run.kind)
        return kind.adds_up(self.shown.read(self.run, kind.read)) if hasattr(kind, "adds_up") else ""

    def _winner(self) -> str:
        """Returns the command that plays with the leader of a rating list, and where the board does; else nothing."""
        kind = kind_of(self.run.kind)
        ratings = kind.ratings(self.shown.read(self.run, kind.read)) if hasattr(kind, "ratings") else None
        if ratings is None or ratings.empty:
            return ""
        game, leader = short_game(str(ratings.iloc[0]["game"])), short_text(str(ratings.iloc[0]["agent"]))
        others = int(self.shown.frame(self.run)["seats"].max()) - 1
        if not others:
            return f"<p>To watch the leader play:</p>{copied(shlex.join(['turnier', 'play', game, leader]))}"
        board = f'<a href="{escape(play_address(game, leader))}">on the board</a>'
        command = shlex.join(["turnier", "play", game, "human", *[leader] * others])
        return f"<p>To play against the leader {board}, or in the terminal:</p>{copied(command)}"

    def _price(self) -> str:
        """Returns a sentence on the time that a study's recommendation takes beside the agent it is better than."""
        if (verdict := stored_verdict(self.shown.store, self.run.name)) is None:
            return ""
        other = next((one.agent for one in verdict.figures if one.label == verdict.reference), verdict.agent)
        with contextlib.suppress(UserError):  # agents that this version does not know
            return cost.compared(self.shown.frame(self.run), verdict.agent, other, verdict.reference)
        return ""

    def _failed(self) -> Iterator[Block]:
        found = self.shown.failures(self.run)
        table = failed_table(found)
        examples = table.frame.assign(example=[match_address(self.run.id, match) for match in found.table["match"]])
        table = replace(table, frame=examples, columns=[*table.columns, Column("example", link=True)])
        html = table_html(table, self.view.file(table.title, "csv"))
        every = escape(run_address(self.run.id, "games", result="failed"))
        yield Block(
            "failed",
            f'<p>{markup.failed(found.text)}</p>{html}<p><a href="{every}">All games that failed</a></p>',
        )

    def _cost(self) -> Iterator[Section]:
        ratings = None
        kind = kind_of(self.run.kind)
        if hasattr(kind, "ratings"):
            ratings = kind.ratings(self.shown.read(self.run, kind.read))
        yield from cost.sections(self.shown.frame(self.run), ratings, self.run.id)

    def _differences(self) -> list[Section]:
        frame = self.shown.frame(self.run)
        agents = asked_agents(self.query, games.agents_of(frame))
        if len(agents) < 2:
            raise UserError(f"an address of the {WHY} tab must name two agents; begin with {self._address(RESULT)}.")

        def read() -> list[Section]:
            return list(differences.sections(self.shown.store, self.run.id, frame, agents))

        try:
            return self.shown.read_alone([self.run], f"why {agents}", read)
        except UserError as error:  # the page keeps its tabs
            return [Text(str(error), warning=True)]

    def _certainty(self) -> list[Section | Control]:
        kind = kind_of(self.searches.lower())
        return self.view.chosen(kind.sections(self.shown.read(self.run, kind.read)))[RESULT]
