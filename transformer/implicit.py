"""Fixed points, whose derivatives are those of the solution and not of the way to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import tree
from .core.builder import current, is_building
from .core.errors import BadArgument

__all__ = ["fixed_point"]


def fixed_point(step: Callable[..., Any], start: Any, *parameters: Any, tolerance: float = 1e-10,
                most: int = 1000) -> Any:
    """Computes the x with ``x = step(x, *parameters)`` by iteration from `start`.

    The derivative is that of the solution, by the implicit function theorem. It is found by an iteration of the same
    kind, and nothing of the way to x is kept.

    Args:
        step: a function of x and the parameters, which must contract near the solution. In a function that is
            transformed, whatever `step` uses of that function must be among the parameters.
        start: a floating-point array or number. It carries no derivative.
        parameters: pytrees.
        tolerance: the iteration ends when no element of x changes by more than this. In a derivative, it is relative
            to the largest element.
        most: the largest number of steps.

    Raises `RuntimeError` if more than `most` steps are needed, and `BadArgument` if `tolerance` or `most` is not
    positive.

    >>> import numpy as np
    >>> from transformer import grad
    >>> def root(a):
    ...     return fixed_point(lambda x, a: (x + a / x) / 2, 1.0, a)
    >>> round(root(2.0), 12), round(float(grad(root)(2.0)), 12)
    (1.414213562373, 0.353553390593)
    """
    from .ops.value import Value
    from .read.library.fixed_points import iterated
    if is_building() and any(isinstance(leaf, Value) for leaf in tree.leaves((start, parameters))):
        options = {"tolerance": tolerance, "most": most}             # called by a rule that is not read
        return current().reader.call(fixed_point, (step, start, *parameters), options)
    _check(step, tolerance, most)
    return iterated(step, start, parameters, tolerance, most)


def _check(step: Any, tolerance: Any, most: Any) -> None:
    if not isinstance(tolerance, (int, float)) or not tolerance > 0:
        raise BadArgument(f"fixed_point(tolerance={tolerance!r}) is not a tolerance",
                          instead="Pass a positive Python number that is known before the call.")
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise BadArgument(f"fixed_point(most={most!r}) is not a number of steps",
                          instead="Pass a positive integer that is known before the call.")


def _read(reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    from .transform.custom.implicit import read_fixed_point
    return read_fixed_point(reader, _check, *args, **kwargs)


fixed_point.__transformer_read__ = _read  # type: ignore[attr-defined]
