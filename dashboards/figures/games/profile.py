"""Profiles of games as figures: points by seat, draws and scores over the thought, and the worth of doubling it."""

from __future__ import annotations

import pandas as pd

from turnier.core.number_text import ordinal
from turnier.dashboards.figures import charts
from turnier.dashboards.figures.figure import Figure

NOTE = "Games of every strength against itself; 95 % intervals."


def points_by_seat(strengths: pd.DataFrame, thought: str, seats: int) -> Figure | None:
    """Every seat's share of the points, and the share of drawn games, at every strength; see `ProfileResults`.

    Of two seats only the first is drawn, as the other has the rest. None if nothing has been played.
    """
    named = {f"seat_{seat}": f"{ordinal(seat)} seat's points" for seat in range(1, seats + 1 if seats > 2 else 2)}
    data = _long(strengths, {**named, "drawn": "drawn games"}, 100)
    if data.empty:
        return None
    chart = charts.lines(data, "thought", "value", "low", "high", "series", (thought, "%"), log=True)
    equal = f" Equal seats have {100 / seats:.3g} % of the points each."
    return Figure("Points by seat", chart, data, NOTE + equal)


def scores(strengths: pd.DataFrame, thought: str) -> Figure | None:
    """The mean score at every strength; None if nothing has been played."""
    data = _long(strengths, {"score": "mean score"})
    if data.empty:
        return None
    chart = charts.lines(data, "thought", "value", "low", "high", "series", (thought, "mean score"), log=True)
    return Figure("Scores", chart, data, "95 % intervals.")


def worth_of_doubling(doublings: pd.DataFrame, thought: str, unit: str) -> Figure | None:
    """What every doubling of the thought gains; None if nothing has been played."""
    data = _long(doublings, {"gain": f"gain, {unit}"})
    if data.empty:
        return None
    titles = thought, f"gain over half the thought, {unit}"
    chart = charts.lines(data, "thought", "value", "low", "high", "series", titles, log=True)
    return Figure("Worth of doubling the thought", chart, data, "Games of neighbours; 95 % intervals.")


def _long(frame: pd.DataFrame, names: dict[str, str], scale: float = 1.0) -> pd.DataFrame:
    """Returns a row per row and value: thought, series, value, low, high, games."""
    parts = [
        pd.DataFrame(
            {
                "thought": frame["thought"],
                "series": series,
                **{end: scale * frame[f"{name}{suffix}"] for end, suffix in ENDS.items()},
                "games": frame["games"],
            }
        )
        for name, series in names.items()
        if name in frame
    ]
    return pd.concat(parts, ignore_index=True).dropna(subset="value") if parts else pd.DataFrame()


ENDS = {"value": "", "low": "_low", "high": "_high"}
