"""Inference of a residual network and one step of its learning by gradient, in jax."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..deep import one_core  # noqa: F401
from .kernels import HEADS
from .network import Floats32, Network

import jax  # isort: skip
import jax.numpy as jnp  # isort: skip
import optax  # isort: skip

IMPOSSIBLE = -1e9  # logit of an action that is not legal


class Lesson(NamedTuple):
    """A batch of positions, as the seat to move sees them, and their targets."""

    seen: npt.NDArray[np.int8]  # [batch, cells] 0 = empty, 1 = own, 2 = the other's
    second: npt.NDArray[np.int8]  # [batch] whether the second seat is to move
    values: Floats32  # [batch] from -1 to 1
    legal: npt.NDArray[np.int8]  # [batch, actions] 1 = legal; all 0 if there is no policy to learn
    policies: Floats32  # [batch, actions] shares


class Learned(NamedTuple):
    """The state of the updates."""

    weights: Any  # [size] float32
    count: Any  # updates, of Adam
    mean: Any  # [size] of gradients, of Adam
    square: Any  # [size] of gradients, of Adam

    @classmethod
    def new(cls, weights: Floats32) -> Learned:
        zero = np.zeros_like(weights)
        return cls(weights, np.zeros((), np.int32), zero, zero)

    def to_numpy(self) -> Learned:
        return Learned(*(np.asarray(array) for array in self))


def say_of(network: Network, parts: list[Any], seen: Any, second: Any) -> tuple[Any, Any]:
    """Returns values, [batch], and the logits of all actions, [batch, actions].

    Args:
        network: its shape.
        parts: its weights, see `Network.parts`.
        seen, second: see `Lesson`.
    """
    places = network.game.grid()
    rows, columns = (places.max(axis=0) + 1).tolist()
    own, other = ((seen == stone).astype(jnp.float32) for stone in (1, 2))
    turn = jnp.broadcast_to(second.astype(jnp.float32)[:, None], own.shape)
    planes = jnp.stack([own, other, jnp.ones_like(own), turn], axis=-1)  # in the order of `fill_planes`
    layer = jnp.zeros((len(seen), rows, columns, planes.shape[-1])).at[:, places[:, 0], places[:, 1]].set(planes)
    inside = np.zeros((rows, columns, 1), np.float32)
    inside[places[:, 0], places[:, 1]] = 1

    def convolve(number: int, layer: Any) -> Any:
        matrix, bias = parts[2 * number], parts[2 * number + 1]
        side = round(matrix.shape[0] ** 0.5)
        square = matrix.reshape(side, side, *matrix.shape[1:])
        made = jax.lax.conv_general_dilated(layer, square, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return (made + bias) * inside  # 0 outside the board

    layer = jax.nn.relu(convolve(0, layer))
    for block in range(network.blocks):
        inner = jax.nn.relu(convolve(1 + 2 * block, layer))
        layer = jax.nn.relu(layer + convolve(2 + 2 * block, inner))
    heads = jax.nn.relu(convolve(1 + 2 * network.blocks, layer))[:, places[:, 0], places[:, 1]]
    policy, value = (heads[..., part].reshape(len(seen), -1) for part in (slice(HEADS), slice(HEADS, None)))
    matrices, biases = parts[-6::2], parts[-5::2]
    hidden = jax.nn.relu(value @ matrices[1] + biases[1])
    return jnp.tanh(hidden @ matrices[2] + biases[2])[:, 0], policy @ matrices[0] + biases[0]


def losses(network: Network, parts: list[Any], lesson: Lesson) -> tuple[Any, Any]:
    """Returns the mean squared error of values, and the mean cross-entropy of the policies to learn."""
    values, logits = say_of(network, parts, lesson.seen, lesson.second)
    known = jax.nn.log_softmax(jnp.where(lesson.legal > 0, logits, IMPOSSIBLE), axis=1)
    entropies = -(lesson.policies * known).sum(axis=1)
    return ((values - lesson.values) ** 2).mean(), entropies.sum() / jnp.maximum(lesson.policies.sum(), 1)


@functools.lru_cache(maxsize=16)
def saying(network: Network) -> Any:
    """Returns the compiled network: (weights, seen, second) -> (values, logits)."""
    return jax.jit(lambda weights, seen, second: say_of(network, network.parts(weights), seen, second))


@functools.lru_cache(maxsize=16)
def update_of(network: Network) -> Any:
    """Returns the compiled update: (learned, learning rate, decay, lesson) -> (learned, sum of both losses).

    It uses Adam; weights decay by a share of the learning rate. Sources: Kingma and Ba 2015; Loshchilov and Hutter
    2019.
    """
    adam = optax.scale_by_adam()

    @jax.jit
    def update(learned: Learned, rate: Any, decay: Any, lesson: Lesson) -> tuple[Learned, Any]:
        def loss(parts: list[Any]) -> Any:
            return sum(losses(network, parts, lesson))

        value, gradients = jax.value_and_grad(loss)(network.parts(learned.weights))
        gradient = jnp.concatenate([part.ravel() for part in gradients])
        state = optax.ScaleByAdamState(learned.count, learned.mean, learned.square)
        step, state = adam.update(gradient, state)
        moved = learned.weights - rate * (step + decay * learned.weights)
        return Learned(moved, state.count, state.mu, state.nu), value

    return update
