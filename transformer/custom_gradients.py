"""Functions that return their own rule. What is here is read together with them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .custom import custom_vjp

__all__ = ["custom_gradient"]


def custom_gradient(fun: Callable[..., Any]) -> Any:
    """Gives a function a rule that it returns itself: ``fun(*args)`` is a result and a function of its cotangent, which
    gives the cotangents of the arguments. As `jax.custom_gradient`; the reverse sweep calls `fun` again.

    >>> @custom_gradient
    ... def clipped(x):
    ...     return x * x, lambda dy: min(2 * x * dy, 1.0)
    >>> from transformer import grad
    >>> clipped(3.0), float(grad(clipped)(3.0))
    (9.0, 1.0)
    """
    @custom_vjp
    @functools.wraps(fun)
    def called(*args: Any) -> Any:
        return fun(*args)[0]

    def backward(args: Any, cotangent: Any) -> Any:
        found = fun(*args)[1](cotangent)
        return tuple(found) if isinstance(found, tuple | list) else (found,)

    called.defvjp(lambda *args: (fun(*args)[0], args), backward)
    return called
