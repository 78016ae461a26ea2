"""Figures: charts from frames, drawn without a browser."""

from turnier.dashboards import require_pictures

require_pictures()
