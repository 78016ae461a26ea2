"""One step of deep Q-learning by gradient, in jax."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import one_core  # noqa: F401
from .learning import DeepQ
from .network import Floats32, Network

import jax  # isort: skip
import jax.numpy as jnp  # isort: skip
import optax  # isort: skip

LONGEST_GRADIENT = 10.0  # longer ones are scaled down to this length


class Lesson(NamedTuple):
    """A batch of moves: inputs, actions and rewards, and the inputs at which the target network continues."""

    inputs: npt.NDArray[np.int8]  # [batch, 1, places]: with input=each, of the action played
    gains: Floats32  # [batch, 1] its immediate reward, with input=each
    outputs: npt.NDArray[np.int64]  # [batch] the output that values it
    rewards: Floats32  # [batch] discounted, of all steps
    factors: Floats32  # [batch] of the value that follows: 0 = the game is over, negative: it is the other seat's
    next_inputs: npt.NDArray[np.int8]  # [batch, views, places]
    next_gains: Floats32  # [batch, views]
    next_masks: npt.NDArray[np.int8]  # [batch, actions] 1 = legal


class Learned(NamedTuple):
    """The state of the updates."""

    weights: Any  # [size] float32
    target: Any  # [size] float32: the target network
    count: Any  # updates, of Adam
    mean: Any  # [size] of gradients, of Adam
    square: Any  # [size] of gradients, of Adam

    @classmethod
    def new(cls, weights: Floats32) -> Learned:
        zero = np.zeros_like(weights)
        return cls(weights, weights, np.zeros((), np.int32), zero, zero)

    def to_numpy(self) -> Learned:
        return Learned(*(np.asarray(array) for array in self))


def network_values(network: Network, weights: Any, inputs: Any, gains: Any) -> Any:
    """Returns the values of turned actions, [batch, actions], or with input=each of views, [batch, views].

    Args:
        network: its shape.
        weights: [size], see `Network.shapes`.
        inputs: [batch, views, places]
        gains: [batch, views] immediate rewards of the actions, with input=each.
    """
    parts, at = [], 0
    for shape in network.shapes():
        size = int(np.prod(shape))
        parts.append(weights[at : at + size].reshape(shape))
        at += size
    layer = jax.nn.one_hot(inputs, network.kinds, dtype=jnp.float32).reshape(-1, parts[0].shape[0])
    outputs = 2 * network.streams
    hidden = parts[:-outputs]
    for matrix, bias in zip(hidden[::2], hidden[1::2], strict=True):
        layer = jax.nn.relu(layer @ matrix + bias)
    if network.each:
        return (layer @ parts[-2] + parts[-1]).reshape(gains.shape) + gains
    if network.streams == 1:
        return layer @ parts[-2] + parts[-1]
    half = layer.shape[1] // 2
    worth = layer[:, :half] @ parts[-4] + parts[-3]
    gains = layer[:, half:] @ parts[-2] + parts[-1]
    return worth + gains - gains.mean(axis=1, keepdims=True)


def targets(values: Any, target_values: Any, lesson: Lesson, double: bool) -> Any:
    """Returns the target values of a batch's actions, [batch].

    Args:
        values: [batch, actions] of the next states by the network.
        target_values: [batch, actions] of the next states by the target network.
        lesson: rewards, factors, and which actions are legal there.
        double: whether the network chooses the action instead of the target network.
    """
    legal = lesson.next_masks > 0
    chosen = jnp.argmax(jnp.where(legal, values if double else target_values, -jnp.inf), axis=1)
    ahead = jnp.take_along_axis(target_values, chosen[:, None], axis=1)[:, 0]
    return lesson.rewards + lesson.factors * ahead


@functools.lru_cache(maxsize=16)
def update_of(network: Network, learning: DeepQ) -> Any:
    """Returns the compiled update: (learned, learning rate, lesson) -> (learned, mean loss)."""
    adam = optax.scale_by_adam()
    limit = optax.clip_by_global_norm(LONGEST_GRADIENT)

    def loss(weights: Any, wanted: Any, lesson: Lesson) -> Any:
        values = network_values(network, weights, lesson.inputs, lesson.gains)
        own = jnp.take_along_axis(values, lesson.outputs[:, None], axis=1)[:, 0]
        return optax.losses.huber_loss(own, wanted, delta=learning.clip).mean()

    @jax.jit
    def update(learned: Learned, rate: Any, lesson: Lesson) -> tuple[Learned, Any]:
        following = lesson.next_inputs, lesson.next_gains
        target_values = network_values(network, learned.target, *following)
        values = network_values(network, learned.weights, *following) if learning.double else target_values
        wanted = targets(values, target_values, lesson, learning.double)
        value, gradient = jax.value_and_grad(loss)(learned.weights, wanted, lesson)
        gradient, _ = limit.update(gradient, optax.EmptyState())
        state = optax.ScaleByAdamState(learned.count, learned.mean, learned.square)
        step, state = adam.update(gradient, state)
        moved = learned.weights - rate * step
        return Learned(moved, learned.target, state.count, state.mu, state.nu), value

    return update
