"""The curves of training in a store: points over the games played, and the agents evaluated during training."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, Table, delete, select

from ..integrity.checksums import checksum
from ..integrity.totals import Total, Totals, content
from ..outage import outlasting
from .database import Database
from .match_blocks import MatchBlocks
from .schema import training_evaluations, training_points


@dataclass(frozen=True)
class CurvePoint:
    """Consecutive games of a training, summarised by the first seat's scores."""

    games: int  # played up to the point's end
    count: int  # number of games of the point
    mean: float
    deviation: float

    @classmethod
    def of_curve(cls, curve: npt.NDArray[np.float64], done: int) -> list[CurvePoint]:
        """Returns the points of a training's curve (rows of end, games, mean, deviation), which has `done` games."""
        return [cls(min(int(end), done), int(count), *rest) for end, count, *rest in curve.tolist() if count]


class Curves:
    """Reads and writes the curves of training; it is `Store.curves`."""

    def __init__(self, database: Database, totals: Totals, blocks: MatchBlocks) -> None:
        self.database, self.totals, self.blocks = database, totals, blocks

    @outlasting
    def replace_points(self, run_id: str, points: Iterable[CurvePoint]) -> None:
        """Stores a run's curve, replacing any earlier one."""
        rows = [(run_id, *astuple(point)) for point in points]
        with self.database.writing() as connection:
            self.totals.lock(connection, run_id, training_points)
            connection.execute(delete(training_points).where(training_points.c.run_id == run_id))
            self.database.insert_many(
                connection, training_points, ("run_id", "games", "count", "mean", "deviation"), rows
            )
            self._count(connection, run_id, training_points)

    @outlasting
    def points(self, run_id: str) -> list[CurvePoint]:
        """Returns a run's curve."""
        return [CurvePoint(*row) for row in self._rows(run_id, training_points)]

    @outlasting
    def add_evaluation(self, run_id: str, games: int, agent: str) -> None:
        """Notes that all matches of an evaluation are stored."""
        with self.database.writing() as connection:
            self.totals.lock(connection, run_id, training_evaluations)
            columns = ("run_id", "games", "agent")
            self.database.insert_many(connection, training_evaluations, columns, [(run_id, games, agent)])
            self._count(connection, run_id, training_evaluations)

    @outlasting
    def evaluated(self, run_id: str) -> dict[int, str]:
        """Returns the evaluated agents by their number of training games, ascending."""
        return {games: agent for games, agent in self._rows(run_id, training_evaluations)}

    @outlasting
    def match_ids(self, run_id: str, agent: str) -> list[str]:
        """Returns the matches of a run in which the agent plays, in the order in which they were stored."""
        with self.database.reading() as connection:
            columns = self.blocks.of_run(connection, run_id)
        seated = np.repeat(np.arange(len(columns.number)), columns.seats)[columns.agent.are([agent])]
        return [str(match_id) for match_id in columns.ids()[np.unique(seated)]]

    @outlasting
    def clear(self, run_id: str) -> None:
        """Deletes a run's curve and evaluations, but not their matches."""
        with self.database.writing() as connection:
            for table in (training_points, training_evaluations):
                connection.execute(delete(table).where(table.c.run_id == run_id))
                self._count(connection, run_id, table)

    def _count(self, connection: Connection, run_id: str, table: Table) -> None:
        """Updates the total of a run's rows."""
        rows = connection.execute(select(*content(table)).where(table.c.run_id == run_id))
        self.totals.replace(connection, run_id, table, [checksum(*row) for row in rows])

    def _rows(self, run_id: str, table: Table) -> list[tuple[Any, ...]]:
        """Returns a run's rows, by games; raises Damaged if they are not as they were stored."""
        query = select(*content(table)).where(table.c.run_id == run_id).order_by(table.c.games)
        with self.database.reading() as connection:
            rows = [tuple(row) for row in connection.execute(query)]
            self.totals.check(connection, run_id, table, Total.of(checksum(*row) for row in rows))
        return rows
