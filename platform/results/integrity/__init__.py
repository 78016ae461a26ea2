"""Protection against damaged data: checksums, totals per run, and an inspection of the whole store."""
