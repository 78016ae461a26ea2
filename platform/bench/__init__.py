"""Benchmarks: `run_benchmarks` measures speed relative to the C programs in benchmarks/."""

from turnier.bench.suite import BENCHMARKS, benchmark_table, run_benchmarks

__all__ = ["BENCHMARKS", "benchmark_table", "run_benchmarks"]
