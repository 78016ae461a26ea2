"""The start of training: nothing, or the mean of learned weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ....core.errors import UserError
from ....games.registry import GAMES
from ..layout import Floats32, Layout, new_table
from ..network import Network
from ..weights import Weights, load_weights, read_config
from .moved import moved_weights


def described_starts(files: Sequence[Path]) -> list[dict[str, Any]]:
    """Returns the methods by which weights files were learned, and their digests; equal files are the same start."""
    found = []
    for file in files:
        config = read_config(file)
        training = config["training"]
        kept = {
            name: training[name]
            for name in ("evaluator", "learning", "seed", "done", "moves", "begins")
            if name in training
        }
        found.append({"digest": config["digest"], **kept})
    return found


def mean_start(files: Sequence[Path], network: Network, layout: Layout) -> tuple[Floats32, float]:
    """Returns a table with the mean of the files' entries, and the value of entries in no file.

    Sums of temporal coherence are averaged as well; files without them count as 0. A file without stages may begin a
    network with them: each stage begins with the same entries (promotion, Jaskowski 2016). One for another board of the
    game may begin the network of `moved_network`.
    """
    table = new_table(layout.size)
    columns, initial = layout.columns(table), np.float32(0)
    for file in files:
        weights = load_weights(file)
        if weights.network.game != network.game:
            weights = moved_weights(weights, GAMES.make(network.game))
        _require_alike(weights, network, file)
        found = weights.network.layout(not weights.values_only, in_quarters=bool(layout.quarters))
        entries = found.columns(weights.table(found))
        for sums, column in zip(columns, entries, strict=False):
            for first in range(0, layout.entries, len(column)):
                sums[first : first + len(column)] += column
        initial += np.float32(weights.initial)  # rounded like entries, so that unchanged ones equal it
    for sums in columns:
        sums /= np.float32(len(files))
    return table, float(initial / np.float32(len(files)))


def _require_alike(weights: Weights, network: Network, file: Path) -> None:
    """Raises UserError if the weights cannot begin that network."""
    without = replace(network, stages=(), phases=network.phases // (1 + len(network.stages)))
    if weights.network not in (network, without):
        raise UserError(
            f"weights to begin with must fit the network to train, got those of another from {file};"
            " leave the network out."
        )
