"""Statistics of games: intervals, paired comparisons, sequential tests, ratings, and the certainty of first places."""
