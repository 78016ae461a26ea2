"""Matches: their data, playing, replaying and scheduling them, and the workers that play them."""
