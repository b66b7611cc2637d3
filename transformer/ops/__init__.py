"""The ops: one class for each, with everything there is to know about it, one file per family."""
