"""Cast vote records as vendors of voting machines write them."""
