"""Data dictionaries: what the columns of a table mean, how their cells are written, who a person is; all of it public."""
