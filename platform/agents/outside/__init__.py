"""Agents that are not ours: each seat has a process of its own, out of reach of the referee and of the other seats."""
