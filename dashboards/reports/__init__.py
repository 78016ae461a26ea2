"""Reports: self-contained pages as files."""

from turnier.dashboards import require_pictures

require_pictures()
