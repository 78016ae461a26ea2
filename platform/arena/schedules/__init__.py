"""Schedules: which matches a tournament or comparison plays; pure functions of agents, seed and earlier results."""
