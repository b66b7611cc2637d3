"""Core to readable NumPy source: `writer.write` is the way in."""
