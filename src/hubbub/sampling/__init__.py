"""Secret samples of people, and what they buy."""
