"""Channels that a release uses: exact counts, geometric noise, any curve, and the laws of noise."""
