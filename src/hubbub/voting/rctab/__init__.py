"""Counts by the rules of an office that runs RCTab."""
