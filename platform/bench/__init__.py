"""Benchmarks: `run_benchmarks` measures speed relative to the C programs in benchmarks/."""

from turnier.bench.suite import BENCHMARKS, avx2_quotients, run_benchmarks, runs_avx2
from turnier.bench.tables import benchmark_page, benchmark_table

__all__ = ["BENCHMARKS", "avx2_quotients", "benchmark_page", "benchmark_table", "run_benchmarks", "runs_avx2"]
