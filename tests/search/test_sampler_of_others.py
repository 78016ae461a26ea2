"""A sampler of one's own that breaks its contract is refused in one sentence with its name, before any game."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import turnier
from tests.search.broken_samplers import AsksAnew, Sound
from turnier.commands.own.templates.sampler import TemplateSearch
from turnier.core.errors import UserError
from turnier.search.samplers.sampler import Sampler, Search, require_sound
from turnier.search.space import Space


class _Wrong(TemplateSearch):
    answer: ClassVar[Callable[[int], Any]]

    def ask(self) -> Any:
        return type(self).answer(self.size)


def asking(what: Callable[[int], Any]) -> type[Sampler]:
    @dataclass(frozen=True)
    class Wrong(Sound):
        search = type("Wrong", (_Wrong,), {"answer": staticmethod(what)})

    return Wrong


@dataclass(frozen=True)
class BeginsNothing(Sound):
    def begin(self, start: Sequence[float], seed: int, space: Space) -> Search:
        return None  # type: ignore[return-value]


class _LearnsFirst(TemplateSearch):
    def recommended(self) -> list[float]:
        return [float(value) for value in self.history.vectors[-1]]


@dataclass(frozen=True)
class LearnsFirst(Sound):
    search = _LearnsFirst


WRONG: list[tuple[str, type[Sampler]]] = [
    ("candidates of .*Wrong must be from 0 to 1, got nan", asking(lambda size: np.full((4, size), np.nan))),
    ("candidates of .* must be from 0 to 1, got 1.7", asking(lambda size: np.full((4, size), 1.7))),
    (r"ask of .* must return an array of shape \[n, 2\], got .* shape \(4, 3\)", asking(lambda _: np.zeros((4, 3)))),
    ("got an array of shape .0, 2.", asking(lambda size: np.zeros((0, size)))),
    ("ask of .* must return an array .* got None", asking(lambda size: None)),
    ("ask of .* must work, got ZeroDivisionError: division by zero; see .* turnier check", asking(lambda size: 1 / 0)),
    ("begin of .* must return a Search, got None", BeginsNothing),
    ("recommended of .* must work, got IndexError", LearnsFirst),
    ("must ask for the same candidates .* draw random numbers from self.rng", AsksAnew),
]  # fmt: skip


@pytest.mark.parametrize(("message", "kind"), WRONG, ids=[text[:40] for text, _ in WRONG])
def test_a_broken_sampler_is_refused_when_it_is_named(message: str, kind: type[Sampler]) -> None:
    with pytest.raises(UserError, match=message) as refused:
        require_sound(kind(), [0.5, 0.5], 1, Space.cube(2))
    assert "\n" not in str(refused.value) and str(refused.value).endswith(".")
    require_sound(Sound(), [0.5, 0.5], 1, Space.cube(2))


def test_a_study_refuses_it_before_it_is_stored() -> None:
    with pytest.raises(UserError, match="must ask for the same candidates"):
        turnier.Study("2048(size=2)", "mc(iterations=4)", "rollout_depth=0..30", sampler=AsksAnew(), budget=60)
