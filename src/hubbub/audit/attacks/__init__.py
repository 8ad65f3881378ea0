"""Attacks as stories, with the numbers that they show."""
