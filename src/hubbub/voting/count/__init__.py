"""An election counted: the answer, how ballots moved, the record that is signed."""
