"""Engines count people exactly, where the data already is. They know nothing of noise or privacy."""
