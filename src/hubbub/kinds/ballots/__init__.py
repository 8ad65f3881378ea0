"""Ballots published beside the official record of an election."""
