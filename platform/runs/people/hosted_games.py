"""Games with people in the store: a run of kind `play` for each game and its agents."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import replace

from ...arena.hosted_match import HostedMatch, plies_of
from ...arena.match import MatchRecord, MatchSpec, Termination, derive_seed
from ...core.errors import UserError
from ...results.store.store import Store

KIND = "play"


def run_id_of(spec: MatchSpec) -> str:
    """Returns the id of the run to which games of these agents belong, regardless of seats and seeds."""
    return f"{KIND}:{derive_seed(json.dumps(_definition(spec))):016x}"


def store_game(store: Store, record: MatchRecord) -> str:
    """Stores a finished or unfinished game, replacing an earlier unfinished record; returns its run.

    Raises UserError if another game of these agents in these seats with this seed is stored; that one stays.
    """
    run_id = run_id_of(record.spec)
    store.begin_run(run_id, KIND, record.spec.game, _definition(record.spec))
    if not store.append(run_id, [record]) and store.records([record.spec.id])[0].plies != record.plies:
        raise UserError(
            f"a game of these agents needs a new seed, got {record.spec.seed}, with which another game is"
            " stored; begin a new game."
        )
    return run_id


def unfinished(store: Store, spec: MatchSpec) -> MatchRecord | None:
    """Returns the stored record of an unfinished game, or None."""
    found = next(iter(store.records([spec.id])), None)
    return found if found is not None and found.termination is Termination.UNFINISHED else None


def next_seed(store: Store, game: str, agents: tuple[str, ...]) -> int:
    """Returns the first seed, from 1, with which no game of these agents in these seats is finished.

    Args:
        store: has the finished games.
        game: full text of the game.
        agents: full text of the agent in each seat.
    """
    seed = 1
    while True:
        found = store.records([MatchSpec(game, agents, seed).id])
        if not found or found[0].termination is Termination.UNFINISHED:
            return seed
        seed += 1


def unused(store: Store, spec: MatchSpec, taken: Collection[str]) -> MatchSpec:
    """Returns a match with the first seed, from its own on, that is not taken and has no stored match, even unfinished.

    Args:
        store: has the games.
        spec: the match.
        taken: ids of matches that are being played.
    """
    while spec.id in taken or store.records([spec.id]):
        spec = replace(spec, seed=spec.seed + 1)
    return spec


def resume_stored(store: Store, match: HostedMatch) -> bool:
    """Continues a match from its stored unfinished record; returns whether there was one."""
    record = unfinished(store, match.spec)
    if record is not None:
        match.resume(plies_of(record))
    return record is not None


def _definition(spec: MatchSpec) -> dict[str, object]:
    return {"game": spec.game, "agents": sorted(set(spec.agents))}
