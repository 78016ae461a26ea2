"""Puts off garbage collection where many objects are made that stay: going through them takes long and frees little."""

from __future__ import annotations

import gc

MANY = 500_000  # objects: more than a command's imports make


class _Collection:
    def __init__(self) -> None:
        self._put_off = self._usual = 0  # thresholds of the youngest generation; 0 = not put off

    def put_off(self) -> None:
        """Puts off the next garbage collection until MANY more objects are in use; then it is as frequent as before."""
        now = gc.get_threshold()[0]
        self._usual = self._usual if now == self._put_off else now
        self._put_off = gc.get_count()[0] + MANY
        gc.set_threshold(self._put_off)
        if self._as_usual not in gc.callbacks:
            gc.callbacks.append(self._as_usual)

    def _as_usual(self, phase: str, info: dict[str, int]) -> None:
        gc.callbacks.remove(self._as_usual)
        if gc.get_threshold()[0] == self._put_off:  # workers set one of their own
            gc.set_threshold(self._usual)
        self._put_off = 0


collect_later = _Collection().put_off
