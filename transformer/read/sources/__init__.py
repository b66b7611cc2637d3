"""The source of a function: where it is, its tree, its names and its comments."""
