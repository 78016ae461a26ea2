"""Reports: pages as files that need no other."""

from turnier.dashboards import require_pictures

require_pictures()
