"""Views that every kind of run has: its games, their cost, and its origin."""
