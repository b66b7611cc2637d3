"""Where arrays live: in place, in memory that is used again."""
