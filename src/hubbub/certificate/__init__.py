"""The certificate of a release, and its promises in plain words."""
