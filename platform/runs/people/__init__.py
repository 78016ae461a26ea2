"""Games in which people take part: stored as they go on, and their ratings."""
