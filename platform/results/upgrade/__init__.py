"""Brings stores of earlier versions to the present form; nothing else knows what those versions stored."""
