"""Voting rules: how a winner follows from ballots."""
