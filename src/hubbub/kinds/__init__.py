"""The kinds of release, a folder for each, with the same file names in all of them."""
