"""Exact numbers: rationals in, certified intervals between, rounding in the direction that is asked for."""
