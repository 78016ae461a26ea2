"""Trainings: the ways to learn, and what they measure on the way."""

LEARNERS = ("ntuple", "dqn", "puct", "table_network")
