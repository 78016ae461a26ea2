"""Studies: searches for the parameters of agents."""

VERIFY = 1.0  # held-out games of all finalists at most, as a share of the search's games, by default
EARLIER_VERIFY = 0.25  # that of fronts, and of studies of earlier editions
MIN_SHOWN = 20  # units below which progress shows no mean: its interval would say nothing
FIRST_EDITION = 1  # of studies whose definition has no edition
LUCKY_EDITION = 2  # from which on held-out games are a study's own and ties no step; lucky candidates are finalists
EVEN_EDITION = 3  # from which on the proposal alone meets the references, with the whole error; no choice dies out
STEADY_EDITION = 4  # from which on CMA-ES learns candidates at the ends of ranges as such; duels step finer near them
EDITION = 5  # of new studies: the reach of duels falls, steps grow with the distance, cut-off candidates count as such
POSITIONS = 60  # searched by each candidate of a front with certainty, by default
