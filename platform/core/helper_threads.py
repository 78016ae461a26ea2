"""Helper threads that cooperate on one decision at a time.

A helper stays inside compiled code, in `serve`, and sleeps there on a condition variable of the C library until there
is work: starting threads for each decision would take a considerable part of a short one. The calling thread writes the
work into shared arrays and does a share of it itself.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .atomics import PLAIN, load, store, yield_processor
from .compilation.late_numba import JIT, external_function, types
from .kernel import compile_kernel, kernel, pointer
from .packing import Package

# Words of a post, the array through which helpers are called; the last three take up 16 each.
WORK, SHARE_DONE, GONE, HELPERS, MUTEX, THERE_IS_WORK, ALL_DONE = 0, 1, 2, 3, 8, 24, 40
WORDS = 56
STOP = -1  # value of WORK that ends the helpers
SPINS = 1_000 if JIT else 0  # looks at WORK, half a microsecond or more each, before a helper sleeps

LINE = 16  # words between the data of two cores, so that they do not disturb each other: two cache lines

Post = types.Array(types.int64, 1, "C")
SHARE = types.void(Package, Post)  # (a helper's packed arguments, post): does the helper's share of the work
_ADDRESS = types.intp

if JIT:
    mutex_init = external_function("pthread_mutex_init", types.int32(_ADDRESS, _ADDRESS))
    mutex_lock = external_function("pthread_mutex_lock", types.int32(_ADDRESS))
    mutex_unlock = external_function("pthread_mutex_unlock", types.int32(_ADDRESS))
    condition_init = external_function("pthread_cond_init", types.int32(_ADDRESS, _ADDRESS))
    condition_wait = external_function("pthread_cond_wait", types.int32(_ADDRESS, _ADDRESS))
    condition_broadcast = external_function("pthread_cond_broadcast", types.int32(_ADDRESS))
else:  # one condition variable for all posts: a thread woken for nothing waits again

    def mutex_init(mutex: int, attributes: int) -> None: ...

    def condition_init(condition: int, attributes: int) -> None: ...

    def mutex_lock(mutex: int) -> None:
        PLAIN.acquire()

    def mutex_unlock(mutex: int) -> None:
        PLAIN.release()

    def condition_wait(condition: int, mutex: int) -> None:
        PLAIN.wait()

    def condition_broadcast(condition: int) -> None:
        PLAIN.notify_all()


@kernel(_ADDRESS(Post, types.int64))
def address_of(post, word):
    return post.ctypes.data + 8 * word


@kernel(types.void(Post, types.int64))
def open_post(post, helpers):
    """Prepares a zeroed post for a number of helpers."""
    post[HELPERS] = helpers
    mutex_init(address_of(post, MUTEX), 0)
    condition_init(address_of(post, THERE_IS_WORK), 0)
    condition_init(address_of(post, ALL_DONE), 0)


@kernel(types.int64(Post, types.int64))
def await_work(post, seen):
    """Waits until WORK is no longer `seen`, and returns it."""
    for _ in range(SPINS):
        if load(post, WORK) != seen:
            break
        yield_processor()
    mutex_lock(address_of(post, MUTEX))
    while post[WORK] == seen:
        condition_wait(address_of(post, THERE_IS_WORK), address_of(post, MUTEX))
    work = post[WORK]
    mutex_unlock(address_of(post, MUTEX))
    return work


@kernel(types.void(Post, types.int64))
def count_in(post, word):
    """Counts one more helper that has done its share (SHARE_DONE) or has ended (GONE)."""
    mutex_lock(address_of(post, MUTEX))
    post[word] += 1
    if post[GONE] > 0 or post[SHARE_DONE] == post[HELPERS]:
        condition_broadcast(address_of(post, ALL_DONE))
    mutex_unlock(address_of(post, MUTEX))


@kernel(types.void(types.FunctionType(SHARE), Package, Post))
def serve(share, packed, post):
    """Does share after share until the helpers are dismissed."""
    work = await_work(post, 0)
    while work != STOP:
        share(packed, post)
        count_in(post, SHARE_DONE)
        work = await_work(post, work)


@kernel(types.void(Post))
def call_helpers(post):
    """Hands out the next work to all helpers."""
    mutex_lock(address_of(post, MUTEX))
    post[SHARE_DONE] = 0
    store(post, WORK, post[WORK] + 1)
    condition_broadcast(address_of(post, THERE_IS_WORK))
    mutex_unlock(address_of(post, MUTEX))


@kernel(types.void(Post))
def await_helpers(post):
    """Waits until each helper has done its share, or one is gone."""
    mutex_lock(address_of(post, MUTEX))
    while post[SHARE_DONE] < post[HELPERS] and post[GONE] == 0:
        condition_wait(address_of(post, ALL_DONE), address_of(post, MUTEX))
    mutex_unlock(address_of(post, MUTEX))


@kernel(types.void(Post))
def dismiss(post):
    """Ends all helpers."""
    mutex_lock(address_of(post, MUTEX))
    post[WORK] = STOP
    condition_broadcast(address_of(post, THERE_IS_WORK))
    mutex_unlock(address_of(post, MUTEX))


class HelperThreads:
    """The helpers of one player; they end with it, and never keep it alive."""

    def __init__(self, share: Any, arguments: Sequence[Any]) -> None:
        """Prepares one helper for each of the packed `arguments` of the kernel `share`, declared as SHARE."""
        self._share, self._arguments = pointer(share, SHARE), arguments
        self._process = -1  # the process of the threads; a fork leaves them behind

    def __getstate__(self) -> dict[str, Any]:
        """Leaves out the threads: a copy starts its own."""
        return {"_share": self._share, "_arguments": self._arguments, "_process": -1}

    def lead(self, kernel: Any, *arguments: Any) -> Any:
        """Returns the result of a kernel that calls the helpers; its last argument is the post."""
        if self._process != os.getpid():
            self._start()
        result = kernel(*arguments, self._post)
        if self._post[GONE]:
            raise RuntimeError("a helper thread of a search has ended with an error")
        return result

    def _start(self) -> None:
        for one in (serve, open_post, count_in, dismiss):
            compile_kernel(one)
        process = os.getpid()
        self._post: npt.NDArray[np.int64] = np.zeros(WORDS, np.int64)
        open_post(self._post, len(self._arguments))
        end = weakref.finalize(self, _dismiss_in, process, self._post)
        end.atexit = False  # a process exits with its helpers asleep; awake, they would ask for a GIL that is gone
        try:
            for packed in self._arguments:
                work = (self._share, packed, self._post)
                threading.Thread(target=_serve_until_dismissed, args=work, name="turnier search", daemon=True).start()
        except BaseException:  # the system gives no more threads
            end()
            raise
        self._process = process


def _serve_until_dismissed(share: Any, packed: Any, post: npt.NDArray[np.int64]) -> None:
    try:
        serve(share, packed, post)
    finally:
        count_in(post, GONE)


def _dismiss_in(process: int, post: npt.NDArray[np.int64]) -> None:
    if process == os.getpid():
        dismiss(post)
