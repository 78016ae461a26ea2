"""The laws of games."""
