"""Schedules of tournaments and comparisons: matches as pure functions of agents, seed and earlier results."""
