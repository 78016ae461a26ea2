"""Figures: charts with their titles, notes and data, in one style, as specifications and as files."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd

from turnier.core.errors import UserError
from turnier.core.number_text import number
from turnier.core.outputs import require_folder
from turnier.core.terminal.visible import visible_in
from turnier.dashboards.colours import COLOURS

KINDS = ("svg", "png", "pdf")  # of files
PICTURE_WIDTH = 720  # px, of downloads and reports
PADDING = {"left": 30, "top": 10, "right": 20, "bottom": 5}  # px, of files: fonts elsewhere may be wider
_NOTE_WRAP = 105  # characters per line of a note

# Columns of what a figure shows above all, and of its subjects, the first that it has.
VALUES = (
    "elo", "points", "percent", "share_of_points", "mean", "value", "held_out", "published", "best", "importance",
    "evidence", "pairs", "score", "certainty", "recent", "games",
)  # fmt: skip
NAMED = "label", "agent", "name", "finalist", "series", "parameter", "test", "outcome", "candidate"

alt.data_transformers.disable_max_rows()


@dataclass(frozen=True)
class Figure:
    """A chart for pages and reports, with its title, what it shows, its note and all of its data."""

    title: str
    chart: Any  # an Altair chart
    data: pd.DataFrame
    note: str = ""  # explains intervals and units
    finding: str = ""  # what the chart shows, in a sentence; pages have it above the chart, where it is in view

    @cached_property
    def spec(self) -> dict[str, Any]:
        """The chart as a Vega-Lite specification; do not modify it."""
        found: dict[str, Any] = self.chart.to_dict(validate=False)
        return found

    @property
    def caption(self) -> str:
        """What the chart shows, and its note."""
        return f"{self.finding} {self.note}".strip()

    @property
    def spoken(self) -> str:
        """The figure for those who cannot see it: its title, its range of values, and what its caption says."""
        numbers = [name for name in self.data if pd.api.types.is_numeric_dtype(self.data[name])]
        value = next((name for name in VALUES if name in numbers), "")
        named = next((name for name in NAMED if name in self.data), "")
        known = self.data.dropna(subset=value) if value else self.data.iloc[:0]
        parts = [f"{self.title}."]
        if len(known):
            ends = [known.loc[known[value] == end].iloc[0] for end in (known[value].min(), known[value].max())]
            least, most = (number(row[value]) + (f" ({row[named]})" if named else "") for row in ends)
            parts.append(f"{len(known):,} values, {value.replace('_', ' ')} from {least} to {most}.")
        return " ".join([*parts, self.caption]).strip()

    def save(self, path: Path | str) -> None:
        """Writes the figure in the format of the name's ending, such as figure.svg."""
        save(Path(path), self)

    def _repr_svg_(self) -> str:
        """Shows the figure in a notebook."""
        return image(self, "svg").decode()


class Palette:
    """The colours of a page: a series, such as an agent, has in all charts the colour that it had in the first one."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def applied(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        """Returns a specification with the page's colours."""
        part = dict(spec)
        if "layer" in part:
            part["layer"] = [self.applied(one) for one in part["layer"]]
        colour = part.get("encoding", {}).get("color", {})
        scale = colour.get("scale") or {}
        names, own = scale.get("domain", ()), scale.get("range", ())
        if len(names) == len(own) > 1 and all(isinstance(name, str) for name in names):
            scale = scale | {"range": self._of(names, own)}
            part["encoding"] = part["encoding"] | {"color": colour | {"scale": scale}}
        return part

    def _of(self, names: Sequence[str], own: Sequence[str]) -> list[str]:
        """Returns the colours of the series of a chart; those that share one in the chart still do."""
        new: dict[str, str] = {}
        for name, colour in zip(names, own, strict=True):
            if (known := self._known.get(name)) and colour not in new and known not in new.values():
                new[colour] = known
        for colour in own:
            if colour not in new:
                new[colour] = next(one for one in (colour, *COLOURS, *own) if one not in new.values())
        for name, colour in zip(names, own, strict=True):
            self._known.setdefault(name, new[colour])
        return [new[colour] for colour in own]


