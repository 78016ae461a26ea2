"""The curves of training in a store: points of the games played, and which agents were evaluated on the way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass

from sqlalchemy import Connection, Table, delete, inspect, select

from turnier.results.store.database import Database
from turnier.results.store.schema import matches, run_matches, seats, training_evaluations, training_points


@dataclass(frozen=True)
class CurvePoint:
    """Games that training played in a row, as the first seat's scores."""

    games: int  # played before the point's end
    count: int  # of the point
    mean: float
    deviation: float


class Curves:
    """What `Store` is to matches, this is to the curves of training; it is `Store.curves`."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def replace_points(self, run_id: str, points: Iterable[CurvePoint]) -> None:
        """Stores a run's curve in place of what was stored of it."""
        rows = [(run_id, *astuple(point)) for point in points]
        with self.database.writing() as connection:
            connection.execute(delete(training_points).where(training_points.c.run_id == run_id))
            self.database.insert_many(
                connection, training_points, ("run_id", "games", "count", "mean", "deviation"), rows
            )

    def points(self, run_id: str) -> list[CurvePoint]:
        """Returns a run's curve."""
        t = training_points
        query = select(t.c.games, t.c.count, t.c.mean, t.c.deviation).where(t.c.run_id == run_id).order_by(t.c.games)
        with self.database.reading() as connection:
            return [CurvePoint(*row) for row in connection.execute(query)] if _has(connection, t) else []

    def add_evaluation(self, run_id: str, games: int, agent: str) -> None:
        """Says that all matches of an evaluation are stored."""
        with self.database.writing() as connection:
            columns = ("run_id", "games", "agent")
            self.database.insert_many(connection, training_evaluations, columns, [(run_id, games, agent)])

    def evaluated(self, run_id: str) -> dict[int, str]:
        """Returns the agents that were evaluated, by the games that they had been trained, ascending."""
        t = training_evaluations
        query = select(t.c.games, t.c.agent).where(t.c.run_id == run_id).order_by(t.c.games)
        with self.database.reading() as connection:
            return {row.games: row.agent for row in connection.execute(query)} if _has(connection, t) else {}

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

    def clear(self, run_id: str) -> None:
        """Forgets a run's curve and evaluations, not the matches."""
        with self.database.writing() as connection:
            for table in (training_points, training_evaluations):
                connection.execute(delete(table).where(table.c.run_id == run_id))


def _has(connection: Connection, table: Table) -> bool:
    """Whether there is the table: stores that were only read since it was added do not have it."""
    return inspect(connection).has_table(table.name)
