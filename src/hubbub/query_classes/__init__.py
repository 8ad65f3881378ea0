"""Classes of queries on a declared domain, and the methods that answer all of them."""
