"""The work that a page starts: one release, or one count."""
