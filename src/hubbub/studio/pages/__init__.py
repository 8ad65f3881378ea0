"""The pages of the studio, a module for each place."""
