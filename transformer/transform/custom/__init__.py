"""Functions whose derivatives somebody states: rules, descriptions, checkpoints."""
