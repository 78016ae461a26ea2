"""URLs of results databases: parsed, checked, and without secrets for display."""

from __future__ import annotations

import os
import re
from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from ...core.errors import UserError

SECRETS = ("password", "sslpassword", "passfile")  # hidden options of a URL
_HOW = "write turnier.db, sqlite:///turnier.db or postgresql://USER@HOST/NAME"
_URL = re.compile(r"[A-Za-z][\w+.-]*:")  # the beginning of a URL; all else is a path


def parse(text: str) -> URL:
    """Returns a URL with our driver, or that of a path; raises UserError for all but SQLite files and PostgreSQL."""
    if text and not _URL.match(text):
        return _of_path(text)
    shown = re.sub(r"//.*@", "//***@", re.sub(r"(password=)[^&]*", r"\1***", text))
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise UserError(f"a results database must be a file or a URL, got {shown!r}; {_HOW}.") from None
    if url.drivername in ("postgres", "postgresql", "postgresql+psycopg"):
        return url.set(drivername="postgresql+psycopg")
    if url.drivername not in ("sqlite", "sqlite+pysqlite"):
        raise UserError(f"a results database must be SQLite or PostgreSQL, got {shown!r}; {_HOW}.")
    if not url.database or url.database.startswith((":memory:", "file:")) or url.query or url.host or "\0" in text:
        raise UserError(f"a results database must be a file with no options, got {shown!r}; {_HOW}.")
    return url


def _of_path(text: str) -> URL:
    """Returns the URL of a file; refuses a single word, which may be a mistake for something else."""
    if "\0" in text or not any(sign in text for sign in "./"):
        raise UserError(f"a results database must be a file such as turnier.db, or a URL, got {text!r}; {_HOW}.")
    return URL.create("sqlite", database=text)


def is_sqlite(url: URL) -> bool:
    return url.get_backend_name() == "sqlite"


def path_of(url: URL) -> Path:
    """Returns the absolute path of an SQLite database; raises UserError if no file can be there."""
    path = Path(os.path.expanduser(str(url.database))).absolute()  # an unknown ~user is left unchanged
    if (folder := os.path.isdir(path)) or (os.path.exists(path) and not os.path.isfile(path)):  # a pipe never answers
        raise UserError(f"a results database must be a file, got {'the folder ' * folder}{path}; name a file in it.")
    if not os.path.isdir(path.parent):
        raise UserError(f"the folder of a results database must exist, got {path}; create {path.parent} first.")
    return path


def sqlite_file(text: str) -> Path | None:
    """Returns the file of an SQLite database, None for PostgreSQL."""
    url = parse(text)
    return path_of(url) if is_sqlite(url) else None


def shown(url: URL) -> str:
    """Returns a URL without its password and other secrets."""
    if is_sqlite(url):
        return url.render_as_string()
    hidden = {key: "***" for key in SECRETS if key in url.query}
    named = url.set(drivername="postgresql").update_query_dict(hidden)
    return named.render_as_string(hide_password=True).replace("%2A", "*")
