"""The verdict on a search of a function, from evaluations on seeds that the search has not seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ...statistics.superiority import FIRST_SHARE, MAX_ROUNDS, MIN_UNITS, Superiority
from ..dimensions.tree import Value
from ..final_comparison import verdict_on
from ..storage.checked_studies import set_note, study_notes
from ..storage.definitions import EVALUATIONS
from ..storage.studies import optuna_errors
from ..verdict import START, Finalist
from .finalists import store_finalists
from .function_space import text_of

PROPOSED = "proposed"
HELD_OUT_VALUES = "held-out values "  # begins the keys of the notes on the finalists' values, a block of seeds each
BLOCK = 50  # seeds


class _Named(NamedTuple):
    """Parameters as a finalist."""

    parameters: Mapping[str, Value]

    def full_text(self) -> str:
        return text_of(self.parameters)

    def __str__(self) -> str:
        return text_of(self.parameters)


class _Scores:
    """What `verdict_on` asks of an objective."""

    single_player = True
    unit_games = 1

    def is_free(self, text: str) -> bool:
        return False


class HeldOutEvaluations:
    """Held-out evaluations of the finalists, on the same seeds, in the rounds of a sequential test."""

    def __init__(self, study: Any) -> None:
        self.study = study
        finalists = {text_of(agent): (label, agent) for label, agent in reversed(study.finalists.items())}
        self.agents = dict(reversed(finalists.values()))  # of equal ones the first
        self.games = study.final_evaluations
        self.rounds = max(1, min(MAX_ROUNDS, self.games // (max(2, len(self.agents)) * MIN_UNITS)))
        share = FIRST_SHARE if len(self.agents) > 2 else 1.0
        self.test = Superiority(list(self.agents)[1:], [START], self.rounds, first_share=share)
        self.target = 0  # evaluations of each
        stored = study_notes(study.store, study.name, f"{HELD_OUT_VALUES}%")
        self._stored: dict[str, dict[str, dict[str, float]]] = {key: dict(own) for key, own in stored.items()}
        texts = {label: text_of(agent) for label, agent in self.agents.items()}
        self.values = {
            label: {int(number): value for own in stored.values() for number, value in own.get(text, {}).items()}
            for label, text in texts.items()
        }
        self._advance()

    def places(self) -> list[tuple[int | str, int, int]]:
        """Returns what is missing of the round, seed by seed."""
        active = self.test.active
        return [(label, 0, n) for n in range(self.target) for label in active if n not in self.values[label]]

    def take(self, label: str, number: int, value: float) -> None:
        self.values[label][number] = value
        block = self._stored.setdefault(key := f"{HELD_OUT_VALUES}{number // BLOCK}", {})
        block.setdefault(text_of(self.agents[label]), {})[str(number)] = value
        with optuna_errors(self.study.store.shown_url):
            set_note(self.study.optuna, key, block)
        self._advance()

    def _advance(self) -> None:
        """Tests after each complete round, and stores the verdict after the last."""
        while self.test.active and not self.places():
            if self.target:
                self.test.add({label: self._first(label) for label in self.test.active})
            if self.test.active:
                self.target = self.games * (self.test.done + 1) // self.rounds // max(2, len(self.agents))
        if not self.test.active:
            self._decide()

    def _first(self, label: str) -> list[float]:
        return [self.values[label][number] for number in range(self.target)]

    def _decide(self) -> None:
        study = self.study
        estimate = study.search.estimate()
        chosen: Any = {
            label: Finalist(_Named(agent), estimate if label == PROPOSED else None, label == START)  # type: ignore[arg-type]
            for label, agent in self.agents.items()
        }
        values = {label: self._first(label) for label in self.agents}
        scores: Any = _Scores()
        verdict = verdict_on(chosen, self.test, values, scores, study.searched, counted=EVALUATIONS)
        if verdict != study.verdict:
            study.store_verdict(verdict)
            with optuna_errors(study.store.shown_url):
                store_finalists(study.store, study._storage, study.name, "value", study.space, verdict, self.agents)
