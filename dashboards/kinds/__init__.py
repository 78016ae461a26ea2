"""What is shown of the runs of each kind: a file is found by its name, the kind; see `turnier.dashboards.sections`."""
