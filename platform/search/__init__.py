"""Studies: searches for the parameters of agents."""

VERIFY = 0.25  # held-out games of all finalists at the most, as a share of the search's games, by default
