"""What keeps damaged data from being shown: checksums, totals per run, and an inspection of the whole store."""
