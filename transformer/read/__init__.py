"""From a function of the user to Core: its source is found, desugared, and evaluated."""
