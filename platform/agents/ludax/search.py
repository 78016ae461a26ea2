"""The network of ludax-agents and its search: the only module that imports Ludax, haiku and mctx.

It searches as the package's own policy does, which unpickles its checkpoint: by Gumbel MuZero of mctx. The moves in the
search are made by the rules of the match, since Ludax 1.0.0 turns stones where a seat passes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import turnier.agents.deep.one_core  # noqa: F401
from turnier.agents.ludax.checkpoint import installed_checkpoint
from turnier.games.game import Position
from turnier.games.othello import Othello

import haiku as hk  # isort: skip
import jax  # isort: skip
import jax.numpy as jnp  # isort: skip
import mctx  # isort: skip
from ludax_agents.network import AZNet  # isort: skip

GAME = Othello()
WORDS = 2 * GAME.state_words  # of 32 bits, which is what jax computes with


class Seen(NamedTuple):
    """A batch of positions as the search knows them."""

    words: Any  # [batch, WORDS]
    stones: Any  # [batch, 8, 8, 2] those of the seat to move, and the other ones
    legal: Any  # [batch, 65] whether an action is; where the game is over all are
    reward: Any  # [batch] of who moved last, for that move
    over: Any  # [batch]


class Found(NamedTuple):
    """What a search found."""

    action: Any
    visits: Any  # [65]
    values: Any  # [65] means, 0 without visits
    value: Any  # the network's own value of the position


def see(position: Position, reward: float = 0.0) -> Seen:
    """Returns a batch of one position."""
    mover, legal = position.to_move, np.zeros(GAME.num_actions, bool)
    legal[position.legal_actions() if mover >= 0 else slice(None)] = True
    cells = GAME.cell_values(position.state).reshape(GAME.size, GAME.size)
    stones = np.stack([cells == 1 + mover, cells == 2 - mover], axis=-1)
    words = position.state.view(np.uint32)
    return Seen(*(np.array(part)[None] for part in (words, stones, legal, np.float32(reward), mover < 0)))


def _after(words: Any, actions: Any) -> Seen:
    """Returns a batch of one position after an action; where the game is over, the position itself."""
    position = GAME.position(np.asarray(words)[0].view(np.int64))
    mover = position.to_move
    if mover < 0:
        return see(position)
    position = position.stepped(int(np.asarray(actions)[0]))
    return see(position, float(position.returns[mover]))


@functools.cache
def _network(digest: str) -> Callable[[Any], tuple[Any, Any]]:
    """Returns the installed network: stones as of `Seen` -> logits [batch, 65], values for who moves [batch]."""
    checkpoint = installed_checkpoint(digest)
    shape = checkpoint.actions, checkpoint.channels, checkpoint.blocks, checkpoint.second_version

    def forward(stones: Any) -> Any:
        return AZNet(*shape)(stones, is_training=False, test_local_stats=False)

    network = hk.without_apply_rng(hk.transform_with_state(forward))
    weights = jax.tree.map(jnp.asarray, (checkpoint.parameters, checkpoint.statistics))
    return lambda stones: network.apply(*weights, stones)[0]


@functools.cache
def search_of(digest: str, simulations: int) -> Callable[..., Found]:
    """Returns a compiled search: (a batch of one position, scale of noise, two words of random bits) -> Found."""
    network, shapes = (
        _network(digest),
        jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype), see(GAME.start())),
    )

    def valued(seen: Any) -> tuple[Any, Any]:
        logits, values = network(seen.stones)
        return jnp.where(seen.legal, logits, jnp.finfo(logits.dtype).min), values

    def step(_: Any, __: Any, actions: Any, words: Any) -> Any:
        seen = jax.pure_callback(_after, shapes, words, actions)
        logits, values = valued(seen)
        known = {"value": jnp.where(seen.over, 0.0, values), "discount": jnp.where(seen.over, 0.0, -1.0)}
        return mctx.RecurrentFnOutput(reward=seen.reward, prior_logits=logits, **known), seen.words

    @jax.jit
    def search(seen: Seen, noise: Any, bits: npt.NDArray[np.uint32]) -> Found:
        logits, values = valued(seen)
        if not simulations:
            none = jnp.zeros(GAME.num_actions)
            return Found(jnp.argmax(logits[0]), none, none, values[0])
        policy = mctx.gumbel_muzero_policy(
            params=(),
            rng_key=bits,
            root=mctx.RootFnOutput(prior_logits=logits, value=values, embedding=seen.words),
            recurrent_fn=step,
            num_simulations=simulations,
            invalid_actions=~seen.legal,
            gumbel_scale=noise,
        )
        root = policy.search_tree.summary()
        return Found(policy.action[0], root.visit_counts[0], root.qvalues[0], values[0])

    return lambda position, noise, bits: search(see(position), np.float32(noise), bits)
