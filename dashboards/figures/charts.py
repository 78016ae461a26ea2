"""Charts from frames, without a browser: points and lines with intervals, bars and heat maps.

Numbers go from dark to light (cividis).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import altair as alt
import pandas as pd

from turnier.core.number_text import estimate, number
from turnier.dashboards.colours import COLOURS
from turnier.dashboards.figures.figure import styled

SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "triangle-right", "triangle-left", "wedge")
NUMBERS = "cividis"
DARK = 0.46  # share of the scale up to which white is legible on it, and black from there on
PUBLISHED = "cross"  # shape of published values
MAX_POINTS = 3000  # drawn in one chart, evenly chosen; the data has all
MAX_TICKS = 12  # one for each value
MANY_ROWS = 20  # from which rows stand closer
MAX_DOTS = 60  # of a line; a longer one has a band instead of dots
TOLD = "estimate"  # column with the text of a value and its interval, for tooltips
_WRAP = 26  # characters per line of a label
_LINES = "split(datum.label, '\\n')"
_NAMED = {"labelExpr": _LINES, "labelLimit": 230}


def wrapped(label: str) -> str:
    """Returns a long label on several lines, broken after commas and brackets."""
    lines = [""]
    for part in label.replace(",", ",\0").replace("(", "(\0").split("\0"):
        if lines[-1] and len(lines[-1]) + len(part) > _WRAP:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)


def points(frame: pd.DataFrame, label: str, value: str, low: str, high: str, unit: str, mark: str | None = None) -> Any:
    """Returns a point with its interval for every row, from top to bottom in the frame's order.

    `mark` names a column of values to draw as crosses.
    """
    data = frame.assign(**{label: frame[label].map(wrapped)})
    order = data[label].tolist()
    y = alt.Y(f"{label}:N", sort=order, title=None, axis=alt.Axis(labelExpr=_LINES, labelLimit=230))
    counted = [column for column in _counted(data) if column != value]
    data = told(data[[label, value, low, high, *([mark] if mark else []), *counted]], value, low, high)
    hover = [*_tooltip(data, label), _estimate(unit), *_tooltip(data, *counted)]
    base, scale = alt.Chart(data).encode(y=y, tooltip=hover), alt.Scale(zero=False, nice=True)
    bars = base.mark_rule(strokeWidth=2, color=COLOURS[0]).encode(x=alt.X(f"{low}:Q", scale=scale), x2=f"{high}:Q")
    dots = base.mark_point(filled=True, size=90, color=COLOURS[0], opacity=1).encode(
        x=alt.X(f"{value}:Q", title=unit, scale=scale)
    )
    layers = [bars, dots]
    if mark:
        cross = base.mark_point(shape="cross", angle=45, filled=True, size=130, color=COLOURS[3], opacity=1)
        layers.append(cross.encode(x=alt.X(f"{mark}:Q", scale=scale), tooltip=_tooltip(data, label, mark)))
    least = 28 if len(order) <= MANY_ROWS else 18
    text = 18 * max((name.count("\n") + 1 for name in order), default=1)
    return styled(alt.layer(*layers).properties(height=max(least, text) * len(set(order))))


def lines(
    frame: pd.DataFrame,
    x: str,
    value: str,
    low: str,
    high: str,
    series: str,
    titles: tuple[str, str],
    log: bool = False,
    ordinal: bool = False,
    connected: bool = True,
    published: Mapping[str, str] | None = None,
    across: tuple[str, ...] = (),
    band: bool = False,
    falling: bool = False,
    chosen: Sequence[str] = (),
) -> Any:
    """Returns a line (or only points) with its intervals for every series.

    Args:
        frame: a row for each point.
        x, value, low, high, series: columns of it.
        titles: of x and of the value.
        log: whether x may have a logarithmic axis, used if values lie far apart.
        ordinal: whether the values of x are equidistant steps, such as tiles.
        connected: whether to join points by lines.
        published: names of dashed series with crosses -> the series with the same colour.
        across: the columns of an interval of x.
        band: whether intervals are a band even if there are few points.
        falling: whether x falls from left to right.
        chosen: further columns, which a click on a point chooses.
    """
    kept = list(dict.fromkeys([x, value, low, high, series, *across, *chosen, *_counted(frame)]))
    data = told(thinned(frame[kept].assign(**{series: frame[series].map(wrapped)}), series), value, low, high)
    names = list(dict.fromkeys(data[series]))
    partners = {wrapped(name): wrapped(partner) for name, partner in (published or {}).items()}
    smallest, largest = (float(data[x].min()), float(data[x].max())) if len(data) else (0.0, 0.0)
    kind = "ordinal" if ordinal else "log" if log and smallest > 0 and largest / smallest >= 4 else "linear"
    place = _number_axis(x, titles[0], kind, data[x], falling)
    base = alt.Chart(data).encode(x=place, color=_colour(series, names, partners))
    scale = alt.Scale(zero=False, nice=True)
    edge = alt.Y(f"{low}:Q", scale=scale)
    many = len(data) > MAX_DOTS * max(1, len(names))
    around = base.mark_area(opacity=0.2) if many or band else base.mark_rule(strokeWidth=1.5)
    layers = [around.encode(y=edge, y2=f"{high}:Q")]
    y = alt.Y(f"{value}:Q", title=titles[1], scale=scale)
    if across:
        begins, ends = across
        left_end = _number_axis(begins, titles[0], kind, data[x])
        layers.append(base.mark_rule(strokeWidth=1.5).encode(x=left_end, x2=f"{ends}:Q", y=y))
    hover = [*_tooltip(data, series, x), _estimate(titles[1]), *_tooltip(data, *(set(_counted(data)) - {x}))]
    look = {} if many else {"shape": _shape(series, names, partners)}  # dots of long lines are there to point at only
    dotted = alt.Chart(data).encode(x=place) if many else base
    layers.append(dotted.mark_point(filled=True, size=60, opacity=0 if many else 1).encode(y=y, tooltip=hover, **look))
    if connected:
        layers.insert(1, base.mark_line(strokeWidth=2).encode(y=y, strokeDash=_dash(series, names, partners)))
    return styled(alt.layer(*layers).properties(height=_height(names)))


def steps(frame: pd.DataFrame, x: str, value: str, series: str, titles: tuple[str, str], told: str) -> Any:
    """Returns a stepped line for every series, for distributions; `told` is the column that tooltips show of x."""
    kept = list(dict.fromkeys([x, told, value, series, *_counted(frame)]))
    data = frame[kept].assign(**{series: frame[series].map(wrapped)})
    names = list(dict.fromkeys(data[series]))
    base = alt.Chart(data).encode(
        x=alt.X(f"{x}:Q", title=titles[0], scale=alt.Scale(zero=False, nice=False)),
        y=alt.Y(f"{value}:Q", title=titles[1]),
    )
    look = {"color": _colour(series, names), "strokeDash": _dash(series, names, dict.fromkeys(names[1::2], ""))}
    stairs = base.mark_line(interpolate="step-after", strokeWidth=2.5).encode(**look)  # gaps show the lines below
    corners = base.mark_point(size=60, opacity=0).encode(tooltip=_tooltip(data, series, told, value, *_counted(data)))
    return styled((stairs + corners).properties(height=_height(names)))


def heat(
    frame: pd.DataFrame,
    x: str,
    y: str,
    value: str,
    shown: str,
    titles: tuple[str, str],
    domain: tuple[float, float],
    orders: tuple[Sequence[str] | None, Sequence[str] | None] = (None, None),
    chosen: Sequence[str] = (),
) -> Any:
    """Returns a heat map from dark (low) to light; cells show their values, so it needs no legend.

    `shown` is the column with the text of a cell, `orders` are those of names on both axes, `chosen`: see `lines`.
    """
    data = frame[list(dict.fromkeys([x, y, value, shown, *chosen]))]
    places: dict[str, tuple[str, Any, dict[str, Any]]] = {}
    for axis, order in zip((x, y), orders, strict=True):
        across = axis == x
        words: dict[str, Any] = {"orient": "top", "labelAngle": 0} if across else {}
        if order is None:
            places[axis] = (f"{axis}:O", "ascending" if across else "descending", words)
        else:
            data = data.assign(**{axis: data[axis].map(wrapped)})
            places[axis] = (f"{axis}:N", [wrapped(name) for name in order], words | _NAMED)
    (x_field, x_sort, x_words), (y_field, y_sort, y_words) = places[x], places[y]
    base = alt.Chart(data).encode(
        x=alt.X(x_field, sort=x_sort, title=titles[0], axis=alt.Axis(**x_words)),
        y=alt.Y(y_field, sort=y_sort, title=titles[1], axis=alt.Axis(**y_words)),
        tooltip=_tooltip(data, x, y, shown),
    )
    fill = alt.Color(f"{value}:Q", scale=alt.Scale(scheme=NUMBERS, domain=domain), legend=None)
    cells = base.mark_rect(stroke="white").encode(color=fill)
    ink = alt.condition(
        alt.datum[value] > domain[0] + DARK * (domain[1] - domain[0]), alt.value("black"), alt.value("white")
    )
    two_lines = bool(data[shown].astype(str).str.contains("\n").any())
    up = -7 if two_lines else 0
    text = base.mark_text(fontSize=13, lineBreak="\n", lineHeight=15, dy=up).encode(text=f"{shown}:N", color=ink)
    return styled((cells + text).properties(height=(46 if two_lines else 27) * data[y].nunique()))


def bars(frame: pd.DataFrame, label: str, value: str, unit: str, ends: Sequence[str] = ()) -> Any:
    """Returns a bar for every row, in the frame's order; `ends` are the columns of its range, if there is one."""
    order = frame[label].tolist()
    y = alt.Y(f"{label}:N", sort=order, title=None, axis=alt.Axis(labelLimit=230))
    base = alt.Chart(frame[[label, value, *ends]]).encode(y=y, tooltip=_tooltip(frame, label, value, *ends))
    x = alt.X(f"{value}:Q", title=unit)
    chart = base.mark_bar(color=COLOURS[0], height={"band": 0.7}).encode(x=x)
    if ends:
        chart += base.mark_rule(strokeWidth=3, color=COLOURS[1]).encode(x=alt.X(f"{ends[0]}:Q"), x2=f"{ends[1]}:Q")
    return styled(chart.properties(height=26 * len(set(order))))


