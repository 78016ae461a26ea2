"""Template: take one to three stones from a heap; the player who takes the last one wins. Written in plain Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from turnier import TERMINAL, PythonGame, parameter

MOST = 3  # stones that may be taken at once; action 0 takes one


@dataclass(frozen=True)
class Template(PythonGame):
    """Take one to three stones from a heap; the player who takes the last one wins."""

    num_seats: ClassVar[int] = 2
    num_actions: ClassVar[int] = MOST
    max_legal: ClassVar[int] = MOST

    stones: int = parameter(15, "stones at the start", low=1, high=1000)

    @property
    def max_length(self) -> int:  # type: ignore[override]
        return self.stones

    # A state is any object, here the stones left and the seat to move. No method may change the state it gets.
    def begin(self) -> Any:
        return self.stones, 0

    def to_move(self, state: Any) -> int:
        left, seat = state
        return seat if left else TERMINAL

    def legal(self, state: Any) -> list[int]:
        left, _ = state
        return list(range(min(MOST, left)))

    def step(self, state: Any, ply: int) -> tuple[Any, list[float]]:
        left, seat = state
        left -= ply + 1
        rewards = [0.0, 0.0]
        if left == 0:
            rewards[seat], rewards[1 - seat] = 1.0, -1.0
        return (left, 1 - seat), rewards

    def action_name(self, action: int) -> str:
        return f"take {action + 1}"

    def show(self, state: Any) -> str:
        return f"{state[0]} stones left"
