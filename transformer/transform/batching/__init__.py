"""`vmap`: statements that compute all lanes at once, and those of which lanes part."""
