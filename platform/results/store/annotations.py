"""Annotations of runs, which may change, unlike definitions: texts under a few names; agents' names are among them."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping

from sqlalchemy import delete, select, union

from ...core.errors import UserError
from ...core.outside import library
from ...core.terminal.given_names import GIVEN
from ..integrity.checksums import checksum
from ..integrity.totals import Total, Totals
from ..outage import outlasting
from ..packed.table import PackedTable
from .database import Database
from .schema import run_annotations, run_matches, run_votes, seats, votes

SETTINGS = "settings"  # JSON: the latest options of the run that its definition leaves open
NOTE = "note"  # a user's text about the run
REASON = "reason"  # why the run stopped, in a sentence; none if it has not, or without a word
ANCHOR = "anchor"  # full text of the agent with Elo 0
ARCHIVE = "archive"  # JSON of the Place of games that the store no longer has
CODE = "code:"  # prefix of a digest: JSON of a Bundle, code of others that played in the run
NAME = "name:"  # prefix of the name that people gave an agent of the run: its full text
LONGEST_NAME = 40  # characters
A_NAME = re.compile(rf"(?=.*\w)[\w .+#&'-]{{1,{LONGEST_NAME}}}")


class Annotations:
    """Reads and writes the texts beside runs; it is `Store.annotations`."""

    def __init__(self, database: Database, totals: Totals, packed: PackedTable) -> None:
        self.database, self.totals, self.packed = database, totals, packed
        self._has_code: set[tuple[str, str]] = set()  # (run, digest)

    @outlasting
    def set(self, run_id: str, name: str, text: str) -> None:
        """Stores a text of a run that has begun, in place of the earlier one; an empty text removes it."""
        table = run_annotations.c
        with self.database.writing() as connection:
            self.totals.lock(connection, run_id, run_annotations)
            connection.execute(delete(run_annotations).where(table.run_id == run_id, table.name == name))
            if text:
                columns = ("run_id", "name", "text")
                self.database.insert_many(connection, run_annotations, columns, [(run_id, name, text)])
            kept = connection.execute(select(table.name, table.text).where(table.run_id == run_id))
            self.totals.replace(connection, run_id, run_annotations, [checksum(*row) for row in kept])

    def of_name(self, name: str) -> dict[str, str]:
        """Returns the texts of that name: run -> text."""
        return {run_id: text for run_id, this, text in self._all() if this == name}

    def beginning(self, prefix: str) -> list[tuple[str, str, str]]:
        """Returns the texts whose names have a prefix: (run, name, text)."""
        return [row for row in self._all() if row[1].startswith(prefix)]

    @outlasting
    def _all(self) -> list[tuple[str, str, str]]:
        """Returns all texts: (run, name, text)."""
        with self.database.reading() as connection:
            rows = connection.execute(select(run_annotations)).all()
            totals = self.totals.of_runs(connection, run_annotations)
        found: dict[str, list[int]] = {run_id: [] for run_id in totals}
        for run_id, *content in rows:
            found.setdefault(run_id, []).append(checksum(*content))
        for run_id, known in totals.items():
            if Total.of(found[run_id]) != known:
                raise self.database.damaged(f"notes and settings of {run_id} are not those that were stored")
        return [(run_id, name, text) for run_id, name, text in rows]

    def refuse_archived(self, run_id: str) -> None:
        """Raises UserError if the games of a run are no longer in the store: they must not be played again."""
        if text := self.get(run_id, ARCHIVE):
            with self.database.decoding(f"where the games of {run_id} are"):
                path = json.loads(text)["path"]
            raise UserError(
                f"{run_id} must have its games in the store to go on, but they are archived; bring them back with"
                f" turnier runs archive --restore {shlex.quote(path)}."
            )

    def keep_code(self, run_id: str, texts: Iterable[str]) -> None:
        """Stores the code of others named in text forms, once per run, so any version can be played again."""
        for bundle in library.bundles_in(texts):
            if (run_id, bundle.digest) not in self._has_code:
                if not self.get(run_id, CODE + bundle.digest):
                    self.set(run_id, CODE + bundle.digest, json.dumps(bundle.to_json()))
                self._has_code.add((run_id, bundle.digest))

    @property
    def names(self) -> Mapping[str, str]:
        """The names that people gave agents, as last read: full text -> name."""
        return GIVEN.get(self, {})

    @outlasting
    def read_names(self) -> None:
        """Reads the names of agents, by which this process then shows them until the store is closed."""
        name, text = run_annotations.c.name, run_annotations.c.text
        query = select(name, text).where(name.startswith(NAME)).distinct().order_by(name, text)
        with self.database.reading() as connection:
            rows = connection.execute(query).all()
        names: dict[str, str] = {}
        for key, agent in rows:  # runs from other stores may bring a name that another agent has: it keeps its text
            if A_NAME.fullmatch(one := key.removeprefix(NAME)) and one not in names.values():
                names.setdefault(agent, one)
        if names:
            GIVEN[self] = names
        else:
            self.forget_names()

    def forget_names(self) -> None:
        """Shows agents without the names of this store from now on."""
        GIVEN.pop(self, None)

    def name_agent(self, agent: str, name: str) -> int:
        """Gives an agent a name in place of an earlier one, in all runs that have it; an empty one takes it away.

        Returns the number of runs.
        """
        earlier = [(run_id, key) for run_id, key, text in self.beginning(NAME) if text == agent]
        for run_id, key in earlier:
            if key != NAME + name:
                self.set(run_id, key, "")
        found = {*self._runs_with(agent), *(run_id for run_id, _ in earlier)}
        for run_id in sorted(found) if name else ():
            self.set(run_id, NAME + name, agent)
        self.read_names()
        return len(found)

    def keep_names(self, run_id: str, definition: str) -> None:
        """Stores the names of the agents in a run's definition, so that they go where the run goes."""
        for agent, name in self.names.items():
            if json.dumps(agent)[1:-1] in definition and self.get(run_id, NAME + name) != agent:
                self.set(run_id, NAME + name, agent)

    def agents(self) -> list[str]:
        """Returns the full texts of the agents that have played or searched in the store, sorted."""
        with self.database.reading() as connection:
            found = set(connection.scalars(union(select(seats.c.agent), select(votes.c.agent))))
            return sorted(found.union(*self.packed.agents(connection).values()))

    def _runs_with(self, agent: str) -> list[str]:
        """Returns the runs in which an agent has played or searched, sorted."""
        playing = select(run_matches.c.run_id).join(seats, seats.c.match_number == run_matches.c.match_number)
        searching = select(run_votes.c.run_id).join(votes, votes.c.number == run_votes.c.vote_number)
        query = union(playing.where(seats.c.agent == agent), searching.where(votes.c.agent == agent))
        with self.database.reading() as connection:
            packed = self.packed.agents(connection).items()
            return sorted({*connection.scalars(query), *(run_id for run_id, agents in packed if agent in agents)})

    def get(self, run_id: str, name: str) -> str:
        """Returns a run's text of that name; empty if there is none."""
        return self.of_name(name).get(run_id, "")
