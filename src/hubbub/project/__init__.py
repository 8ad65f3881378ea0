"""A whole publication in one file: what is wanted, what it would cost, a sheet for review, and how it is carried out."""
