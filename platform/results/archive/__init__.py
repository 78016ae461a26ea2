"""Runs as Parquet files that keep every game to the bit; results are read from them without a store."""
