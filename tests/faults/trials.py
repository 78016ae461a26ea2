"""Damaged copies are read in a process of their own, which may crash, hang or fill the memory."""

from __future__ import annotations

import json
import os
import re
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.faults.readings import Answer, Reading, read_in

HANG_SECONDS = 10.0
SLOWER = 5.0  # a reading that takes long on a busy machine hangs only if it takes this many times as long
MEMORY = 4 << 30  # bytes that a reading may take beyond what the process had
MOST_BITS = 512


def flipped(data: bytes, bits: int, random: np.random.Generator) -> bytes:
    """Returns the data with some bits flipped at random places."""
    damaged = np.frombuffer(data, np.uint8).copy()
    places = random.choice(8 * len(data), size=min(bits, 8 * len(data)), replace=False)
    np.bitwise_xor.at(damaged, places // 8, (1 << (places % 8)).astype(np.uint8))
    return damaged.tobytes()


def number_of_bits(random: np.random.Generator) -> int:
    """Returns 1 to MOST_BITS, small numbers as often as large ones: one bit is what disks and memory do."""
    return int(2 ** random.uniform(0, np.log2(MOST_BITS + 1)))


def answers(
    files: Path, changed: Mapping[str, bytes], some: Mapping[str, Reading], usual: Mapping[str, float]
) -> Iterator[tuple[str, Answer, float]]:
    """Yields name, answer and seconds of each reading, each of a new copy of the files with the changed content.

    Args:
        files: a folder of undamaged files.
        changed: the content of files that are damaged.
        some: what reads them.
        usual: the seconds that readings take if nothing is damaged.
    """
    left = {name: (reading, max(HANG_SECONDS, SLOWER * usual.get(name, 0.0))) for name, reading in some.items()}
    while left:
        for name, answer, seconds in _in_a_process(files, changed, left):
            del left[name]
            yield name, answer, seconds


def _in_a_process(
    files: Path, changed: Mapping[str, bytes], some: Mapping[str, tuple[Reading, float]]
) -> Iterator[tuple[str, Answer, float]]:
    """Yields answers up to the first reading that ends or hangs its process."""
    with tempfile.TemporaryDirectory() as place:
        ours, theirs = os.pipe()
        process = os.fork()
        if process == 0:
            os.close(ours)
            _read_all(files, Path(place), changed, [reading for reading, _ in some.values()], theirs)
        os.close(theirs)
        try:
            yield from _received(ours, {name: patience for name, (_, patience) in some.items()})
        finally:
            os.close(ours)
            try:
                os.kill(process, signal.SIGKILL)
            finally:
                os.waitpid(process, 0)


def _received(pipe: int, names: Mapping[str, float]) -> Iterator[tuple[str, Answer, float]]:
    text = b""
    for name, patience in names.items():
        began = time.monotonic()
        while b"\n" not in text:
            ready, _, _ = select.select([pipe], [], [], max(0.0, began + patience - time.monotonic()))
            part = os.read(pipe, 1 << 20) if ready else b""
            if not part:
                what = f"no answer after {patience:.0f} s" if not ready else "the process crashed"
                yield name, Answer("failed", what), time.monotonic() - began
                return
            text += part
        line, _, text = text.partition(b"\n")
        yield name, Answer(*json.loads(line)), time.monotonic() - began


def _read_all(files: Path, place: Path, changed: Mapping[str, bytes], some: Sequence[Reading], pipe: int) -> None:
    """What the process does; it never returns."""
    try:
        output = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(output, descriptor)
        in_use = 1024 * int(re.findall(r"VmData:\s+(\d+)", Path("/proc/self/status").read_text())[0])
        resource.setrlimit(resource.RLIMIT_DATA, (in_use + MEMORY, in_use + MEMORY))
        unpickled: list[str] = []
        sys.addaudithook(lambda event, details: _note_unpickling(event, details, unpickled))
        folder = place / "files"
        for reading in some:
            shutil.copytree(files, folder)
            for name, content in changed.items():
                (folder / name).write_bytes(content)
            answer = read_in(folder, reading)
            if unpickled:
                answer = Answer("failed", f"unpickled {unpickled}")
            os.write(pipe, json.dumps(answer).encode() + b"\n")
            shutil.rmtree(folder)
    except BaseException:
        os.write(pipe, json.dumps(Answer("failed", traceback.format_exc())).encode() + b"\n")
    finally:
        os._exit(0)


def _note_unpickling(event: str, details: tuple[Any, ...], unpickled: list[str]) -> None:
    """Notes what a pickle asks for, except where numba loads compiled kernels."""
    if event != "pickle.find_class":
        return
    frame = sys._getframe()
    while frame := frame.f_back:  # type: ignore[assignment]
        if frame.f_code.co_filename.endswith(("numba/core/caching.py", "numba/core/serialize.py")):
            return
    unpickled.append(".".join(map(str, details)))
