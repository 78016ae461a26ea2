"""Points and wins by parameter, opponent and number of players, from a frame of `matches_frame`."""

from __future__ import annotations

import contextlib
import functools

import pandas as pd

from ...agents.registry import AGENTS
from ...core.errors import UserError
from ...core.text_form import Spec
from .matches import SHARES, win_share

_SHARES = ["games", "different", *SHARES]


def by_parameter(frame: pd.DataFrame, parameter: str) -> pd.DataFrame:
    """Returns a row per game, agent name and value of a parameter; a nested one is written as `evaluator.empty`.

    Columns: game, name, the parameter (a number if all of its values are), and those of `win_share`. Agents without the
    parameter are left out.
    """
    by_agent = {agent: _value(agent, parameter) for agent in frame["agent"].unique().tolist()}
    values = frame["agent"].astype(str).map({agent: value for agent, value in by_agent.items() if value is not None})
    chosen = frame[values.notna()].assign(value=values[values.notna()])
    chosen["name"] = chosen["agent"].astype(str).str.split("(", n=1).str[0]
    rows = [
        {"game": game, "name": name, parameter: value, **win_share(part)}
        for (game, name, value), part in chosen.groupby(["game", "name", "value"], observed=True)
    ]
    table = pd.DataFrame(rows, columns=["game", "name", parameter, *_SHARES])
    with contextlib.suppress(ValueError):
        table[parameter] = pd.to_numeric(table[parameter])
    return table.sort_values(["game", "name", parameter], ignore_index=True)


@functools.lru_cache(maxsize=4096)
def _value(agent: str, parameter: str) -> str | None:
    """Returns an agent's parameter as text; None if it has no such parameter or its class no longer exists."""
    with contextlib.suppress(UserError):
        value: Spec | str | None = AGENTS.make(agent).spec(defaults=True)
        for name in parameter.split("."):
            value = value.parameters.get(name) if isinstance(value, Spec) else None
        return None if value is None else str(value)
    return None


def by_opponent(frame: pd.DataFrame) -> pd.DataFrame:
    """Returns a row per game, agent and opponent in the same match, with the columns of `win_share`.

    A win is one over all seats: with more than two, it tells how well the agent does in games with this opponent. An
    agent that met itself is its own opponent. Columns: game, label, opponent, and those of `win_share`.
    """
    seats = frame[["match", "game", "label", "seat", "seed", "result", "points", "repeat"]]
    pairs = seats.merge(seats[["match", "label", "seat"]], on="match", suffixes=("", "_other"))
    pairs = pairs[pairs["seat"] != pairs["seat_other"]]
    rows = [
        {"game": game, "label": label, "opponent": other, **win_share(part.drop_duplicates(["match", "seat"]))}
        for (game, label, other), part in pairs.groupby(["game", "label", "label_other"], observed=True)
    ]
    return pd.DataFrame(rows, columns=["game", "label", "opponent", *_SHARES])


def by_players(frame: pd.DataFrame) -> pd.DataFrame:
    """Returns a row per agent and number of seats, over all games. Columns: label, seats, those of `win_share`."""
    rows = [
        {"label": label, "seats": int(seats), **win_share(part)}
        for (label, seats), part in frame.groupby(["label", "seats"], observed=True)
    ]
    return pd.DataFrame(rows, columns=["label", "seats", *_SHARES])
