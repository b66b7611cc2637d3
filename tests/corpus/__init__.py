"""NumPy programs as people write them, each with arguments to try it on.

A failing case becomes a program here before it is fixed.
"""

from . import (
    applications,
    arranging,
    arrays,
    carries,
    control,
    custom_rules,
    functions,
    fuzzed,
    gathering,
    held,
    hostile_arrays,
    hostile_control,
    hostile_mutation,
    hostile_orders,
    hostile_reverse,
    indexing,
    inplace,
    iterating,
    kinks,
    library,
    loops,
    models,
    mutation,
    notation,
    recursion,
    scalar_kinds,
    silent,
    silent_flow,
    simulations,
    straight,
    structures,
    writes,
)
from .program import Program

MODULES = (
    models,
    applications,
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
    custom_rules,
    structures,
    notation,
    recursion,
    scalar_kinds,
    silent,
    silent_flow,
    kinks,
    hostile_control,
    hostile_mutation,
    hostile_arrays,
    hostile_orders,
    hostile_reverse,
    fuzzed,
    writes,
    held,
    library,
    arranging,
    gathering,
    iterating,
)

ALL: list[Program] = [program for module in MODULES for program in module.PROGRAMS]

__all__ = ["ALL", "MODULES", "Program"]
