"""From Core to the nest form: every op becomes loops of its own."""
