"""Studies: searches for the parameters of agents."""

VERIFY = 0.25  # held-out games of all finalists at the most, as a share of the search's games, by default
MIN_SHOWN = 20  # units below which progress shows no mean: its interval would say nothing
FIRST_EDITION = 1  # of studies whose definition names none
EDITION = 2  # what new studies do: held-out games of their own, and no step where all candidates tie
POSITIONS = 60  # that each candidate of a front with certainty searches, by default
