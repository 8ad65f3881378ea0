"""Files and objects that hold a graph, read without a guess."""
