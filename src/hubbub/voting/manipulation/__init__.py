"""What a lie gains: beliefs, utilities, and the best lie, exactly or within an interval."""
