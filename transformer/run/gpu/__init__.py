"""Functions compiled for GPUs: their arrays, launches, streams and graphs."""
