"""Brings stores of earlier versions to the present form; no other code knows the forms of those versions."""
