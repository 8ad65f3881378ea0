"""Measurements beside the peers, in one run: `make bench`."""
