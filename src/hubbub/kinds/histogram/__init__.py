"""Counts of people in public bins."""
