"""A PostgreSQL server for tests of studies."""

from tests.postgres import postgres_server, postgres_url  # noqa: F401
