"""Classes of questions about a declared domain, and private answers to all of them at once: mechanisms and bounds."""
