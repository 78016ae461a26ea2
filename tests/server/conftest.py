"""Servers store on both databases; a browser for the tests of their pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.postgres import postgres_server, postgres_url  # noqa: F401
from tests.server.browsers import CHROMIUM

LONGEST = 60_000  # milliseconds until a page shows what it should: seconds only if the machine is busy


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    playwright.expect.set_options(timeout=LONGEST)
    with playwright.sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page of a telephone, on which no script may fail and nothing may be refused."""
    opened = browser.new_page(viewport={"width": 390, "height": 844})
    opened.set_default_timeout(LONGEST)
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    yield opened
    opened.close()
    assert errors == []
