"""`vmap`: statements that compute all lanes at once, and those at which lanes diverge."""