def cloud(
    frame: pd.DataFrame,
    x: str,
    value: str,
    titles: tuple[str, str],
    line: str = "",
    step: str = "after",
    log: bool = False,
) -> Any:
    """Returns a dot for every row; `line` names a column to draw with steps before or after its dots; `log`: of x.

    A column `number` says which candidate a dot is.
    """
    named = pd.api.types.is_numeric_dtype(frame[x]) and not pd.api.types.is_bool_dtype(frame[x])
    number = ["number"] if "number" in frame else []
    data = thinned(frame[list(dict.fromkeys([*number, x, value, *([line] if line else [])]))])
    kind = "log" if log and data[x].min() > 0 else "linear"
    place = _number_axis(x, titles[0], kind, data[x]) if named else alt.X(f"{x}:N", title=titles[0])
    base = alt.Chart(data).encode(x=place)
    height = alt.Y(f"{value}:Q", title=titles[1], scale=alt.Scale(zero=False, nice=True))
    told_of = [*number, *([] if number == [x] else [x]), value]
    names = {x: titles[0], value: titles[1], "number": "candidate"}
    hover = [alt.Tooltip(field, title=names[field], format=_format(data[field])) for field in told_of]
    layers = [
        base.mark_circle(
            size=40, opacity=1, fillOpacity=0.4, color=COLOURS[0], stroke=COLOURS[0], strokeWidth=1
        ).encode(y=height, tooltip=hover)
    ]
    if line:
        best = base.mark_line(interpolate=f"step-{step}", strokeWidth=2.5, color=COLOURS[3])
        layers.append(best.encode(y=alt.Y(f"{line}:Q", scale=alt.Scale(zero=False))))
    return styled(alt.layer(*layers).properties(height=300))


