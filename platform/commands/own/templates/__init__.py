"""What `turnier new` writes: working files whose class is named Template."""
