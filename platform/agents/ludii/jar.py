"""The user's own Ludii.jar: its identity and path, and the command that starts the bridge to it."""

from __future__ import annotations

import errno
import functools
import hashlib
import os
import shlex
import shutil
import stat
from pathlib import Path

from ...core.errors import UserError

JAR = "TURNIER_LUDII_JAR"  # environment: the jar's path
JAVA = "TURNIER_JAVA"  # environment: the command that starts Java, if not `java`
BRIDGE = Path(__file__).with_name("Bridge.java")
NO_JAR = (
    "ludii needs your Ludii.jar: download it from https://ludii.games and set"
    f" {JAR} to its path, on every machine that plays."
)

_known: dict[str, str] = {}  # paths of the jars named in this process, by digest


def digest_of_jar(path: str) -> str:
    """Returns 16 hexadecimal digits that identify the jar; raises UserError if it cannot be read."""
    try:
        found = Path(path).resolve()
        status = found.stat()
        if not stat.S_ISREG(status.st_mode):  # a device may have no end
            raise OSError(errno.EINVAL, "it is not a file")
        digest = _digest(str(found), status.st_mtime_ns, status.st_size)
    except OSError as error:
        raise UserError(
            f"ludii: jar must be a Ludii.jar that can be read, got {path}: {error.strerror}; download it from"
            " https://ludii.games and name its path."
        ) from None
    _known[digest] = str(found)
    return digest


@functools.lru_cache(maxsize=16)
def _digest(path: str, _changed: int, _size: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def digest_from_environment() -> str:
    """Returns the digest of the jar that the environment names; empty if it names none."""
    path = os.environ.get(JAR, "")
    return digest_of_jar(path) if path else ""


def path_of_jar(digest: str) -> str:
    """Returns the path of the jar with this digest; raises UserError if none is known here."""
    given = digest_from_environment()
    if digest in _known:
        return _known[digest]
    if not given:
        raise UserError(NO_JAR)
    raise UserError(
        f"ludii: {JAR} must name the jar with the digest {digest}, got one with {given}; leave the digest out to play"
        " with that one."
    )


def command_of(jar: str) -> list[str]:
    """Returns the command that starts the bridge to a jar; raises UserError if there is no Java."""
    java = shlex.split(os.environ.get(JAVA, "")) or ["java"]
    if shutil.which(java[0]) is None:
        raise UserError(
            f"ludii needs Java 17 or newer, got no command {java[0]}; install it (Debian: apt install"
            f" openjdk-17-jdk-headless), or set {JAVA} to the command that starts it."
        )
    return [*java, "-cp", jar, str(BRIDGE)]
