"""Games that no search has seen: how studies end."""

from __future__ import annotations

from collections.abc import Mapping

from turnier.agents.agent import Agent
from turnier.arena.match import MatchRecord, MatchSpec
from turnier.arena.workers.executor import Executor
from turnier.results.store.store import Store
from turnier.runs.bar import run_bar
from turnier.runs.play import play_into
from turnier.search.objective import Objective, Unit


def play_fresh(
    store: Store, run_id: str, objective: Objective, agents: Mapping[str, Agent], units: int, executor: Executor
) -> tuple[dict[str, list[Unit]], dict[str, MatchRecord]]:
    """Plays the same held-out units for every agent; returns the units by label, in seed order, and all records."""
    wanted = {
        label: [objective.held_out_unit(agent.full_text(), n) for n in range(units)] for label, agent in agents.items()
    }
    specs: dict[str, MatchSpec] = {spec.id: spec for its in wanted.values() for unit in its for spec in unit}
    records: dict[str, MatchRecord] = {}
    with run_bar(store, run_id, "held-out games", len(specs)) as bar:
        for batch in play_into(store, run_id, list(specs.values()), executor):
            records |= {record.spec.id: record for record in batch}
            bar.advance(len(batch))
    return wanted, records
