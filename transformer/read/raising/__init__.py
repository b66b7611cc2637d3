"""What raises, warns, prints and logs: errors of the program, and errors about it."""
