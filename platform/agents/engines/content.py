"""The identity of a program: a digest of the files that its command names, so an edited program is another agent.

It covers the program itself, found as the shell finds it, every file named by one of the words or options, alone or
behind `=`, and for Python files their imports from their own folder. It leaves out:

- interpreters: the files that they run count, and another release of Python does not make another bot;
- files that the program writes: those that an option calls log or output, and files `*.log`;
- files that the command does not name: those loaded by JavaScript or a shell script, data that a program finds by
  itself. Instead, the program's statement about itself must be the same as before.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from ...core.errors import UserError
from ...core.outputs import user_cache
from ...core.outside.bundle import DIGITS, gather, on_disk

_INTERPRETERS = re.compile(
    r"(python|pypy|node|nodejs|deno|bun|java|ruby|perl|lua|luajit|julia|rscript|php|mono|dotnet|wine|env|sh|bash|dash"
    r"|zsh|ksh|nice|nohup|stdbuf|taskset|timeout|time)[\d.]*(\.exe)?",
    re.IGNORECASE,
)
_WRITTEN = re.compile(r"(?<![a-z])(log|out(put)?|(?-i:o))(?![a-z])|logfile|outfile", re.IGNORECASE)
Stamp = tuple[tuple[str, int, int], ...]  # path, size and time of the last change of files

_known: dict[tuple[str, str], tuple[Stamp, str]] = {}  # by file, or by root and file of Python code


def words_of(command: str) -> list[str]:
    """Returns a command's words; none if it cannot be parsed, which `prepare` reports."""
    try:
        return shlex.split(command)
    except ValueError:
        return []


def digest_of(command: str, options: Sequence[str] = ()) -> str:
    """Returns the digest of the files named by a command and the program's options; "" if there is no such program."""
    words = words_of(command)
    if not words or shutil.which(words[0]) is None:
        return ""
    found = [_content(*place) for place in dict.fromkeys(_files(words, options))]
    return hashlib.sha256(json.dumps(found).encode()).hexdigest()[:DIGITS]


def require_same_words(command: str, digest: str, said: str) -> None:
    """Raises UserError if a program describes itself differently than before, although its files are the same.

    It then runs a program that its command does not name. Descriptions are kept in the user's cache.
    """
    key = hashlib.sha256(json.dumps([command, digest]).encode()).hexdigest()[:32]
    path = user_cache() / "programs" / f"{key}.txt"
    with contextlib.suppress(OSError):  # nothing is compared without a cache
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_suffix(f".{os.getpid()}")
            part.write_text(said)
            part.replace(path)
            return
        before = path.read_text()
        if before != said:
            raise UserError(
                f"a command must name the program that plays, but {command!r} calls itself {said!r} now and"
                f" {before!r} before, with the same files; name the program that it runs in the command."
            )


def _files(words: Sequence[str], options: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yields the files of the digest, each as the root of its imports and its path below that."""
    before, found = "", False  # the program, behind interpreters and words such as `nice`
    for word in words:
        program = None if found or _is_interpreter(word) else shutil.which(word)
        if program is not None:
            places = [_place(program)]
        elif before == "-m" and not found:
            places = list(_module(word))
        else:
            places = list(_named(word, before))
        yield from places
        found = found or bool(places)
        before = word
    for option in options:
        yield from _named(option, "")


def _is_interpreter(word: str) -> bool:
    return _INTERPRETERS.fullmatch(os.path.basename(word)) is not None


def _named(word: str, before: str) -> Iterator[tuple[str, str]]:
    """Yields the files named by a word, except those that the program writes."""
    name, equals, value = word.partition("=")
    option = name if equals else before if before.startswith("-") else ""
    if _WRITTEN.search(option):
        return
    if _is_interpreter(word):
        return
    for text in dict.fromkeys((word, value, *(value or word).split(os.pathsep))):
        if os.path.isfile(text) and not text.endswith(".log"):
            yield _place(text)
        elif text and os.path.isfile(os.path.join(text, "__main__.py")):
            yield _place(os.path.join(text, "__main__.py"))


def _module(name: str) -> Iterator[tuple[str, str]]:
    """Yields the file that `python -m NAME` runs, if it is in this folder."""
    path = name.replace(".", "/")
    for file in (f"{path}.py", f"{path}/__main__.py"):
        if os.path.isfile(file):
            yield os.getcwd(), file


def _place(file: str) -> tuple[str, str]:
    path = Path(file).resolve()
    return str(path.parent), path.name


def _content(root: str, place: str) -> str:
    """Returns the digest of a file, with its imports if it is Python; remembered until one of the files changes."""
    known = _known.get((root, place))
    if known is not None and _stamp([path for path, _, _ in known[0]]) == known[0]:
        return known[1]
    file = os.path.join(root, place)
    files, digest = [file], ""
    if place.endswith(".py"):
        try:
            bundle = gather(place, on_disk(Path(root)), root)
            # The folder changes when a file is added, which an import may find.
            files, digest = [root, *(os.path.join(root, path) for path in (*bundle.files, *bundle.data))], bundle.digest
        except UserError:
            pass  # not Python of this version, or too much of it
    stamp = _stamp(files)
    digest = digest or _of_bytes(file)
    _known[root, place] = stamp, digest
    return digest


def _stamp(files: Sequence[str]) -> Stamp:
    found = []
    for file in files:
        try:
            status = os.stat(file)
            found.append((file, status.st_size, status.st_mtime_ns))
        except OSError:
            found.append((file, -1, 0))
    return tuple(found)


def _of_bytes(file: str) -> str:
    try:
        with open(file, "rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError:  # one with permission to run but not to read
        return f"unreadable, {_stamp([file])[0][1]} bytes"
