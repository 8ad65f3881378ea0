"""From kept or sampled rows back to people: estimates, and intervals that count every doubt."""
