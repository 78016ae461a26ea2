"""Sections as blocks of a page: tabs, choices kept in the address, figures, tables, and files of them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

import pandas as pd
from starlette.datastructures import QueryParams

from turnier.core.errors import unknown
from turnier.dashboards import markup
from turnier.dashboards.figures.figure import Figure, Palette, image, table_csv
from turnier.dashboards.links import SIDES, address
from turnier.dashboards.pages.forms import checks, form, one_of, select
from turnier.dashboards.pages.page import Block, copied, panel
from turnier.dashboards.pages.tables import table_html
from turnier.dashboards.sections import (
    Among,
    Behind,
    Board,
    Choice,
    Copy,
    Diagrams,
    Drawing,
    Facts,
    Meetings,
    Section,
    Tab,
    Text,
)
from turnier.dashboards.tables import Table, file_name

NAMES = "agent", "label", "name"  # columns of agents in the data of figures
GAMES = "replay"  # the column of addresses of games
RESULT = "Result"  # the first tab
FILES = {"svg": "image/svg+xml", "png": "image/png", "csv": "text/csv; charset=utf-8"}


@dataclass
class Control:
    """A choice with what is chosen of it, and what is shown for it if it stands beside figures."""

    choice: Choice | Among
    chosen: Sequence[str]
    kept: Sequence[tuple[str, str]]  # earlier choices of the address
    inner: list[Section | Control] = field(default_factory=list)


@dataclass(frozen=True)
class View:
    """Sections of a run as an address shows them.

    Args:
        path: of the page.
        query: its choices.
        tab: the tab to show.
        games: the address of its games, if it has any.
        agents: their agents' names.
        candidates: what an address has before the number of a candidate, if there are some.
        palette: the colours of the page's charts.
    """

    path: str
    query: QueryParams
    tab: str = RESULT
    games: str = ""
    agents: Collection[str] = ()
    candidates: str = ""
    palette: Palette = field(default_factory=Palette)

    def chosen(self, some: Iterable[Section]) -> dict[str, list[Section | Control]]:
        """Returns the sections of each tab that has some, with the choices made.

        Raises UserError if the address names an option that there is not.
        """
        tabs: dict[str, list[Section | Control]] = {}
        for tab, section in self._walk(some, [RESULT], ()):
            tabs.setdefault(tab, []).append(section)
        return tabs

    def _walk(
        self, some: Iterable[Section], place: list[str], kept: tuple[tuple[str, str], ...]
    ) -> Iterator[tuple[str, Section | Control]]:
        for section in some:
            if isinstance(section, Tab):
                place[0] = section.title
            elif isinstance(section, Choice | Among):
                chosen = self._options(section)
                control = Control(section, chosen, kept)
                made: Iterable[Section] = ()
                if chosen:
                    made = section.make(chosen[0]) if isinstance(section, Choice) else section.make(chosen)
                here = [(section.key, one) for one in self.query.getlist(section.key)]
                inner = list(self._walk(made, place, (*kept, *here)))
                if isinstance(section, Choice) and section.beside:
                    control.inner = [one for _, one in inner]
                    yield place[0], control
                    continue
                shown = set[str]()
                if len(section.options) > 1 or (isinstance(section, Among) and section.optional):
                    shown = {tab for tab, _ in inner} or {place[0]}
                for tab in [] if inner else shown:
                    yield tab, control
                for tab, one in inner:
                    if tab in shown:
                        shown.discard(tab)
                        yield tab, control
                    yield tab, one
            else:
                yield place[0], section

    def _options(self, section: Choice | Among) -> list[str]:
        asked = self.query.getlist(section.key)
        for one in asked:
            if one not in section.options:
                raise unknown(section.label.lower(), one, section.options)
        if isinstance(section, Choice):
            return asked[:1] or list(section.options[:1])
        return asked or ([] if section.optional else list(section.options))

    def blocks(self, some: Iterable[Section | Control]) -> Iterator[Block]:
        """Yields sections as blocks; those of boards, which take time, are for reports only."""
        for section in some:
            if isinstance(section, Drawing):
                if (figure := section.drawn) is not None:
                    yield Block(f"figure {figure.title}", self._figure(figure, section.cells), half=not section.wide)
            elif isinstance(section, Control):
                yield from self._control(section)
            elif isinstance(section, Table):
                if len(section.frame):
                    yield Block(f"table {section.title}", table_html(section, self.file(section.title, "csv")))
            elif isinstance(section, Diagrams):
                if html := markup.diagrams(section):
                    yield Block(f"boards {section.title}", html, half=True)
            elif isinstance(section, Behind):
                if all(self.query.get(key) for key in section.keys):
                    made = section.make(*(self.query[key] for key in section.keys))
                    html = "".join(block.html for block in self.blocks(made))
                    yield panel(section.title, html, self.without(*section.keys))
            elif isinstance(section, Meetings):
                yield Block("meetings", self._meetings(section))
            elif not isinstance(section, Board):
                yield Block(type(section).__name__, _written(section))

    def file(self, title: str, ending: str, dropped: Sequence[str] = SIDES) -> str:
        """Returns the address of a file of a figure or table on this page; some choices do not matter to it."""
        return self.without(*dropped, path=f"{self.path}/files/{file_name(title)}.{ending}")

    def content(self, some: Iterable[Section | Control], name: str) -> tuple[bytes, str]:
        """Returns the file of a figure or table with its media type; raises UserError if there is none."""
        wanted, _, ending = name.rpartition(".")
        known, palette = [], Palette()
        for section in _all(some):
            shown = section.drawn if isinstance(section, Drawing) else section if isinstance(section, Table) else None
            if shown is None:
                continue
            endings = ("csv",) if isinstance(shown, Table) else tuple(FILES)
            if isinstance(shown, Figure):
                palette.applied(shown.spec)  # as on the page, where those before it have taken their colours
            if file_name(shown.title) == wanted and ending in endings:
                if isinstance(shown, Table):
                    return table_csv(shown.numbers()), FILES[ending]
                return table_csv(shown.data) if ending == "csv" else image(shown, ending, palette=palette), FILES[
                    ending
                ]
            known += [f"{file_name(shown.title)}.{one}" for one in endings]
        raise unknown("file", name, known)

    def _figure(self, figure: Figure, cells: Sequence[str]) -> str:
        note, clicks = figure.note, ""
        if cells:
            note, clicks = f"{note} A click shows what is behind it.", f' data-cells="{" ".join(cells)}"'
        elif found := self._games_of(figure.data):
            field, to = found
            note, clicks = f"{note} A click shows games.", f' data-cells="{field}" data-to="{escape(to)}"'
        spec = json.dumps(self.palette.applied(figure.spec), separators=(",", ":")).replace("<", "\\u003c")
        saved = " ".join(
            f'<a href="{escape(self.file(figure.title, kind))}" download>{kind.upper()}</a>' for kind in FILES
        )
        finding = f'<p class="finding">{markup.prose(figure.finding)}</p>' * bool(figure.finding)
        return (
            f'<figure class="chart"{clicks}><h2>{escape(figure.title)}</h2>{finding}'
            f'<div class="plot" role="img" aria-label="{escape(figure.spoken)}"></div>'
            f'<script type="application/json">{spec}</script>'
            f'<figcaption class="note">{markup.prose(note)} <span class="save">{saved}</span></figcaption></figure>'
        )

    def _games_of(self, data: pd.DataFrame) -> tuple[str, str] | None:
        """Returns the column that leads to games, and what an address has before its values; None without."""
        if GAMES in data:
            return GAMES, ""
        if self.candidates and {"number", "candidate"} & {*data}:
            return "number", self.candidates
        for name in NAMES if self.games else ():
            if name in data and set(data[name].astype(str)) <= set(self.agents):
                return name, f"{self.games}?{SIDES[0]}="
        return None

    def _control(self, control: Control) -> Iterator[Block]:
        choice = control.choice
        if not (isinstance(choice, Choice) and choice.beside):
            yield Block(f"choice {choice.key}", self._form(control))
            return
        above = self._form(control) if len(choice.options) > 1 else ""
        for block in self.blocks(control.inner):
            if block.half:
                yield Block(block.key, above + block.html, half=True)
                above = ""
            else:  # a choice within the choice
                above += block.html

    def _form(self, control: Control) -> str:
        choice = control.choice
        if isinstance(choice, Among):
            asked = self.query.getlist(choice.key)
            none = "none" if choice.optional else "all"
            return form(self.path, checks(choice.key, choice.options, asked, none, choice.label), kept=control.kept)
        names = choice.names or {}
        options = {one: names.get(one, one) for one in choice.options}
        return form(self.path, select(choice.key, options, control.chosen[0], label=choice.label), kept=control.kept)

    def _meetings(self, met: Meetings) -> str:
        """Returns a form that chooses two agents; a cell of the table above chooses them, too."""
        sides = [
            select(side, met.agents.keys(), one_of(self.query, side, met.agents), "an agent", label)
            for side, label in zip(SIDES, ("Games of", "against"), strict=True)
        ]
        return form(self.path, *sides)

    def met(self, some: Iterable[Section | Control]) -> tuple[Meetings, list[str]] | None:
        """Returns the two agents whose games the address asks for, with the section that lets choose them."""
        names = [self.query.get(side, "") for side in SIDES]
        if not all(names) or names[0] == names[1]:
            return None
        return next(((one, names) for one in _all(some) if isinstance(one, Meetings)), None)

    def without(self, *keys: str, path: str = "") -> str:
        """Returns the address of the page, or a path below it, without some of its choices."""
        kept: dict[str, list[str]] = {}
        for key, value in self.query.multi_items():
            if key not in keys:
                kept.setdefault(key, []).append(value)
        return address(path or self.path, **kept)


def _all(some: Iterable[Section | Control]) -> Iterator[Section]:
    for section in some:
        if isinstance(section, Control):
            yield from _all(section.inner)
        else:
            yield section


def _written(section: Section) -> str:
    """Returns a sentence, a title, a text to copy or facts."""
    if isinstance(section, Copy):
        return f"<p>{escape(section.meaning)}</p>" * bool(section.meaning) + copied(section.text)
    if isinstance(section, Text) and section.warning:
        return f'<p class="trouble">{escape(section.text)}</p>'
    if isinstance(section, Facts) and not section.title:
        return facts_html(section.rows)
    return markup.written(section)


def facts_html(rows: Mapping[str, str]) -> str:
    """Returns a few facts side by side."""
    shown = (f"<div><dt>{escape(name)}</dt><dd>{markup.unbroken(text)}</dd></div>" for name, text in rows.items())
    return f'<dl class="few">{"".join(shown)}</dl>'
