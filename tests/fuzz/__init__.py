"""Long searches for what must not exist. `make fuzz` runs them whole, and tests run a part of each."""
