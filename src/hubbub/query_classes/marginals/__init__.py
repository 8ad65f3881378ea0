"""Many tables of one set of people by some of its columns: noise with least error, and what can be made of it."""
