"""Several drivers on one cluster: their shares of workers by priority."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Mapping
from typing import NamedTuple

from .crew import Crew

GONE_SECONDS = 10.0  # after so much silence a driver is gone
SPARE_SECONDS = 10.0  # without work for all workers; then other drivers may have the idle ones
_NAMESPACE = b"turnier"
_PREFIX = b"driver:"


class Claim(NamedTuple):
    """A driver's claim: so many workers, on these nodes (None: on any)."""

    priority: float
    wanted: int
    nodes: list[str] | None = None


def divide(nodes: Mapping[str, int], claims: Mapping[str, Claim]) -> dict[str, int]:
    """Returns the number of workers of each driver, at least one.

    Each node's room is divided by the priorities of the drivers that may use it; unwanted room goes to the others.

    Args:
        nodes: room for workers by node.
        claims: by driver.
    """
    room, fixed = {node: float(count) for node, count in nodes.items()}, {}
    open_claims = dict(claims)
    while open_claims:
        parts = _parts(room, open_claims)
        content = {key: claim.wanted for key, claim in open_claims.items() if sum(parts[key].values()) >= claim.wanted}
        if not content:
            break
        for key, wanted in content.items():
            fixed[key] = float(wanted)
            total = sum(parts[key].values()) or 1.0
            for node, part in parts[key].items():
                room[node] -= part * wanted / total
            del open_claims[key]
    shares = fixed | {key: sum(_parts(room, open_claims)[key].values()) for key in open_claims}
    return _whole(shares, sum(nodes.values()))


def _parts(room: Mapping[str, float], claims: Mapping[str, Claim]) -> dict[str, dict[str, float]]:
    """Returns each driver's part of each node."""
    parts: dict[str, dict[str, float]] = {key: {} for key in claims}
    allowed = {key: None if claim.nodes is None else set(claim.nodes) for key, claim in claims.items()}
    for node, count in room.items():
        here = [key for key, nodes in allowed.items() if nodes is None or node in nodes]
        weight = sum(claims[key].priority for key in here)
        for key in here:
            parts[key][node] = count * claims[key].priority / weight
    return parts


def _whole(shares: Mapping[str, float], total: int) -> dict[str, int]:
    """Rounds shares to whole workers, at least one each, and keeps their sum if possible."""
    counts = {key: max(1, int(share + 1e-9)) for key, share in shares.items()}
    aim = min(total, round(sum(shares.values())))
    names = sorted(shares)  # so that all drivers get the same result
    while sum(counts.values()) < aim:
        counts[max(names, key=lambda key: shares[key] - counts[key])] += 1
    while sum(counts.values()) > aim and any(count > 1 for count in counts.values()):
        counts[max((key for key in names if counts[key] > 1), key=lambda key: counts[key] - shares[key])] -= 1
    return counts


class Shares:
    """This driver's share; all drivers of the cluster write their claims to Ray's key-value store every few seconds."""

    def __init__(self, priority: float) -> None:
        self._priority = priority
        self._key = _PREFIX + uuid.uuid4().hex.encode()
        self._heard: dict[bytes, tuple[bytes, float]] = {}  # by driver: its latest message and our time of it
        self._beats = 0
        self._all_busy_at, self._has_spare = time.monotonic(), False

    def note_all_busy(self) -> None:
        """Notes that there is work for all workers."""
        self._all_busy_at, self._has_spare = time.monotonic(), False

    def _wanted(self, most: int, crew: Crew) -> int:
        if crew.idle and time.monotonic() - self._all_busy_at > SPARE_SECONDS:
            self._has_spare = True  # until there is work for all again
        return max(1, len(crew) - crew.idle) if self._has_spare else most

    def of_this(self, nodes: Mapping[str, int], most: int, crew: Crew, everywhere: bool) -> int:
        """Announces this driver's claim and returns the number of workers it may have.

        Args:
            nodes: room for workers by node, on nodes that this driver may use.
            most: maximum number of workers.
            crew: its present workers.
            everywhere: whether it may use all nodes of the cluster.
        """
        from ray.experimental import internal_kv as kv

        self._beats += 1
        claim = Claim(self._priority, self._wanted(most, crew), None if everywhere else sorted(nodes))
        word = json.dumps([*claim, self._beats]).encode()
        kv._internal_kv_put(self._key, word, overwrite=True, namespace=_NAMESPACE)
        claims = {self._key.decode(): claim}
        for key in kv._internal_kv_list(_PREFIX, namespace=_NAMESPACE):
            said = kv._internal_kv_get(key, namespace=_NAMESPACE)
            if key == self._key or said is None:
                continue
            if self._is_silent(key, said):
                kv._internal_kv_del(key, namespace=_NAMESPACE)
                del self._heard[key]
            else:
                priority, most, where, _ = json.loads(said)
                claims[key.decode()] = Claim(priority, most, where)
        return divide(nodes, claims)[self._key.decode()] if len(claims) > 1 else most

    def _is_silent(self, key: bytes, said: bytes) -> bool:
        """Whether a driver has sent nothing new for long; clocks of machines differ, so only ours counts."""
        now = time.monotonic()
        if self._heard.get(key, (b"", 0.0))[0] != said:
            self._heard[key] = said, now
        return now - self._heard[key][1] > GONE_SECONDS

    def leave(self) -> None:
        """Gives this driver's workers to the others at once."""
        from ray.experimental import internal_kv as kv

        kv._internal_kv_del(self._key, namespace=_NAMESPACE)
