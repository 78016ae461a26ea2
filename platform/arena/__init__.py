"""Matches: what they are, how they are played, replayed and scheduled, and the workers that play them."""
