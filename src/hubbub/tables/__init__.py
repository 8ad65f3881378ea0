"""Tables of people: public bins, and the questions asked of them."""
