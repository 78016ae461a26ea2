"""The console of tables, bars and coloured text; nothing else makes one (tests/core/test_visible.py)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import rich.console
from rich.segment import Segment
from rich.text import Text

from .visible import visible, without_passwords


class Console(rich.console.Console):
    """Rich's console without the control characters of others' texts."""

    @property
    def room(self) -> int | None:
        """Characters of a line; None if the output is not a terminal and its width is not set."""
        return self.width if self.is_terminal or self._width is not None else None

    def render_str(self, text: str, **options: Any) -> Text:
        """Returns a string as text of the right width."""
        return super().render_str(without_passwords(visible(text)), **options)

    def render(
        self, renderable: rich.console.RenderableType, options: rich.console.ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yields the segments to print; the console's own control codes, which move the cursor, are marked as such."""
        for segment in super().render(renderable, options):
            text = visible(segment.text)
            yield segment if segment.control or text is segment.text else segment._replace(text=text)
