"""Runs as Parquet files that keep every game to the bit, and from which results are read without a store."""
