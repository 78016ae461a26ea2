"""Faults planted in what `turnier new` writes, and the law that must catch each of them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from tests.cli.running import turnier

NAME, PLACE = "own", "own.py:Own"


class Fault(NamedTuple):
    """What is replaced in a sound file, and what is said of it."""

    what: str
    written: str  # words of `turnier new`
    replaced: tuple[tuple[str, str], ...]
    law: str
    says: str


FAULTS = [
    Fault(
        "legal actions descend",
        "game",
        (("out[action] = action", "out[action] = n - 1 - action"),),
        "legal",
        "must ascend",
    ),
    Fault(
        "a step changes the variant word",
        "game",
        (("state[SEAT] = 1 - seat", "state[SEAT] = 1 - seat\n    state[STONES] -= 1"),),
        "variant words stay",
        "must stay (15,), step made them (14,)",
    ),
    Fault(
        "returns are beyond max_return",
        "game",
        (("rewards[seat] += 1.0", "rewards[seat] += 2.0"),),
        "returns",
        "within 1.0",
    ),
    Fault(
        "rewards are set",
        "game",
        (("rewards[seat] += 1.0", "rewards[seat] = 1.0"),),
        "rewards are added",
        "must add",
    ),
    Fault(
        "max_legal is too small",
        "game",
        (("max_legal: ClassVar[int] = MOST", "max_legal: ClassVar[int] = 2"),),
        "writes stay inside",
        "legal of own.py:Own",
    ),
    Fault(
        "probabilities sum to 0.9",
        "game --python",
        (
            ("import TERMINAL", "import CHANCE, TERMINAL"),
            ("return self.stones, 0", "return self.stones, CHANCE"),
            ("    def show", "    def outcomes(self, state):\n        return [(0, 0.5), (1, 0.4)]\n\n    def show"),
            ("num_seats: ClassVar[int] = 2", "num_seats: ClassVar[int] = 2\n    max_outcomes: ClassVar[int] = 2"),
            ("left -= ply", "if seat == CHANCE:\n            return (left, 0), [0.0, 0.0]\n        left -= ply"),
        ),
        "chance",
        "whose sum is 1",
    ),
    Fault(
        "a step changes its state",
        "game --python",
        (
            ("return self.stones, 0", "return [self.stones, 0]"),
            ("return (left,", "state[0] = left\n        return (left,"),
        ),
        "methods change nothing",
        "must not change the state",
    ),
    Fault(
        "illegal",
        "agent",
        (("Decision.of(position, action,", "Decision.of(position, action + 1,"),),
        "legal",
        "must choose a legal action",
    ),
    Fault(
        "another seed every time",
        "agent",
        (('random.Random(f"{seed} {seat}")', "random.Random()"),),
        "seed",
        "must decide the same with the same seed",
    ),
    Fault(
        "pays itself",
        "agent",
        (("values = {}", "position.returns[0] += 1.0\n        values = {}"),),
        "untouched",
        "must not change the returns",
    ),
    Fault(
        "raises",
        "agent",
        (("most = max(values.values())", "most = 1 // 0"),),
        "legal",
        "own.py, line 35: most = 1 // 0",
    ),
    Fault(
        "plays in the state that it gets",
        "agent --kernel",
        (("after = state.copy()", "after = state"),),
        "kernel changes nothing",
        "must not change the state",
    ),
    Fault(
        "marks the state",
        "evaluator",
        (("mover = game", "state[0] ^= 1\n    mover = game"),),
        "changes nothing",
        "must not change the state",
    ),
    Fault(
        "estimates once",
        "evaluator",
        (("float(count) * weights[OWN]", "weights[OWN]"),),
        "counts",
        "must add the same with count = 7",
    ),
    Fault(
        "has random numbers of its own",
        "sampler",
        (("self.rng()", "np.random.default_rng()"),),
        "stored values rebuild the search",
        "must ask for the same candidates",
    ),
    Fault(
        "leaves the cube",
        "sampler",
        (("np.clip(drawn, 0.0, 1.0)", "drawn"),),
        "candidates are in the cube",
        "must be from 0 to 1",
    ),
]
CRASH = Fault(
    "writes far outside",
    "agent --kernel",
    (("rewards[:] = 0.0", "rewards[i + 1_000_000_000] = 0.0"),),
    "legal",
    "must not crash the process, got SIGSEGV",
)
ENDLESS = Fault(
    "never ends",
    "agent --kernel",
    (
        (
            "best, alike = actions[0], 0",
            "best, alike = actions[0], 0\n    while state[0] >= 0:\n        state[0] = (state[0] + 1) & 7",
        ),
    ),
    "legal",
    "must end within 4 s",
)


def plant(fault: Fault, folder: Path) -> None:
    """Writes a file with a fault into a folder."""
    turnier("new", *fault.written.split()[:1], NAME, *fault.written.split()[1:], folder=folder)
    file = folder / f"{NAME}.py"
    text = file.read_text()
    for old, new in fault.replaced:
        assert text.count(old) == 1, f"{old!r} must stand once in what `turnier new {fault.written}` writes"
        text = text.replace(old, new)
    file.write_text(text)
