"""Flips bits in stores, weights, checkpoints and exports, and runs everything that reads them.

    python tests/faults/flip_bits.py --flips 500

A failure is a traceback, a crash, unpickling, no answer within ten seconds, or another answer than that of the
undamaged file with exit code 0. Refusing in one sentence is right. The same seed makes the same flips, except that the
files to damage hold measured times.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.faults.readings import Answer, import_all, readings
from tests.faults.small_files import CHECKPOINT, EXPORT, STORE, WEIGHTS, make_files
from tests.faults.trials import answers, flipped, number_of_bits

KINDS = {"store": STORE, "weights": WEIGHTS, "checkpoint": CHECKPOINT, "export": EXPORT}


class Failure(NamedTuple):
    """A reading that must not end as it did."""

    flip: int
    file: str
    bits: int
    reading: str
    what: str


class Flips:
    """Files that were made once, and what reads them answers as long as they are undamaged."""

    def __init__(self, files: Path, kinds: Sequence[str] = tuple(KINDS)) -> None:
        import_all()
        make_files(files)
        self.files, self.kinds = files, kinds
        self.readings = readings(files)
        self.right: dict[tuple[str, str], Answer] = {}
        self.usual: dict[str, dict[str, float]] = {kind: {} for kind in kinds}
        for kind in kinds:
            patient = dict.fromkeys(self.readings[KINDS[kind]], 60.0)
            for name, answer, seconds in answers(files, {}, self.readings[KINDS[kind]], patient):
                assert answer.outcome == "right", (name, answer)
                self.right[kind, name], self.usual[kind][name] = answer, seconds
        self.outcomes: Counter[tuple[str, str]] = Counter()

    def steady(self) -> list[str]:
        """Returns the readings whose second answer differs, although nothing was damaged."""
        return [
            f"{kind}: {name}"
            for kind in self.kinds
            for name, answer, _ in answers(self.files, {}, self.readings[KINDS[kind]], self.usual[kind])
            if answer != self.right[kind, name]
        ]

    def failures(self, flips: range, seed: int) -> Iterator[Failure]:
        """Damages one file per flip, in turn of the kinds; yields what fails."""
        for flip in flips:
            kind, random = self.kinds[flip % len(self.kinds)], np.random.default_rng((seed, flip))
            file, bits = KINDS[kind], number_of_bits(random)
            changed = {file: flipped((self.files / file).read_bytes(), bits, random)}
            for name, answer, _ in answers(self.files, changed, self.readings[file], self.usual[kind]):
                what = _failure(answer, self.right[kind, name])
                self.outcomes[kind, "failed" if what else answer.outcome] += 1
                if what:
                    yield Failure(flip, file, bits, name, what)


def _failure(answer: Answer, right: Answer) -> str:
    """Returns what is wrong about an answer; empty if it is right or refuses."""
    if answer.outcome == "failed":
        return answer.said
    if answer.outcome == "right" and answer != right:
        return f"another answer with exit code 0: {_difference(right.said, answer.said)}"
    return ""


def _difference(right: str, wrong: str) -> str:
    """Returns where two texts part."""
    place = next((i for i, (a, b) in enumerate(zip(right, wrong, strict=False)) if a != b), min(len(right), len(wrong)))
    first = max(0, place - 30)
    return f"{right[first : place + 50]!r} became {wrong[first : place + 50]!r}"


def main() -> int:
    parser = argparse.ArgumentParser(description="flip bits in files and run everything that reads them")
    parser.add_argument("--flips", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, help="number of the first flip")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=tuple(KINDS))
    chosen = parser.parse_args()
    began, failed = time.monotonic(), 0
    with tempfile.TemporaryDirectory() as folder:
        flips = Flips(Path(folder), chosen.kinds)
        if unsteady := flips.steady():
            print(f"these answer differently each time: {', '.join(unsteady)}")
            return 1
        for failure in flips.failures(range(chosen.first, chosen.first + chosen.flips), chosen.seed):
            failed += 1
            what = failure.what.strip().replace("\n", " | ")[-600:]
            print(f"{failure.flip}: {failure.file}, {failure.bits} bits, {failure.reading}: {what}", flush=True)
    for (kind, outcome), count in sorted(flips.outcomes.items()):
        print(f"{kind}: {count} readings {outcome}")
    print(f"{chosen.flips} flips, {failed} failures, {time.monotonic() - began:.0f} s")
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
