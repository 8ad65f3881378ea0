"""Counting and publishing in Spark."""
