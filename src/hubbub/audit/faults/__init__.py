"""Faults that are planted on purpose: an auditor that misses one is no good."""