def styled(chart: Any) -> Any:
    """Returns the chart in our style: legible from the back of a room."""
    return (  # `configure` first, since it resets all others; its padding is for the top tick
        chart.configure(background="white", font="system-ui, sans-serif", padding=10)
        .configure_axis(
            labelFontSize=12,
            labelSeparation=4,
            labelFlush=False,
            titleFontSize=13,
            titleFontWeight=400,
            gridColor="#e6e6e6",
        )
        .configure_legend(labelFontSize=12, titleFontSize=13, symbolStrokeWidth=3, symbolOpacity=1, columnPadding=24)
        .configure_title(fontSize=15, anchor="start", fontWeight=600)
        .configure_view(strokeWidth=0)
    )


def image(figure: Figure, kind: str, note: bool = True, palette: Palette | None = None) -> bytes:
    """Returns a figure as a file of one of KINDS; with `note`, its note below the title; in the colours of a page."""
    return _rendered(_titled(figure, note), kind, palette)


def save(path: Path, *figures: Figure, title: str = "") -> None:
    """Writes figures below each other into one file; raises UserError if that is impossible."""
    require_picture(path)
    charts = [_titled(figure) for figure in figures]
    for chart in charts:
        chart.config = alt.Undefined  # Vega-Lite takes one config for all
    column = alt.vconcat(*charts, spacing=30).resolve_scale(
        color="independent", shape="independent", strokeDash="independent"
    )
    column = styled(column.properties(title=title) if title else column)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_rendered(column, _kind(path)))
    except OSError as failure:
        raise UserError(f"a picture must go to a file that can be written, got {path}: {failure}.") from None


def require_picture(path: Path) -> None:
    """Raises UserError if a picture cannot be written; its folder need not exist."""
    if _kind(path) not in KINDS:
        known = ", ".join(f".{kind}" for kind in KINDS)
        raise UserError(f"the name of a picture must end in one of {known}, got {path}; choose another.")
    require_folder(path.parent, "the folder of a picture")


def _kind(path: Path) -> str:
    return path.suffix.removeprefix(".").lower()


def _titled(figure: Figure, note: bool = True) -> Any:
    subtitle = textwrap.wrap(figure.caption, _NOTE_WRAP) if note and figure.caption else alt.Undefined
    title = alt.TitleParams(figure.title, subtitle=subtitle, subtitleColor="#555", subtitleFontSize=12)
    return figure.chart.properties(width=PICTURE_WIDTH, title=title)


def _rendered(chart: Any, kind: str, palette: Palette | None = None) -> bytes:
    import vl_convert

    version = alt.SCHEMA_VERSION.removeprefix("v").rpartition(".")[0]
    spec = visible_in((palette or Palette()).applied(chart.properties(padding=PADDING).to_dict()))
    spec["config"]["font"] = "sans-serif"  # the font for measuring text outside browsers
    if kind == "svg":
        return str(vl_convert.vegalite_to_svg(spec, vl_version=version)).encode()
    if kind == "pdf":
        return bytes(vl_convert.vegalite_to_pdf(spec, vl_version=version))
    return _small(bytes(vl_convert.vegalite_to_png(spec, vl_version=version, scale=2)))


def _small(png: bytes) -> bytes:
    """Returns the picture with at most 256 colours, which is a quarter of the size and looks the same."""
    from PIL import Image  # pages do without it

    out = BytesIO()
    picture = Image.open(BytesIO(png)).convert("RGB")
    picture.quantize(256, dither=Image.Dither.NONE).save(out, "PNG", optimize=True, dpi=(144, 144))
    return out.getvalue()


def table_csv(frame: pd.DataFrame) -> bytes:
    return str(frame.to_csv(index=False)).encode()
