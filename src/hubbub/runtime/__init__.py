"""What any part of a run may need: how child processes start, how Ctrl-C stays an interrupt, what whoever waits sees."""
