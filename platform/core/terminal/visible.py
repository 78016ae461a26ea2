"""Texts as a terminal may show them, and the only function that prints them besides rich's console."""

from __future__ import annotations

import re
import sys
from typing import Any

_PICTURES = 0x2400  # Unicode's pictures of the control characters start here, in their order
_BIDI = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))  # they change the order in which other text is read
_LINES = (0x2028, 0x2029)
_SYMBOLS = {
    **{code: chr(_PICTURES + code) for code in range(32) if chr(code) not in "\n\t"},
    127: "␡",
    **{code: f"\\u{code:04x}" for code in (*range(0x80, 0xA0), *_BIDI, *_LINES)},
}
_HARMFUL = re.compile("[" + "".join(map(re.escape, map(chr, _SYMBOLS))) + "]")
# The password of a URL in a text; addresses of pages have ports there.
_PASSWORD = re.compile(r"(\b(?!https?:|wss?:)[a-z][a-z0-9+]*://[^\s:/@]*:)[^\s@]*(?=@)|(\b(?:ssl)?password=)[^&\s'\"]+")


def visible(text: str) -> str:
    """Returns a text in which control characters other than line ends and tabs are symbols, such as ␛."""
    return text.translate(_SYMBOLS) if _HARMFUL.search(text) else text


def visible_line(text: str) -> str:
    """Returns a text as one visible line: a name must not look like further lines of output."""
    return visible(text).replace("\n", "␊").replace("\t", "␉")


def visible_in(value: Any) -> Any:
    """Returns JSON content with visible texts: the drawing library ends the process at a control character."""
    if isinstance(value, dict):
        return {visible(str(key)): visible_in(each) for key, each in value.items()}
    if isinstance(value, list):
        return [visible_in(each) for each in value]
    return visible(value) if isinstance(value, str) else value


def without_passwords(text: str) -> str:
    """Returns a text with the passwords of database URLs hidden."""
    return _PASSWORD.sub(r"\1\2***", text) if "://" in text or "password=" in text else text


def say(text: object, errors: bool = False) -> None:
    """Prints a line, which may contain texts of others.

    Args:
        text: what to print.
        errors: whether to print to standard error.
    """
    print(without_passwords(visible(str(text))), file=sys.stderr if errors else sys.stdout, flush=True)
