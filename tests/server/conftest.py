"""Servers store on both databases."""

from tests.postgres import postgres_server, postgres_url  # noqa: F401
