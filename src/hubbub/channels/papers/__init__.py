"""The papers' own channels, corrected."""
