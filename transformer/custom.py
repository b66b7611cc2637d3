"""Rules of a user's own: `custom_jvp` and `custom_vjp` for functions that can be read."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from .core.errors import BadArgument
from .read.calls.ruled import signature_for
from .read.kinds import described
from .transform.custom.custom import Custom, CustomJvp, CustomVjp

__all__ = ["custom_jvp", "custom_vjp"]

Argnums = int | str | Sequence[int | str]


def custom_jvp(function: Callable[..., Any] | None = None, nondiff_argnums: Argnums = ()) -> Any:
    """Gives a function a rule for its derivative along a direction, as `jax.custom_jvp`.

    The rule, set by ``f.defjvp``, takes the arguments and their tangents. It returns the result and its tangent,
    which must be linear in the tangents. It serves forward and reverse mode to any order: higher derivatives come
    from the code of the rule. Arguments in `nondiff_argnums` (positions or names) are constants, and come first in
    the rule. Tangents of integers are None.

    >>> import numpy as np
    >>> @custom_jvp
    ... def log1pexp(x):
    ...     return np.log(1 + np.exp(x))
    >>> @log1pexp.defjvp
    ... def rule(primals, tangents):
    ...     x, = primals
    ...     dx, = tangents
    ...     return log1pexp(x), dx / (1 + np.exp(-x))
    >>> from transformer import grad
    >>> float(grad(log1pexp)(1000.0))
    1.0
    """
    return _decorated(CustomJvp, function, nondiff_argnums)


def custom_vjp(function: Callable[..., Any] | None = None, nondiff_argnums: Argnums = ()) -> Any:
    """Gives a function a rule for its pullback, as `jax.custom_vjp`.

    Set the rule by ``f.defvjp(fwd, bwd)``. `fwd` takes the arguments of `f`, and returns its result and residuals
    (any pytree). `bwd` takes the residuals and the cotangent of the result, and returns a tuple of one cotangent per
    argument, None for zeros. Arguments in `nondiff_argnums` (positions or names) are constants, and come first in
    `bwd`. If `bwd` is linear in the cotangent, forward mode transposes it; otherwise forward mode is refused.

    >>> import numpy as np
    >>> @custom_vjp
    ... def clip_gradient(x, bound):
    ...     return x
    >>> clip_gradient.defvjp(lambda x, bound: (x, bound),
    ...                      lambda bound, dy: (np.clip(dy, -bound, bound), None))
    >>> from transformer import grad
    >>> float(grad(lambda x: clip_gradient(x, 1.0) ** 2)(3.0))
    1.0
    """
    return _decorated(CustomVjp, function, nondiff_argnums)


def _decorated(kind: type[Custom], function: Callable[..., Any] | None, nondiff: Argnums) -> Any:
    if function is None:
        return lambda f: _decorated(kind, f, nondiff)
    if not callable(function):
        raise BadArgument(f"{kind.kind} expects a function, got {described(function)}")
    return kind(function, _places(function, nondiff))


def _places(function: Callable[..., Any], nondiff: Argnums) -> tuple[int, ...]:
    """Positions of the arguments that are constants."""
    keys = (nondiff,) if isinstance(nondiff, (int, str)) else tuple(nondiff)
    if not keys:
        return ()
    names = [p.name for p in signature_for(function).parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    return tuple(sorted(_place(key, names) for key in keys))


def _place(key: Any, names: list[str]) -> int:
    if isinstance(key, str) and key in names:
        return names.index(key)
    if isinstance(key, int) and not isinstance(key, bool) and -len(names) <= key < len(names):
        return key % len(names)
    raise BadArgument(f"nondiff_argnums: the function has no argument {key!r}",
                      instead=f"Use one of {', '.join(names)}, or its position." if names else None)
