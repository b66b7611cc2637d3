"""Solutions whose derivatives are those of what they solve, and not of the way to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["custom_linear_solve", "custom_root"]


def custom_root(f: Callable[[Any], Any], initial_guess: Any, solve: Callable[..., Any],
                tangent_solve: Callable[..., Any], has_aux: bool = False) -> Any:
    """``solve(f, initial_guess)``, which is an x with `f(x) = 0`; its derivative is that of such an x with respect to
    whatever f rests on. As `jax.lax.custom_root`.

    x is a number or an array. `tangent_solve` is not needed: equations with the Jacobian of f are solved. With
    `has_aux`, `solve` gives x and something else, which carries no derivative.

    >>> def newton(f, x):
    ...     for _ in range(6):
    ...         x = x - f(x) / (2 * x)
    ...     return x
    >>> round(custom_root(lambda x: x * x - 2.0, 1.0, newton, lambda g, y: y / g(1.0)), 12)
    1.414213562373
    """
    return solve(f, initial_guess)


def custom_linear_solve(matvec: Callable[[Any], Any], b: Any, solve: Callable[..., Any], transpose_solve: Any = None,
                        symmetric: bool = False, has_aux: bool = False) -> Any:
    """``solve(matvec, b)``, which is an x with `matvec(x) = b` for a linear `matvec`; its derivative is that of such an
    x. As `jax.lax.custom_linear_solve`.

    x is a number or an array. `transpose_solve` and `symmetric` are not needed: in derivatives, equations with the
    matrix of `matvec` are solved. With `has_aux`, `solve` gives x and something else, which carries no derivative.

    >>> custom_linear_solve(lambda x: 4 * x, 8.0, lambda matvec, b: b / matvec(1.0))
    2.0
    """
    return solve(matvec, b)


def _read_root(reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    from ..read.library.solving import root_by
    return reader.call(root_by, args, kwargs)


def _read_linear_solve(reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    from ..read.library.solving import solution_by
    return reader.call(solution_by, args, kwargs)


custom_root.__transformer_read__ = _read_root  # type: ignore[attr-defined]
custom_linear_solve.__transformer_read__ = _read_linear_solve  # type: ignore[attr-defined]
