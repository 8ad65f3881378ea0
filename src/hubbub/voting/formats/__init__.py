"""Files of ballots: how each format is read and written, and how marks become rankings."""
