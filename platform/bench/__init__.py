"""Benchmarks: `run_benchmarks` measures speed relative to the C programs in benchmarks/."""

from turnier.bench.suite import BENCHMARKS, run_benchmarks
from turnier.bench.tables import benchmark_table

__all__ = ["BENCHMARKS", "benchmark_table", "run_benchmarks"]
