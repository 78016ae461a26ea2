"""Games in Python that are wrong in one way each: what they do, and the sentence that a match's record says of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from turnier.core.parameters import parameter
from turnier.games.abi import CHANCE, TERMINAL
from turnier.games.python.python_game import PythonGame

SOON = 3  # plies until a game fails


def _raise(state: int, *_: object) -> Any:
    raise ZeroDivisionError(f"at {state}")


# What a method does once SOON plies are played, by a name; the first word is the method.
FAULTS: dict[str, tuple[Callable[..., Any], str]] = {
    "begin_raises": (_raise, "begin of .* raised ZeroDivisionError"),
    "to_move_raises": (_raise, "to_move of .* raised ZeroDivisionError: at 3; fix the game"),
    "legal_raises": (_raise, "legal of .* raised ZeroDivisionError: at 4"),
    "step_raises": (_raise, "step of .* raised ZeroDivisionError: at 3"),
    "outcomes_raises": (_raise, "outcomes of .* raised ZeroDivisionError: at 3"),
    "observe_raises": (_raise, "observe of .* raised ZeroDivisionError: at 4"),
    "to_move_none": (lambda state: None, "to_move of .* must return a seat from 0 to 1, CHANCE or TERMINAL, got None"),
    "to_move_seat": (lambda state: 2, "to_move of .* must return a seat from 0 to 1, CHANCE or TERMINAL, got 2"),
    "legal_none": (lambda state: None, "legal of .* must return a list, got None"),
    "legal_empty": (lambda state: [], "legal of .* at least one, got \\[\\]"),
    "legal_descending": (lambda state: [1, 0], "legal of .* must return ascending ids from 0 to 2"),
    "legal_outside": (lambda state: [0, 3], "legal of .* must return ascending ids from 0 to 2"),
    "legal_negative": (lambda state: [-1, 0], "legal of .* must return ascending ids from 0 to 2"),
    "legal_words": (lambda state: ["left"], "legal of .* must return ascending ids from 0 to 2"),
    "legal_many": (lambda state: [0, 1, 2], "legal of .* must return at most 2 ids, as the game declares"),
    "outcomes_sum": (lambda state: [(0, 0.5), (1, 0.4)], "outcomes of .* must return positive probabilities whose sum"),
    "outcomes_negative": (lambda state: [(0, 1.5), (1, -0.5)], "outcomes of .* must return positive probabilities"),
    "outcomes_single": (lambda state: [0, 1], "outcomes of .* must return pairs of an id and its probability"),
    "outcomes_many": (lambda state: [(i, 0.25) for i in range(4)], "outcomes of .* must return at most 2 ids"),
    "step_rewards": (lambda state, ply: (state + 1, (1,)), "step of .* must return 2 finite rewards, got \\(1,\\)"),
    "step_nan": (lambda state, ply: (state + 1, (0, float("nan"))), "step of .* must return 2 finite rewards"),
    "step_state": (lambda state, ply: state + 1, "step of .* must return the next state and the rewards of all seats"),
    "observe_object": (lambda state, seat: object(), "observe of .* must return a state made of numbers, text"),
    "observe_long": (
        lambda state, seat: "x" * 100,
        "observe of .* must return at most max_view = 40 characters in print",
    ),
    "endless": (_raise, ".* must be over after max_length = 10 plies and outcomes, got a longer game"),
}


@dataclass(frozen=True)
class Failing(PythonGame):
    """Counts plies up to `length`, every third of chance, two seats in turn; a state is how many there were."""

    name: ClassVar[str] = "failing"
    fault: str = parameter("none", "what is wrong", choices=("none", *FAULTS))

    num_seats: ClassVar[int] = 2
    num_actions: ClassVar[int] = 3
    max_legal: ClassVar[int] = 2
    max_outcomes: ClassVar[int] = 2
    max_length: ClassVar[int] = 10
    max_view: ClassVar[int] = 40

    def begin(self) -> int:
        return self._answer("begin", SOON, 0)  # type: ignore[no-any-return]

    def to_move(self, state: int) -> int:
        over = TERMINAL if state >= 10 and self.fault != "endless" else None
        usual = over or (CHANCE if state % 3 == 0 else state % 2)
        return self._answer("to_move", state, usual)  # type: ignore[no-any-return]

    def legal(self, state: int) -> list[int]:
        return self._answer("legal", state, [0, 1])  # type: ignore[no-any-return]

    def outcomes(self, state: int) -> list[tuple[int, float]]:
        return self._answer("outcomes", state, [(0, 0.25), (1, 0.75)])  # type: ignore[no-any-return]

    def step(self, state: int, ply: int) -> tuple[int, tuple[float, ...]]:
        return self._answer("step", state, (state + 1, (0.5, -0.5) if ply else (0.0, 0.0)), ply)  # type: ignore[no-any-return]

    def observe(self, state: int, seat: int) -> int:
        return self._answer("observe", state, state, seat)  # type: ignore[no-any-return]

    def _answer(self, method: str, state: int, usual: Any, *arguments: int) -> Any:
        """Answers as usual, or as the fault does where it is this method's and enough plies are played."""
        if self.fault.rpartition("_")[0] != method or state < SOON:
            return usual
        return FAULTS[self.fault][0](state, *arguments)
