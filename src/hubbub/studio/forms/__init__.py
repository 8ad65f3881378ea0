"""Forms: what is filled in, what it asks for, and what it would promise."""
