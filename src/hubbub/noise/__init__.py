"""Where randomness comes from, and the exact integer laws drawn with it."""
