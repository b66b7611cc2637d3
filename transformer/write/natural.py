"""What values are called by what they are: by the op that makes them, or by what they are used for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..core.equations import single_atom
from ..core.grammar import Let
from ..core.sizes import Unknown
from ..core.walk import WRITES
from ..ops.regions import Slot
from .flow import Flow

NATURAL = {
    "sum": "total",
    "logaddexp_reduce": "total",
    "matmul": "dot",
    "dot": "dot",
    "vdot": "dot",
    "inner": "dot",
    "tensordot": "dot",
    "exp": "e",
    "max": "top",
    "min": "low",
    "mean": "mean",
    "var": "variance",
    "std": "spread",
    "add": "total",
    "subtract": "diff",
    "multiply": "scaled",
    "divide": "ratio",
    "power": "power",
    "negative": "minus",
    "sqrt": "root",
    "square": "square",
    "where": "chosen",
    "maximum": "upper",
    "minimum": "lower",
    "absolute": "size",
    "reciprocal": "inverse",
    "complex_eig": "eig",
    "complex_eigvals": "eigvals",
    "floor_divide": "whole",
    "remainder": "rest",
    "prod": "product",
    "cumsum": "sums",
    "cumprod": "products",
    "concatenate": "joined",
    "stack": "stacked",
    "array": "items",
    "reshape": "shaped",
    "ravel": "flat",
    "transpose": "turned",
    "swapaxes": "turned",
    "moveaxis": "turned",
    "broadcast_to": "spread",
    "expand_dims": "shaped",
    "squeeze": "squeezed",
    "get": "part",
    "copy": "copy",
    "cast": "number",
    "zeros": "zeros",
    "ones": "ones",
    "full": "filled",
    "empty": "empty",
    "arange": "steps",
    "eye": "unit",
    "less": "mask",
    "less_equal": "mask",
    "greater": "mask",
    "greater_equal": "mask",
    "equal": "same",
    "not_equal": "other",
    "isnan": "mask",
    "isfinite": "mask",
    "logical_not": "mask",
    "invert": "mask",
    "logical_and": "mask",
    "logical_or": "mask",
    "bitwise_and": "mask",
    "bitwise_or": "mask",
    "argsort": "order",
    "argpartition": "order",
    "argmax": "best",
    "argmin": "best",
    "count_nonzero": "count",
    "outer": "outer",
    "einsum": "product",
    "solve": "solution",
    "inv": "inverse",
    "det": "det",
    "cholesky": "factor",
    "norm": "norm",
    "log": "log",
    "nonzero": "places",
    "flatnonzero": "places",
    "sign": "sign",
}

OF_SEVERAL = {                     # where an op gives several results, which its users call
    "eigh": ("values", "vectors"),
    "eig": ("values", "vectors"),
    "complex_eig": ("values", "vectors"),
    "svd": ("u", "s", "vt"),
    "qr": ("q", "r"),
    "slogdet": ("sign", "logdet"),
}


def bounds_of_parts(flow: Flow) -> Iterator[tuple[Any, str]]:
    """The numbers between which parts of arrays lie: where they start, and where they end."""
    for stmt in flow.spans:
        slots = stmt.args[2 if stmt.op.name in WRITES else 1:] if isinstance(stmt, Let) else ()
        for entry in stmt.attrs.get("index", ()) if isinstance(stmt, Let) else ():
            if isinstance(entry, slice):
                yield _computed(entry.start, slots), "start"
                yield _computed(entry.stop, slots), "end"


def _computed(bound: Any, slots: tuple[Any, ...]) -> Any:
    """The variable that a bound of a slice is, if it is one."""
    if isinstance(bound, Slot):
        return slots[bound.k]
    atom = single_atom(bound)
    return atom.var if isinstance(atom, Unknown) else None
