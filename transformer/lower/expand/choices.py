"""Python's `max` and `min` of floating numbers: the first one, unless the second is better. A nan never is.

    max(0.0, x)         x if x > 0.0 else 0.0          np.maximum(0.0, x)   nan where x is
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.grammar import Let
from ...ops import scalars
from ...ops.base import Op


def _choice(name: str, form: Callable[..., Any]) -> Any:
    return type(form.__name__, (Op,), {"name": name, "operands": ("a", "b"), "elementwise": True, "is_total": True,
                                       "loop": staticmethod(form), "types": staticmethod(lambda a, b: a),
                                       "run": staticmethod(form)})


CHOICES = {"max": _choice("maximum", scalars.first_or_larger), "min": _choice("minimum", scalars.first_or_smaller)}


def pythons_choice(stmt: Let, dtype: np.dtype) -> Any:
    """The op of a statement; what stands for it where Python chooses between floating numbers."""
    if stmt.op.hands_on and dtype.kind == "f":
        return CHOICES.get(str(stmt.attrs.get("spelling")), stmt.op)
    return stmt.op
