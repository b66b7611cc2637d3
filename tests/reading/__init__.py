"""Programs that the reader has to read: every construct, in combinations that trip readers up.

Each is a function with arguments; what its Core computes must be what Python computes.
"""

from . import functions, loops, values, writes
from .surroundings import PROGRAMS, VECTOR

__all__ = ["PROGRAMS", "VECTOR", "functions", "loops", "values", "writes"]
