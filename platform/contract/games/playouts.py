"""The laws of chance and playouts: a game's fast kernels agree with its plain ones, and seeds reproduce games."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
import scipy

from ...core.rng import stream, streams
from ...games import generic
from ...games.abi import CHANCE, TERMINAL
from ...games.game import Game, NumArray
from ..law import LawBroken
from .random_games import (
    DRAWS,
    MAX_Z,
    SEEDS,
    UNLIMITED,
    chance_outcomes,
    playout_results,
    scratch,
    some_nodes,
    start_state,
    walk,
    words,
    z_scores,
)

TINY_P = 1e-6
JOBS = 150  # of playouts side by side, more than any processor has lanes


class Played(NamedTuple):
    """The results of playouts, a row for each job."""

    rngs: NumArray
    gains: NumArray
    ended: NumArray

    @classmethod
    def nothing(cls, game: Game, seed: int) -> Played:
        return cls(streams(seed, JOBS), np.zeros((JOBS, game.num_seats)), np.zeros(JOBS, np.int64))


def law_sample_chance(game: Game) -> None:
    """`sample_chance` draws the outcomes that `chance` lists, with its probabilities."""
    if not game.kernels.has_sample_chance:
        return
    rng = stream(1)
    at_chance = [node for seed in SEEDS for node in walk(game, seed) if node.mover == CHANCE]
    if not at_chance:
        raise LawBroken(f"{game} has sample_chance, so its games must have chance nodes, got none in {len(SEEDS)}")
    for node in at_chance[:: len(at_chance) // 6 + 1]:
        outcomes, probs = chance_outcomes(game, node.state)
        drawn = [int(game.kernels.sample_chance(node.state, rng)) for _ in range(DRAWS)]
        if not set(drawn) <= set(outcomes):
            raise LawBroken(f"sample_chance of {game} must draw from {outcomes}, got {set(drawn)} {node}")
        shares = [drawn.count(outcome) / DRAWS for outcome in outcomes]
        if scipy.stats.chisquare(np.array(shares) * DRAWS, np.array(probs) * DRAWS).pvalue < TINY_P:
            raise LawBroken(
                f"sample_chance of {game} must draw like chance, {outcomes} with {probs}, got the shares {shares} in"
                f" {DRAWS:,} draws {node}"
            )


def law_playout_distribution(game: Game) -> None:
    """The game's own playout agrees with the generic one in mean returns, plies, finished games and final cells."""
    if not game.kernels.has_playout:
        return
    for node in some_nodes(game, SEEDS[:2]):
        for depth in (4, UNLIMITED):
            own, generic_ones = (playout_results(game, node.state, depth, fused) for fused in (True, False))
            apart = np.flatnonzero(z_scores(own, generic_ones) >= MAX_Z)
            if apart.size:
                columns = [f"return of seat {seat}" for seat in range(game.num_seats)] + ["plies", "share of ends"]
                columns += [f"value of cell {cell}" for cell in range(game.num_cells)]
                pairs = [(columns[i], own[:, i].mean(), generic_ones[:, i].mean()) for i in apart[:3]]
                means = ", ".join(f"{what} {got:.4g}, not {expected:.4g}" for what, got, expected in pairs)
                raise LawBroken(
                    f"playout of {game} must be like the generic one, which plays evenly drawn legal actions, got"
                    f" means of {len(own):,} to depth {depth}: {means} {node}"
                )


def law_playout_depth(game: Game) -> None:
    """A playout makes `depth` plies, or fewer if the game ends, and never stops at a chance node."""
    for node, depth in itertools.product(some_nodes(game, SEEDS), (0, 1, 2, 7)):
        for fused in (False, True) if game.kernels.has_playout else (False,):
            state, returns = node.state.copy(), np.zeros(game.num_seats)
            if fused:
                plies = game.kernels.playout(state, depth, stream(1), returns)
            else:
                plies = generic.generic_playout(game.kernels, state, depth, stream(1), returns, *scratch(game))
            mover = game.kernels.to_move(state)
            what = f"of a playout of {game} to depth {depth}"
            if not 0 <= plies <= depth or (plies != depth and mover != TERMINAL):
                raise LawBroken(f"the plies {what} must be {depth}, or fewer if the game ends, got {plies} {node}")
            if mover == CHANCE:
                raise LawBroken(f"the end {what} must not be a chance node, got {words(state)} {node}")
            if plies == 0 and node.mover != CHANCE and (returns.any() or not np.array_equal(state, node.state)):
                raise LawBroken(f"the state {what} must stay as it is without a ply, got {words(state)} {node}")


def law_playouts_side_by_side(game: Game) -> None:
    """`playouts` plays the same as `playout` one at a time, whichever jobs share the lanes, and whenever they come."""
    kernels = game.kernels
    if not kernels.has_playouts:
        return
    starts = [node.state for node in some_nodes(game, SEEDS)]
    states = np.array((starts * JOBS)[:JOBS])
    counts, before = np.arange(JOBS) % 3 + 1, states.copy()
    for depth in (0, 3, UNLIMITED):
        found, alone = Played.nothing(game, depth), Played.nothing(game, depth)
        lanes, done, waiting = np.zeros(kernels.lane_words, np.int64), np.zeros(JOBS, np.int64), np.ones(JOBS, np.int64)
        waiting[JOBS // 2 :] = 0  # they come later, while some of the first are under way
        finished: list[int] = []
        for enough in (1, JOBS):
            n = kernels.playouts(states, counts, waiting, depth, *found, lanes, enough, done)
            finished += done[:n].tolist()
            waiting[JOBS // 2 :] = int(enough == 1)
        for job in range(JOBS):
            for _ in range(counts[job]):
                state = states[job].copy()
                kernels.playout(state, depth, alone.rngs[job], alone.gains[job])
                alone.ended[job] += kernels.to_move(state) == TERMINAL
        if sorted(finished) != list(range(JOBS)):
            raise LawBroken(f"playouts of {game} must finish each of {JOBS} jobs once, got {len(finished)}")
        if not np.array_equal(states, before):
            raise LawBroken(f"playouts of {game} must leave the states as they are")
        for what, got, expected in zip(Played._fields, found, alone, strict=True):
            for job in np.flatnonzero([not np.array_equal(*pair) for pair in zip(got, expected, strict=True)])[:1]:
                raise LawBroken(
                    f"playouts of {game} must play the same as playout one at a time to depth {depth}, got as {what}"
                    f" {got[job]}, not {expected[job]}, from the state {words(states[job])}"
                )


def law_seeds_reproduce(game: Game) -> None:
    """A seed always gives the same start, the same playouts and the same generator afterwards, bit for bit."""
    for seed in SEEDS:
        runs = []
        for _ in range(2):
            rng, returns = stream(seed), np.zeros(game.num_seats)
            state = start_state(game, rng)
            start = state.copy()
            if game.kernels.has_playout:
                game.kernels.playout(state, 4, rng, returns)
            generic.generic_playout(game.kernels, state, UNLIMITED, rng, returns, *scratch(game))
            runs.append({"start": start, "final state": state, "returns": returns, "random stream": rng})
        for what, one in runs[0].items():
            if not np.array_equal(one, runs[1][what], equal_nan=what == "returns"):
                got = f"{words(one)} and then {words(runs[1][what])}"
                raise LawBroken(f"seed {seed} of {game} must always give the same game, got as {what} {got}")
