"""Secret samples of people, and the privacy amplification that they give."""
