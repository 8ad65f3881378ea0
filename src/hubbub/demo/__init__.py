"""Stories with invented, public data that show what the mechanisms do."""
