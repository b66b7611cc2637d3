"""NumPy programs as people write them, each with arguments to try it on.

A failing case becomes a program here before it is fixed.
"""

from . import (
    arrays,
    carries,
    control,
    functions,
    hostile_arrays,
    hostile_control,
    hostile_mutation,
    hostile_orders,
    indexing,
    inplace,
    kinks,
    loops,
    models,
    mutation,
    notation,
    silent,
    silent_flow,
    simulations,
    straight,
    structures,
)
from .program import Program

MODULES = (
    models,
    simulations,
    straight,
    arrays,
    indexing,
    control,
    loops,
    carries,
    mutation,
    inplace,
    functions,
    structures,
    notation,
    silent,
    silent_flow,
    kinks,
    hostile_control,
    hostile_mutation,
    hostile_arrays,
    hostile_orders,
)

ALL: list[Program] = [program for module in MODULES for program in module.PROGRAMS]

__all__ = ["ALL", "MODULES", "Program"]
