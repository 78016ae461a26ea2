"""Whole commands that continue a stored study or ask its question differently; each runs as it is printed."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ...agents.registry import AGENTS
from ...games.registry import GAMES
from ...results.failures import store_option
from ...results.store.store import Store
from ..definition import StudyDefinition
from ..noise import NOISES
from ..samplers.registry import SAMPLERS, usual_samplers
from ..space import Space
from ..verdict import StudyVerdict
from .studies import run_id_of

MORE = 4  # times as many games
OPENING_PLIES = 6  # random ones, before games of agents that would repeat one game


def tune_command(store: Store, definition: StudyDefinition, budget: int | str, verify: float | None = None) -> str:
    """Returns the command that runs a study, or resumes it if it is stored.

    Args:
        store: where the study is, or is to be.
        definition: of the study, with a name.
        budget: games of the search, or its time.
        verify: held-out games as a share of them; None = the default.
    """
    words = ["turnier", "tune", str(GAMES.make(definition.game)), str(AGENTS.make(definition.agent))]
    words += ["--parameters", ",".join(definition.parameters)]
    words += [word for opponent in definition.against for word in ("--against", str(AGENTS.make(opponent)))]
    words += [word for game in definition.also for word in ("--also", str(GAMES.make(game)))]
    sampler, noise = SAMPLERS.make(definition.sampler), NOISES.make(definition.noise)
    space = Space.of(AGENTS.make(definition.agent), definition.parameters)
    usual, *others = usual_samplers(definition.objective.single_player, bool(definition.against), space, 0)
    words += [] if sampler.is_closed(usual) and not others else ["--sampler", str(sampler)]
    words += ["--noise", str(noise)] if noise != NOISES.make(sampler.usual_noise) else []
    words += ["--seed", str(definition.seed)] if definition.seed != 1 else []
    known = [] if definition.from_study else definition.known
    words += [word for agent in known for word in ("--known", str(AGENTS.make(agent)))]
    words += ["--from-study", definition.from_study] if definition.from_study else []
    words += ["--max-per-move", f"{definition.slowest:.12g}ms"] if definition.slowest else []
    words += ["--openings", str(definition.openings)] if definition.openings else []
    words += ["--budget", str(budget), "--name", definition.name]
    words += ["--verify", f"{verify:.12g}"] if verify is not None else []
    return shlex.join(words) + store_option(store)


class Again(NamedTuple):
    """A study whose question may be asked differently, in another study."""

    store: Store
    definition: StudyDefinition
    budget: int  # games of its search

    @classmethod
    def of(cls, store: Store, definition: Mapping[str, Any], games: int) -> Again | None:
        """Returns a stored study that has played this many games; None for fronts and studies of learners."""
        if "objectives" in definition or "agent" not in definition:
            return None
        return cls(store, StudyDefinition.of_stored(definition), games)

    def command(self, times: int = 1, **changes: Any) -> str:
        """Returns the command of a study with these changes, under a fresh name, with `times` times the games."""
        taken, number = {run.id for run in self.store.runs()}, 2
        while run_id_of(f"{self.definition.name}-{number}") in taken:
            number += 1
        other = replace(self.definition, name=f"{self.definition.name}-{number}", **changes)
        return tune_command(self.store, other, times * self.budget)

    def with_more_games(self) -> str:
        """Returns the command of a study whose candidates play more games, in as many generations."""
        noise = NOISES.make(self.definition.noise)
        return self.command(MORE, noise=str(noise.replace(games=MORE * noise.games)))


def to_play_on(store: Store, definition: Mapping[str, Any], verdict: StudyVerdict | None) -> str:
    """Returns how to get a verdict on an undecided study, mostly by more held-out games; empty if there is none.

    Args:
        store: where the study is.
        definition: of the study, as it is stored.
        verdict: of the study, if it has ended.
    """
    if verdict is not None and verdict.repeated and verdict.challenger is not None:
        agents = {row.label: row.agent for row in verdict.figures}
        words = ["turnier", "compare", agents[verdict.challenger], agents[verdict.reference]]
        words += ["--game", str(GAMES.make(definition["game"]))]
        command = shlex.join([*words, "--openings", str(OPENING_PLIES)]) + store_option(store)
        return f"To compare the two from many openings: {command}"
    if verdict is None or verdict.verify is None or "agent" not in definition:
        return ""
    references: Sequence[Any] = [row for row in verdict.figures if row.reference]
    if not verdict.budget or len(references) > 1:  # a script, with baselines that only it has
        return f"To play on: repeat its command with --verify {verdict.verify:g}."
    command = tune_command(store, StudyDefinition.of_stored(definition), verdict.budget, verdict.verify)
    return f"To play on: {command}"
