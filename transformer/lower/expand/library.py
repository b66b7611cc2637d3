"""What NumPy or SciPy computes in the middle of compiled code: solving, sorting, Fourier transforms, Bessel
functions, ops that users define.

    w, v = np.linalg.eigh(a)            allocate w, allocate v
                                        library w, v = eigh a

The arrays are memory like all others. A call may raise what NumPy raises.
"""

from __future__ import annotations

import numpy as np

from ...core.builder import current
from ...core.grammar import Let, type_of
from ...core.types import ArrayType
from ...ops.loops import loop_of, missing
from ..nest.nests import Allocate, Library, emit
from .promotion import working_dtypes

FACETS = "definition", "store", "step", "contraction", "element", "found"
HALF = np.dtype(np.float16)


def is_of_library(stmt: Let) -> bool:
    """Whether a library computes an op on operands of these types, as there is no loop form."""
    op = stmt.op
    if op.of_sequences or not all(isinstance(type_of(atom), ArrayType) for atom in (*stmt.args, *stmt.targets)):
        return False
    if missing(op) is not None:
        return True
    if op.elementwise:
        return op.simpler is None and not _has_loop(stmt)
    return all(getattr(op, facet) is None for facet in FACETS)


def _has_loop(stmt: Let) -> bool:
    dtypes = working_dtypes(stmt)
    return HALF in dtypes or loop_of(stmt.op, dtypes[-1].kind) is not None


def computed(stmt: Let) -> None:
    """Memory for the results, and the call that fills it; results that are numbers are defined by it."""
    for target in stmt.targets:
        if target.type.sizes:                                            # type: ignore[union-attr]
            emit(Allocate(target, stmt.op.name, stmt.origin))
    emit(Library(stmt.targets, stmt.op.in_memory or stmt.op, stmt.args, stmt.attrs, current().origin))
