"""Searches measured on problems whose best is known, or by real games; run by `studies/search_benchmark.py`."""
