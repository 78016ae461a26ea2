"""Reads a page of the dashboards as people do: its text, tables, figures, choices and links."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

import pandas as pd

LINES = {"p", "div", "tr", "li", "h1", "h2", "h3", "pre", "dd", "figure", "figcaption", "section", "form"}
EMPTY = {"meta", "link", "input", "img", "wbr", "br"}
UNREAD = {"script", "title", "option"}  # is not part of the text


class Seen(HTMLParser):
    """What is on a page.

    Attributes:
        title: of the browser's tab.
        text: in lines, without what can be chosen.
        tables: by their titles; where a column has only links, their addresses under the text of the first one.
        facts: name -> text, of all tables of facts.
        figures: specifications by title.
        choices: name -> values that can be chosen.
        links: addresses that it leads to.
        fetched: addresses that a browser asks for by itself.
        copied: texts to copy.
    """

    def __init__(self, html: str) -> None:
        super().__init__()
        self.html, self.title, self.text = html, "", ""
        self.tables: dict[str, pd.DataFrame] = {}
        self.facts: dict[str, str] = {}
        self.figures: dict[str, Any] = {}
        self.choices: dict[str, list[str]] = {}
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.copied: list[str] = []
        self._path: list[tuple[str, dict[str, str]]] = []
        self._parts: list[str] = []
        self._heading = self._script = self._select = ""
        self._rows: list[list[list[str]]] = []  # of a table: text and address of each cell
        self.feed(html)
        self.close()
        self.text = re.sub(r"\s*\n\s*", "\n", "".join(self._parts)).strip()

    @property
    def trouble(self) -> str:
        """The sentence in place of a page that cannot be shown; empty if it is shown."""
        return self.text.partition("\nNot shown\n")[2]

    @property
    def tabs(self) -> list[str]:
        """The tabs of a run."""
        return re.findall(r">([^<]+)</a>", self.html.partition('"tabs of the run">')[2].partition("</nav>")[0])

    def table(self, title: str) -> pd.DataFrame:
        """Returns the table whose title begins like this."""
        return next(table for name, table in self.tables.items() if name.startswith(title))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        words = {name: value or "" for name, value in attrs}
        if tag not in EMPTY:
            self._path.append((tag, words))
        if tag in LINES:
            self._parts.append("\n")
        if tag == "tr":
            self._rows.append([])
        elif tag in ("td", "th"):
            self._rows[-1].append(["", ""])
        elif tag == "a":
            self.links.append(words["href"])
            if self._in_cell:
                self._rows[-1][-1][1] = words["href"]
        elif tag in ("h1", "h2", "h3"):
            self._heading = ""
        elif tag == "pre":
            self.copied.append("")
        elif tag == "select":
            self._select = words["name"]
            self.choices[self._select] = []
        elif tag == "option":
            self.choices[self._select].append(words["value"])
        elif tag == "input" and words["type"] == "checkbox":
            self.choices.setdefault(words["name"], []).append(words["value"])
        to = words.get("src") or words.get("href", "")
        if tag in ("link", "script", "img") and to and not to.startswith("data:"):
            self.fetched.append(to)

    def handle_endtag(self, tag: str) -> None:
        _, words = self._path[-1]
        while self._path and self._path.pop()[0] != tag:
            pass
        if tag in LINES:
            self._parts.append("\n")
        elif tag in ("td", "th", "dt", "a"):
            self._parts.append(" ")
        elif tag == "script" and self._script:
            self.figures[self._heading] = json.loads(self._script)
            self._script = ""
        elif tag == "table":
            self._keep_table(words.get("class", ""))
            self._rows = []

    def _keep_table(self, kind: str) -> None:
        if kind == "facts":
            self.facts |= {name: text for (name, _), (text, _) in self._rows}
            return
        heads, *rows = self._rows
        names = [head or next((row[i][0] for row in rows if row[i][1]), "") for i, (head, _) in enumerate(heads)]
        cells = [[to if not heads[i][0] else text for i, (text, to) in enumerate(row)] for row in rows]
        self.tables[self._heading] = pd.DataFrame(cells, columns=names)

    @property
    def _in_cell(self) -> bool:
        return any(tag in ("td", "th") for tag, _ in self._path) and bool(self._rows and self._rows[-1])

    def handle_data(self, data: str) -> None:
        data = data.replace("\N{NO-BREAK SPACE}", " ")
        tags = [tag for tag, _ in self._path]
        if tags[-1:] == ["script"] and self._path[-1][1].get("type") == "application/json":
            self._script += data
        elif tags[-1:] == ["title"]:
            self.title += data
        elif tags[-1:] == ["pre"]:
            self.copied[-1] += data
        elif {"h1", "h2", "h3"} & set(tags):
            self._heading += data
        if self._in_cell:
            self._rows[-1][-1][0] += data
        if not UNREAD & set(tags):
            self._parts.append(data)
