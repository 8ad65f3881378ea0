"""From a release to files that are visible: staged, paid for, and brought out after a crash."""