def thinned(frame: pd.DataFrame, series: str | None = None) -> pd.DataFrame:
    """Returns at most MAX_POINTS rows, evenly chosen, the same number of each series."""
    if len(frame) <= MAX_POINTS:
        return frame
    if series is None:
        return frame.iloc[:: -(-len(frame) // MAX_POINTS)]
    share = max(2, MAX_POINTS // frame[series].nunique())
    return pd.concat([part.iloc[:: -(-len(part) // share)] for _, part in frame.groupby(series, sort=False)])


def _number_axis(x: str, title: str, kind: str, values: pd.Series, falling: bool = False) -> Any:
    """Returns an axis from the smallest to the largest number, or of steps; a few whole numbers become its ticks."""
    known = sorted(values.dropna().unique().tolist())
    if kind == "ordinal":
        return alt.X(f"{x}:O", title=title, axis=alt.Axis(labelAngle=0))
    look = alt.Axis(labelOverlap="greedy")
    if len(known) == 1:  # the only tick; Vega would write it with six decimals
        look.values, look.labelExpr = known, f"'{number(known[0])}'"
    elif all(value == round(value) for value in known):
        look.format, look.tickMinStep = ",d", 1
        look.values = known if len(known) <= MAX_TICKS else alt.Undefined
    elif kind == "linear" and known and known[-1] - known[0] >= MAX_TICKS / 2:
        look.tickMinStep = 1  # such as means of counts: no halves of what is counted
    zero = alt.Undefined if kind == "log" else False
    scale = alt.Scale(type=kind, zero=zero, nice=False, padding=14, reverse=falling or alt.Undefined)
    return alt.X(f"{x}:Q", title=title, scale=scale, axis=look)


def told(data: pd.DataFrame, value: str, low: str, high: str) -> pd.DataFrame:
    """Returns the data with a column of texts: each value with its interval."""
    return data.assign(**{TOLD: [estimate(*row) for row in data[[value, low, high]].itertuples(index=False)]})


def _counted(data: pd.DataFrame) -> list[str]:
    """Returns the columns that say of how many games a value is."""
    return ["games"] if "games" in data else []


def _estimate(title: str) -> Any:
    return alt.Tooltip(f"{TOLD}:N", title=title)


def _tooltip(data: pd.DataFrame, *fields: str) -> list[Any]:
    return [alt.Tooltip(field, title=field.replace("_", " "), format=_format(data[field])) for field in fields]


def _format(values: pd.Series) -> Any:
    """Returns Vega's format of a column's numbers: without exponents and meaningless digits."""
    if not pd.api.types.is_numeric_dtype(values) or pd.api.types.is_bool_dtype(values):
        return alt.Undefined
    known = values.dropna()
    return ",d" if (known == known.round()).all() else ",.1~f" if known.abs().max() >= 1000 else ",.4~r"


def _colour(series: str, names: Sequence[str], partners: Mapping[str, str] = MappingProxyType({})) -> Any:
    places = [names.index(partners.get(name, name)) for name in names]
    scale = alt.Scale(domain=list(names), range=[COLOURS[place % len(COLOURS)] for place in places])
    return alt.Color(f"{series}:N", scale=scale, sort=list(names), title=None, legend=_legend(names))


def _shape(series: str, names: Sequence[str], partners: Mapping[str, str]) -> Any:
    places = (i + i // len(COLOURS) for i in range(len(names)))  # no colour has the same shape twice
    shapes = [PUBLISHED if name in partners else SHAPES[i % len(SHAPES)] for i, name in zip(places, names, strict=True)]
    scale = alt.Scale(domain=list(names), range=shapes)
    return alt.Shape(f"{series}:N", scale=scale, sort=list(names), title=None, legend=_legend(names))


def _dash(series: str, names: Sequence[str], partners: Mapping[str, str]) -> Any:
    """Returns dashes for published series, and for those whose colour is already in use."""
    dashes = [[5, 4] if name in partners or i >= len(COLOURS) else [1, 0] for i, name in enumerate(names)]
    scale = alt.Scale(domain=list(names), range=dashes)
    return alt.StrokeDash(f"{series}:N", scale=scale, sort=list(names), title=None, legend=_legend(names))


def _columns(names: Sequence[str]) -> int:
    """Returns the columns of a legend."""
    return 1 if any(len(name) > 30 for name in names) else 2


def _height(names: Sequence[str]) -> int:
    """Returns the height of a chart including its legend, which pages subtract."""
    return 300 + 20 * -(-len(names) // _columns(names))


def _legend(names: Sequence[str]) -> Any:
    if len(names) <= 1:
        return None
    columns = _columns(names)
    return alt.Legend(orient="top", columns=columns, labelLimit=330, labelExpr="replace(datum.label, /\\n/g, '')")
