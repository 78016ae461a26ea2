"""The web application that serves the pages, the board and data."""

from turnier.dashboards import require_pictures

require_pictures()
