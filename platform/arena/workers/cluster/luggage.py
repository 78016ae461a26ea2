"""Luggage of work besides its specs: code of others and files, each sent once to a cluster."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ....core.errors import UserError
from ....core.outside import carried, library
from ....core.outside.bundle import Bundle
from ....core.outside.carried import Carried
from ....core.outside.trust import trust, trusted

PART = 1 << 25  # bytes of a file per object of Ray: a whole file may be larger than an object store
KEPT = 256  # files that stay in Ray's object store, the latest ones

Code = tuple[str, Any]  # digest, and the bundle or its reference
File = tuple[Carried, tuple[Any, ...]]  # references to the parts of its bytes


class Luggage(NamedTuple):
    """The luggage of a batch."""

    code: list[Code]
    files: list[File]
    trusted: bool  # whether code of others may run in the process


class Packing:
    """Packs the luggage of a driver's work."""

    def __init__(self, ray: Any) -> None:
        """`ray` keeps code and files for all machines; None: all workers are on this machine, with its files."""
        self._ray = ray
        self._put_code = functools.lru_cache(KEPT)(self._new_code)
        self._put_file = functools.lru_cache(KEPT)(self._new_file)
        self._files_in = functools.lru_cache(1 << 12)(carried.named_in)  # as they are when a text is first sent

    def of(self, names: Iterable[str]) -> Luggage:
        """Returns the luggage for the text forms of some work; raises UserError if a file can no longer be read."""
        texts = set(names)
        if here := next(filter(library.of_session, texts), ""):
            raise UserError(
                f"{here} must be in a file for Ray's processes; move it into one, or play with the executor threads."
            )
        code = [(bundle.digest, self._put_code(bundle.digest)) for bundle in library.bundles_in(texts)]
        files = {file.value: file for text in texts for file in self._files_in(text)}
        return Luggage(code, [(file, self._put_file(file)) for file in files.values()], trusted())

    def _new_code(self, digest: str) -> Any:
        bundle = library.find(digest)
        return self._ray.put(bundle) if self._ray else bundle

    def _new_file(self, file: Carried) -> tuple[Any, ...]:
        if self._ray is None or file.size > carried.LARGEST:
            return ()
        return tuple(self._ray.put(part) for part in _parts(Path(file.path)))


def _parts(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while part := file.read(PART):
            yield part


_unpacked: set[str] = set()  # digests of code in this process


def unpack(luggage: Luggage) -> None:
    """Makes a batch's code and files known to this process; raises UserError if it cannot."""
    trust(luggage.trusted)
    for digest, bundle in luggage.code:
        if digest not in _unpacked:
            library.learn(bundle if isinstance(bundle, Bundle) else _get(bundle))
            _unpacked.add(digest)
    for file, parts in luggage.files:
        carried.receive(file, functools.partial(map, _get, parts))


def _get(reference: Any) -> Any:
    import ray

    return ray.get(reference)
