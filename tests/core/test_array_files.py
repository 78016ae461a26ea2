"""Files of networks are read whole, although a training replaces them meanwhile."""

from __future__ import annotations

import itertools
import json
import threading
from pathlib import Path

import numpy as np

from turnier.core.array_files import NetworkFiles, write_arrays

FILES = NetworkFiles("a test", "of this test", "write it again", lambda config: True, lambda config: None)


def write(path: Path, size: int) -> None:
    config = {"size": size, "more": ["more"]}
    arrays = {"config": np.array(json.dumps(config)), "weights": np.full(size, size), "more": np.full(size, -size)}
    write_arrays(path, "a test", arrays)


def test_a_file_that_is_replaced_meanwhile_is_read_as_it_was_or_is(tmp_path: Path) -> None:
    """Whether the new one is larger or smaller, description and arrays belong together."""
    path, stop = tmp_path / "a.npz", threading.Event()
    write(path, 10)

    def replace() -> None:
        for size in itertools.cycle((1000, 10)):
            if stop.is_set():
                return
            write(path, size)

    seen, finished = set[int](), list[bool]()

    def read() -> None:
        while seen != {10, 1000} or len(finished) < 100:
            config, arrays = FILES.read(path, ("weights",), lambda config: config["more"])
            assert (arrays["weights"] == config["size"]).all() and len(arrays["weights"]) == config["size"]
            assert (arrays["more"] == -config["size"]).all() and len(arrays["more"]) == config["size"]
            seen.add(config["size"])
            finished.append(True)

    writer, *readers = (threading.Thread(target=do) for do in (replace, read, read, read))
    for thread in (writer, *readers):
        thread.start()
    for thread in readers:
        thread.join(timeout=60)
    stop.set()
    writer.join()
    assert seen == {10, 1000} and len(finished) >= 100
