"""Runs are played into stores on both databases."""

from tests.postgres import postgres_server, postgres_url  # noqa: F401
from tests.results.conftest import store, url  # noqa: F401
