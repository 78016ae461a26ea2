"""Speed relative to C programs, for maintainers: `make bench`, or `python -m benchmarks` in a checkout."""
