"""The view of a server: the live page, and its stream of games."""
