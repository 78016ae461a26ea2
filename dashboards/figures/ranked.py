"""Charts of many agents, distinguished by rank: who beats whom, and strength against cost."""

from __future__ import annotations

import json
import math
from typing import Any

import altair as alt
import pandas as pd

from turnier.core.number_text import DIGITS
from turnier.core.terminal.visible import visible
from turnier.dashboards.colours import COLOURS
from turnier.dashboards.figures.charts import DARK, NUMBERS, TOLD, told
from turnier.dashboards.figures.figure import styled
from turnier.dashboards.links import SIDES
from turnier.dashboards.summaries.matches import WINDOW

MAX_TEXTS = 16  # agents whose cells have intervals, too
MAX_NAMES = 8  # maximum number of agents with names at their dots
MAX_NUMBERS = 30  # maximum number of agents with numbers at all dots, and in all cells: of more, where a pair differs
NARROW = "windowSize()[0] < 640"  # a phone, in Vega's language; pictures have no window and are not narrow
_TICKS = 50  # at most, on the axis of costs
_STEPS = ((MAX_TEXTS, 40), (MAX_NUMBERS, 22), (WINDOW, 18))  # agents -> px of a row


def square(cells: pd.DataFrame) -> Any:
    """Returns a chart with selectable cells.

    Args:
        cells: a row for every agent and opponent: place and against_place, agent and against, points (%, dark to
            light), games, and the texts "points, %", "won-drawn-lost", p, share, interval, and whole: the share
            where there is little room.
    """
    names = cells[["place", "agent"]].drop_duplicates().sort_values("place").to_numpy().tolist()
    labels = {str(place): f"{place}  {visible(agent)}" for place, agent in names}
    small = len(labels) > MAX_TEXTS
    look: dict[str, Any] = {"labelFontSize": 10 if small else 12, "labelOverlap": "greedy"}
    rows = alt.Axis(labelExpr=f"{NARROW} ? datum.label : {json.dumps(labels)}[datum.label]", labelLimit=260, **look)
    texts = [alt.Tooltip(f"{name}:N") for name in ("agent", "against", "points, %", "won-drawn-lost", "p")]
    base = alt.Chart(cells).encode(
        x=alt.X("against_place:O", title="against", axis=alt.Axis(orient="top", labelAngle=0, **look)),
        y=alt.Y("place:O", title=None, axis=rows),
        tooltip=[*texts, alt.Tooltip("games:Q", format=",")],
    )
    fill = alt.Color("points:Q", scale=alt.Scale(scheme=NUMBERS, domain=(0, 100)), legend=None)
    chosen = alt.selection_point(fields=list(SIDES))
    framed = {
        "stroke": alt.condition(chosen, alt.value(COLOURS[3]), alt.value("white"), empty=False),
        "strokeWidth": alt.condition(chosen, alt.value(4), alt.value(1), empty=False),
    }
    layers = [base.mark_rect().encode(color=fill, **framed).add_params(chosen)]
    ink = alt.condition(alt.datum.points > 100 * DARK, alt.value("black"), alt.value("white"))
    crowded = NARROW if len(labels) > 4 else "false"
    share: dict[str, Any] = {"fontSize": alt.expr(f"{crowded} ? 9 : 13"), "dy": alt.expr(f"{crowded} ? 0 : -7")}
    interval: dict[str, Any] = {"fontSize": 11, "dy": 9, "opacity": alt.expr(f"{crowded} ? 0 : 1")}
    if small:  # cells have room for one number, and none on a phone
        share = {"fontSize": 9, "opacity": alt.expr(f"{NARROW} ? 0 : 1")}
    written = "datum.whole" if small else f"{crowded} ? datum.whole : datum.share"
    shown = base.transform_filter("test(/[*]$/, datum.whole)") if len(labels) > MAX_NUMBERS else base
    layers.append(shown.mark_text(**share).encode(text=alt.value(alt.expr(written)), color=ink))
    if not small:
        layers.append(base.mark_text(**interval).encode(text="interval:N", color=ink))
    step = next(px for most, px in _STEPS if len(labels) <= most)
    return styled(alt.layer(*layers).properties(height=step * cells["place"].nunique()))


def cost_scatter(frame: pd.DataFrame, titles: tuple[str, str]) -> Any:
    """Returns a dot with its interval for every agent; labelled by its rank, and by its name if there are few.

    Of many agents, only those that no cheaper agent beats are labelled.

    Args:
        frame: a row for every agent: rank, name, cost, value, low, high, games.
        titles: of the cost and of the value.
    """
    data = frame.assign(text=frame["rank"].astype(str))
    middle = (data["cost"].min() * data["cost"].max()) ** 0.5
    if len(data) <= MAX_NAMES:
        data["text"] += "  " + data["name"]
    text: Any = alt.expr(f"{NARROW} ? datum.rank : datum.text")
    if len(data) > MAX_NUMBERS:
        best_so_far = data.sort_values(["cost", "value"], ascending=[True, False])["value"].cummax()
        data["text"] = data["text"].where(data["value"].ge(best_so_far), "")
        text = alt.expr("datum.text")
    scale = alt.Scale(zero=False, nice=True)
    form = f",.{_digits(data['cost'])}~r"
    axis = alt.Axis(format=form, labelOverlap="greedy")  # a single agent's cost is the only tick
    x = alt.X("cost:Q", title=titles[0], scale=alt.Scale(type="log", nice=False, padding=14), axis=axis)
    data = told(data, "value", "low", "high")
    tooltip = ["rank", "name", alt.Tooltip("cost:Q", format=form), f"{TOLD}:N"]
    base = alt.Chart(data).encode(x=x, tooltip=[*tooltip, alt.Tooltip("games:Q", format=",")])
    rules = base.mark_rule(strokeWidth=1.5, color=COLOURS[0])
    dots = base.mark_point(filled=True, size=60, opacity=1, color=COLOURS[0]).encode(alt.Y("value:Q", scale=scale))
    layers = [rules.encode(y=alt.Y("low:Q", scale=scale, title=titles[1]), y2="high:Q"), dots]
    for side, align, dx in (("<=", "left", 8), (">", "right", -8)):  # keeps names inside the chart
        part = base.transform_filter(f"datum.cost {side} {middle}").mark_text(align=align, dx=dx, fontSize=12)
        layers.append(part.encode(y=alt.Y("value:Q", scale=scale), text=alt.value(text)))
    return styled(alt.layer(*layers).properties(height=320))


def _digits(costs: pd.Series) -> int:
    """Returns the significant digits that distinguish neighbouring ticks, however close the costs are."""
    most = float(costs.max())
    step = (most - float(costs.min())) / _TICKS
    return max(DIGITS, math.floor(math.log10(most)) - math.floor(math.log10(step)) + 1) if step else DIGITS
