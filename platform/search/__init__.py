"""Studies: searches for the parameters of agents."""

VERIFY = 0.25  # held-out games of all finalists at most, as a share of the search's games, by default
MIN_SHOWN = 20  # units below which progress shows no mean: its interval would say nothing
FIRST_EDITION = 1  # of studies whose definition has no edition
EDITION = 2  # of new studies: held-out games of their own, and no step if all candidates tie
POSITIONS = 60  # searched by each candidate of a front with certainty, by default
