"""What a call means while a function is read, and which functions stay functions."""
