"""The files that `turnier new` writes; their class is named Template."""
