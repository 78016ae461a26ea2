"""The views of each kind of runs; a file is found by its name, the kind: see `turnier.dashboards.sections`."""
