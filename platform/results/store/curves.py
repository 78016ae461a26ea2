"""The curves of training in a store: points over the games played, and the agents evaluated during training."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass

from sqlalchemy import Connection, Table, delete, inspect, select

from turnier.results.outage import outlasting
from turnier.results.store.database import Database
from turnier.results.store.schema import matches, run_matches, seats, training_evaluations, training_points


@dataclass(frozen=True)
class CurvePoint:
    """Consecutive games of a training, summarised by the first seat's scores."""

    games: int  # played up to the point's end
    count: int  # games of the point
    mean: float
    deviation: float


class Curves:
    """Reads and writes the curves of training; it is `Store.curves`."""

    def __init__(self, database: Database) -> None:
        self.database = database

    @outlasting
    def replace_points(self, run_id: str, points: Iterable[CurvePoint]) -> None:
        """Stores a run's curve, replacing any earlier one."""
        rows = [(run_id, *astuple(point)) for point in points]
        with self.database.writing() as connection:
            connection.execute(delete(training_points).where(training_points.c.run_id == run_id))
            self.database.insert_many(
                connection, training_points, ("run_id", "games", "count", "mean", "deviation"), rows
            )

    @outlasting
    def points(self, run_id: str) -> list[CurvePoint]:
        """Returns a run's curve."""
        t = training_points
        query = select(t.c.games, t.c.count, t.c.mean, t.c.deviation).where(t.c.run_id == run_id).order_by(t.c.games)
        with self.database.reading() as connection:
            return [CurvePoint(*row) for row in connection.execute(query)] if _has(connection, t) else []

    @outlasting
    def add_evaluation(self, run_id: str, games: int, agent: str) -> None:
        """Notes that all matches of an evaluation are stored."""
        with self.database.writing() as connection:
            columns = ("run_id", "games", "agent")
            self.database.insert_many(connection, training_evaluations, columns, [(run_id, games, agent)])

    @outlasting
    def evaluated(self, run_id: str) -> dict[int, str]:
        """Returns the evaluated agents by their number of training games, ascending."""
        t = training_evaluations
        query = select(t.c.games, t.c.agent).where(t.c.run_id == run_id).order_by(t.c.games)
        with self.database.reading() as connection:
            return {row.games: row.agent for row in connection.execute(query)} if _has(connection, t) else {}

    @outlasting
    def match_ids(self, run_id: str, agent: str) -> list[str]:
        """Returns the matches of a run in which the agent plays, in the order in which they were stored."""
        query = (
            select(matches.c.id, matches.c.number)
            .join(run_matches, run_matches.c.match_number == matches.c.number)
            .join(seats, seats.c.match_number == matches.c.number)
            .where(run_matches.c.run_id == run_id, seats.c.agent == agent)
            .distinct()
            .order_by(matches.c.number)
        )
        with self.database.reading() as connection:
            return [row.id for row in connection.execute(query)]

    @outlasting
    def clear(self, run_id: str) -> None:
        """Deletes a run's curve and evaluations, but not their matches."""
        with self.database.writing() as connection:
            for table in (training_points, training_evaluations):
                connection.execute(delete(table).where(table.c.run_id == run_id))


def _has(connection: Connection, table: Table) -> bool:
    """Whether the table exists; a store that was not written since the table was introduced does not have it."""
    return inspect(connection).has_table(table.name)
