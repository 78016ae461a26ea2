"""The candidates of a study over several parameters at once: a contour of two, and parallel coordinates of many."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from turnier.dashboards.figures.charts import NUMBERS, thinned
from turnier.dashboards.figures.figure import Figure, styled
from turnier.search.storage.definitions import StoredRange, value_text

Values = npt.NDArray[np.float64]
CELLS = 25  # along each axis of a contour
WIDTH = 0.08  # standard deviation of the neighbourhood averaged in a cell, as a share of the range
LEAST = 2.0  # minimum weight of the candidates in a neighbourhood
MAX_LINES = 300  # candidates of parallel coordinates, evenly chosen
MAX_AXES = 8
SEEN = 0.58  # share of the scale up to which thin lines are seen on white, 3 : 1


def contour(trials: pd.DataFrame, x: str, y: str, unit: str) -> Figure | None:
    """The mean value of the candidates around each pair of values of two parameters; None if nowhere are enough."""
    done = trials[[x, y, "number", "value"]].dropna()
    across, up = _Axis(trials, x), _Axis(trials, y)
    at = np.stack([across.places(done[x]), up.places(done[y])], axis=1)
    grid = np.stack(np.meshgrid(across.middles(), up.middles(), indexing="ij"), axis=-1).reshape(-1, 2)
    width = np.array([across.neighbourhood, up.neighbourhood])
    weights = np.exp(-0.5 * (((grid[:, None] - at[None]) / width) ** 2).sum(axis=2))
    enough = weights.sum(axis=1) >= LEAST
    if not enough.any():
        return None
    means = weights[enough] @ done["value"].to_numpy(np.float64) / weights[enough].sum(axis=1)
    (left, low), (wide, high) = grid[enough].T, (across.cell, up.cell)
    edges = {"x": left - wide / 2, "x2": left + wide / 2, "y": low - high / 2, "y2": low + high / 2}
    cells = pd.DataFrame(edges | {"mean": means})
    dots = pd.DataFrame({"x": at[:, 0], "y": at[:, 1], "value": done["value"], "number": done["number"]})
    dots = dots.assign(**{x: done[x].map(value_text), y: done[y].map(value_text)})
    colour = alt.Color(
        "mean:Q", scale=alt.Scale(scheme=NUMBERS), title=unit, legend=alt.Legend(orient="top", tickCount=3)
    )
    place = {"x": across.channel("x", alt.X), "y": up.channel("y", alt.Y)}
    field = alt.Chart(cells).mark_rect().encode(**place, x2="x2", y2="y2", color=colour)
    tooltip = ["number", x, y, "value"]
    names = [alt.Tooltip(_field(name), title=name) for name in tooltip]
    ring: dict[str, Any] = {"fill": "white", "stroke": "#666", "strokeWidth": 0.8, "opacity": 0.8}
    candidates = alt.Chart(thinned(dots)).mark_circle(size=22, **ring).encode(**place, tooltip=names)
    chart = styled(alt.layer(field, candidates).properties(height=360))
    note = (
        "Colours are weighted means of nearby candidates, blank if there are too few; dots are candidates."
        " Lighter is better."
    )
    return Figure(f"{y} by {x}", chart, done.rename(columns={"number": "candidate"}), note)


def parallel_coordinates(trials: pd.DataFrame, names: Sequence[str], unit: str) -> Figure | None:
    """Each candidate as a line through its parameters, the best ones on top; None with fewer than two parameters."""
    names = [name for name in names if trials[name].notna().any()][:MAX_AXES]
    done = trials[["number", "value", *names]].dropna(subset=["value"]).sort_values("value")
    if len(names) < 2 or done.empty:
        return None
    data = done.iloc[:: max(1, math.ceil(len(done) / MAX_LINES))]
    axes = {name: _Axis(trials, name) for name in names}
    parts = [
        pd.DataFrame(
            {"parameter": name, "place": axes[name].places(data[name]), "chosen": data[name].map(value_text)}
        ).assign(number=data["number"].to_numpy(), value=data["value"].to_numpy(), order=range(len(data)))
        for name in names
    ]
    drawn = pd.concat(parts, ignore_index=True).dropna(subset=["place"])
    scheme = alt.SchemeParams(NUMBERS, extent=[0, SEEN])
    colour = alt.Color(
        "value:Q", scale=alt.Scale(scheme=scheme), title=unit, legend=alt.Legend(orient="top", tickCount=3)
    )
    label = alt.Axis(labelAngle=-20 if len(names) > 3 else 0, labelLimit=160, grid=True, domain=False)
    candidates = alt.Chart(drawn).encode(
        x=alt.X("parameter:N", sort=names, title=None, axis=label, scale=alt.Scale(padding=0.1)),
        y=alt.Y("place:Q", title=None, axis=None, scale=alt.Scale(domain=(-0.06, 1.06))),
    )
    lines = candidates.mark_line(strokeWidth=1.2).encode(detail="order:O", color=colour)
    hover = ["number:O", "parameter:N", "chosen:N", "value:Q"]
    crossings = candidates.mark_point(size=60, opacity=0).encode(tooltip=hover)
    ends = pd.DataFrame([{"parameter": n, "end": end, "text": axes[n].ends()[end]} for n in names for end in (0, 1)])
    base = alt.Chart(ends).mark_text(fontSize=11, color="#444").encode(x=alt.X("parameter:N", sort=names), text="text")
    marks = [
        base.transform_filter(alt.datum.end == end).encode(y=alt.Y("end:Q", axis=None), yOffset=alt.value(shift))
        for end, shift in ((0, 9), (1, -9))
    ]
    note = (
        f"Each line is a candidate ({len(data):,} of {len(done):,}); lighter is better. Axes show the searched ranges;"
        " a line skips the parameters that its candidate does not use."
    )
    return Figure(
        "Parameters of all candidates", styled(alt.layer(lines, crossings, *marks).properties(height=340)), done, note
    )


class _Axis:
    """A parameter's range as places from 0 to 1: choices in equal steps, numbers on their scale."""

    def __init__(self, trials: pd.DataFrame, name: str) -> None:
        self.name = name
        self.searched: StoredRange = trials.attrs["ranges"][name]

    @property
    def steps(self) -> int:
        """Number of cells: one for each choice or whole number if these are few."""
        if self.searched.choices:
            return len(self.searched.choices)
        few = self.searched.whole and not self.searched.log and self.searched.high - self.searched.low < CELLS
        return int(self.searched.high - self.searched.low) + 1 if few else 0

    @property
    def cell(self) -> float:
        """Width of a cell, as a share of the range."""
        return 1 / max(1, self.steps - 1) if self.steps else 1 / CELLS

    @property
    def neighbourhood(self) -> float:
        return self.cell / 10 if self.searched.choices else max(WIDTH, self.cell / 2)

    def middles(self) -> Values:
        return np.linspace(0, 1, self.steps) if self.steps else (np.arange(CELLS) + 0.5) / CELLS

    def places(self, values: pd.Series) -> Values:
        low, high, choices = self.searched.low, self.searched.high, self.searched.choices
        if choices:
            low, high = 0, max(1, len(choices) - 1)
            values = values.map(lambda value: math.nan if pd.isna(value) else choices.index(value))
        numbers = values.to_numpy(np.float64)
        if self.searched.log:
            return np.asarray(np.log(numbers / low) / math.log(high / low), np.float64)
        return np.asarray((numbers - low) / (high - low), np.float64)

    def ends(self) -> tuple[str, str]:
        """Returns the values at the lower and the upper end."""
        known = self.searched.choices or (self.searched.low, self.searched.high)
        return value_text(known[0]), value_text(known[-1])

    def channel(self, field: str, kind: Any) -> Any:
        """Returns the axis of a chart, with the parameter's own values as labels."""
        ticks = pd.Series(self.searched.choices or self._round_numbers(), dtype=object)
        texts = dict(zip(self.places(ticks).round(6).tolist(), ticks.map(value_text), strict=True))
        words = " : ".join(f"abs(datum.value - {place}) < 1e-5 ? {text!r}" for place, text in texts.items())
        axis = alt.Axis(values=list(texts), labelExpr=f"{words} : ''")
        margin = self.cell / 2 if self.steps else 0.02
        scale = alt.Scale(domain=(-margin, 1 + margin), nice=False)
        return kind(f"{field}:Q", title=self.name, axis=axis, scale=scale)

    def _round_numbers(self) -> list[float]:
        low, high = self.searched.low, self.searched.high
        if self.searched.log:
            powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
            numbers = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
        else:
            rough = (high - low) / 6
            unit = 10.0 ** math.floor(math.log10(rough))
            step = max(
                unit * next(digit for digit in (1, 2, 5, 10) if digit * unit >= rough), float(self.searched.whole)
            )
            numbers = [n * step for n in range(math.ceil(low / step), math.floor(high / step) + 1)]
        return [number for number in numbers if low <= number <= high]


def _field(name: str) -> str:
    """Returns a column's name for Vega-Lite, with its special dots and brackets escaped."""
    return name.replace(".", "\\.").replace("[", "\\[")
