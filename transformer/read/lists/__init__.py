"""Lists whose items the program computes how many there are of: they lie in arrays."""
