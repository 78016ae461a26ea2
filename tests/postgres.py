"""A throw-away PostgreSQL on loopback; tests ask for the fixture `postgres_url` and get an empty database.

Use: `from tests.postgres import postgres_server, postgres_url  # noqa: F401` in the folder's conftest.py.
"""

from __future__ import annotations

import contextlib
import functools
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

_SETTINGS = "-c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off -c shared_buffers=16MB"
# Connections that an earlier test left open would hold on to its tables.
_CUT = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()"""


@functools.cache
def _tool(name: str) -> str | None:
    """Returns the path of a PostgreSQL program: on PATH, next to `postgres`, or where Debian hides it."""
    server = shutil.which("postgres")
    folders = [Path(server).resolve().parent] if server else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return shutil.which(name) or next((str(f / name) for f in folders if (f / name).exists()), None)


def _other_user() -> dict[str, Any]:
    """Returns how subprocess becomes a user that PostgreSQL accepts; it refuses root."""
    if os.geteuid() != 0:
        return {}
    names = {entry.pw_name for entry in pwd.getpwall()}
    user = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a running server's database; skips where no server is installed."""
    initdb, control = _tool("initdb"), _tool("pg_ctl")
    if initdb is None or control is None:
        pytest.skip("needs PostgreSQL's initdb and pg_ctl, which are not installed (apt-get install postgresql)")
    folder = Path(tempfile.mkdtemp(prefix="turnier-postgres-"))
    user = _other_user()
    if user:
        os.chown(folder, user["user"], user["group"])
    password = f"p{secrets.token_hex(8)}"  # never a number
    options: dict[str, Any] = {"cwd": folder, "check": True, "stdin": subprocess.DEVNULL, "timeout": 60, **user}
    passwords = folder / "password"
    passwords.write_text(password)
    passwords.chmod(0o644)
    data = str(folder / "data")
    make = [initdb, "-D", data, "-U", "turnier", "-A", "scram-sha-256", "-E", "UTF8", "--no-locale", "--no-sync"]
    # A pipe from us to this shell ends with us, so that the server ends even where the tests are killed.
    clean = ["sh", "-c", 'read _; "$0" -D "$1/data" -m immediate stop; cd /; rm -rf "$1"', control, str(folder)]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(clean, stdin=subprocess.PIPE, start_new_session=True, cwd=folder, **quiet, **user):
        subprocess.run([*make, f"--pwfile={passwords}"], stdout=subprocess.DEVNULL, **options)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        start = [control, "-D", data, "-l", str(folder / "log"), "-o", f"{_SETTINGS} -p {port}", "-w", "start"]
        subprocess.run(start, stdout=subprocess.DEVNULL, **options)
        yield f"postgresql://turnier:{password}@127.0.0.1:{port}/postgres"


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    """The URL of an empty database; tests use the same one in turn (a new one costs 300 files)."""
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(_CUT)
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    return postgres_server


@contextlib.contextmanager
def stopped(url: str) -> Iterator[None]:
    """Stops the server of `postgres_server` as its administrator would, and starts it again."""
    control = _tool("pg_ctl")
    assert control is not None
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute("SHOW data_directory").fetchone()
    data, port = str(row[0]) if row else "", urllib.parse.urlsplit(url).port
    options: dict[str, Any] = {"cwd": "/", "check": True, "timeout": 60, "stdout": subprocess.DEVNULL, **_other_user()}
    subprocess.run([control, "-D", data, "-m", "fast", "-w", "stop"], **options)
    try:
        yield
    finally:
        log = str(Path(data).parent / "log")
        subprocess.run([control, "-D", data, "-l", log, "-o", f"{_SETTINGS} -p {port}", "-w", "start"], **options)
