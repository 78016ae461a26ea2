"""The results of tournaments."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ...agents.registry import label_of
from ...arena.schedules.adaptive import AdaptiveTournament
from ...core.errors import UserError
from ...core.number_text import number
from ..results import RunResults
from ..tournament import Tournament


@dataclass(frozen=True, repr=False)
class TournamentResults(RunResults):
    """The results of a tournament."""

    @cached_property
    def tournament(self) -> Tournament | None:
        """The latest plan; None if something that it names no longer exists."""
        try:
            return Tournament.of_run(self.store, self.store.run(self.id))
        except UserError:
            return None

    @cached_property
    def adaptive(self) -> AdaptiveTournament | None:
        """The state of an adaptive tournament after these games; None for other formats."""
        if self.store.run(self.id).definition.get("format") != "adaptive":  # making a plan loads kernels
            return None
        schedule = self.tournament.adaptive() if self.tournament else None
        if schedule is None:
            return None
        stored = {record.spec.id: record for some in self.store.records_of_run(self.id) for record in some}
        rounds = schedule.rounds()
        specs = next(rounds, None)
        while specs is not None and all(spec.id in stored for spec in specs):
            try:
                specs = rounds.send([stored[spec.id] for spec in specs])
            except StopIteration:
                break
        return schedule

    def first_places(self) -> str:
        """A sentence on the certainty of the first places of an adaptive tournament; empty for other formats."""
        if not (self.adaptive and self.tournament):
            return ""
        leaders = ", ".join(f"{place}. {label_of(agent)}" for place, agent in enumerate(self.adaptive.leaders(), 1))
        certain = f"certain to {number(100 * self.adaptive.certainty)} % after {self.adaptive.games:,} games"
        if self.adaptive.certainty >= self.tournament.certainty:
            return f"The first places are {certain}: {leaders}."
        return f"The first places are not yet decided, only {certain}, see --games: {leaders}."
