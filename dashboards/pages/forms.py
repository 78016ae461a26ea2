"""Choices of an address as forms, and reading them; a browser follows a choice at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from starlette.datastructures import QueryParams

from turnier.core.errors import UserError, unknown


def select(name: str, options: Mapping[str, str] | Iterable[str], chosen: str, none: str = "", label: str = "") -> str:
    """Returns a list to choose one from.

    Args:
        name: of the choice in addresses.
        options: value -> text, or values that are shown as they are.
        chosen: the value that is chosen.
        none: the text of the choice of nothing; empty if something must be chosen.
        label: before the list; empty: `name`, for screen readers only.
    """
    texts = dict(options) if isinstance(options, Mapping) else {one: one for one in options}
    first = f'<option value="">{escape(none)}</option>' if none else ""
    listed = "".join(
        f'<option value="{escape(value)}"{" selected" if value == chosen else ""}>{escape(text)}</option>'
        for value, text in texts.items()
    )
    if not label:
        return f'<select name="{escape(name)}" aria-label="{escape(name)}">{first}{listed}</select>'
    return f'<label><span>{escape(label)}</span><select name="{escape(name)}">{first}{listed}</select></label>'


def checks(name: str, options: Sequence[str], chosen: Sequence[str], none: str, label: str) -> str:
    """Returns a list to choose some of; `none` says what no choice means."""
    boxes = "".join(
        f'<label><input type="checkbox" name="{escape(name)}" value="{escape(one)}"'
        f"{' checked' if one in chosen else ''}> {escape(one)}</label>"
        for one in options
    )
    said = f"{len(chosen)} of {len(options)}" if chosen else none
    return (
        f"<label><span>{escape(label)}</span></label><details{' open' if chosen else ''}><summary>{said}</summary>"
        f"<div>{boxes}</div></details>"
    )


def form(path: str, *parts: str, kept: Iterable[tuple[str, str]] = ()) -> str:
    """Returns choices as a form that leads to a path; `kept` are choices that stay as they are."""
    hidden = "".join(f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">' for name, value in kept)
    return (
        f'<form class="choice" method="get" action="{escape(path)}" data-choice>{hidden}{"".join(parts)}'
        "<noscript><button>Show</button></noscript></form>"
    )


def one_of(query: QueryParams, key: str, options: Iterable[str], default: str = "") -> str:
    """Returns a choice of an address; raises UserError if it is none of the options."""
    asked = query.get(key, default)
    known = list(options)
    if asked != default and asked not in known:
        raise unknown(key, asked, known)
    return asked


def number_of(query: QueryParams, key: str, default: int, most: int) -> int:
    """Returns a whole number of an address; raises UserError if it is none."""
    text = query.get(key, str(default))
    if not (text.isascii() and text.isdigit() and len(text) < 9 and 0 < int(text) <= most):
        raise UserError(f"{key} must be 1 to {most:,}, got {text[:20]!r}; choose another.")
    return int(text)
