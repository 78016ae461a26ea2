"""Charts for pages with a dark background, made from those for light ones."""

from __future__ import annotations

from typing import Any

DARK_INKS, LIGHT_INK = ("#000000", "#222", "#444", "#555"), "#e8e8e8"


def on_dark(chart: Any) -> dict[str, Any]:
    """Returns the Vega-Lite specification of a chart for pages with a dark background: transparent, with light ink."""
    spec = _relit(chart.to_dict())
    look = spec["config"]
    ink = {"labelColor": LIGHT_INK, "titleColor": LIGHT_INK}
    look["axis"] |= ink | {"gridColor": "#3d3d3d", "domainColor": "#8c8c8c", "tickColor": "#8c8c8c"}
    look["legend"] |= ink
    look["title"] |= {"color": LIGHT_INK}
    return dict(spec | {"config": look | {"background": "transparent", "text": {"color": LIGHT_INK}}})


def _relit(part: Any) -> Any:
    """Returns a part of a specification with light ink in place of dark ink; text on coloured cells stays."""
    if isinstance(part, dict):
        return {key: value if key in ("data", "datasets") else _relit(value) for key, value in part.items()}
    if isinstance(part, list):
        return [_relit(value) for value in part]
    return LIGHT_INK if part in DARK_INKS else part
