"""The browser in which tests look at pages of servers, and pictures of what they see."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")


def shot(page: Any, name: str) -> None:
    """Keeps a picture where TURNIER_SCREENSHOTS names a folder."""
    if os.environ.get("TURNIER_SCREENSHOTS"):
        page.screenshot(path=Path(os.environ["TURNIER_SCREENSHOTS"]) / f"{name}.png", full_page=True)
