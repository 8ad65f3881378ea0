"""Counting in DuckDB: the queries, and the engine that runs them."""
