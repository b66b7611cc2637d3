"""The order of loops: that of memory, blocks and strips of what the cache holds, sums of products."""
