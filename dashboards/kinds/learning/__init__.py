"""The views of runs that learn."""
