"""A synopsis that answers every query of a class."""
