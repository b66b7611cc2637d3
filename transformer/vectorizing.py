"""`vectorize`: a function of numbers, or of arrays with a few axes, for arrays with any axes in front.

    vectorize(lambda a, x: a @ x, signature="(n,m),(m)->(n)")       a: (5, 1, 3, 2), x: (4, 2), result: (5, 4, 3)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from .api import Transformed
from .core.errors import BadArgument
from .read.places import place_of_call
from .transform.batching.signatures import parsed
from .transform.batching.vectorized import Vectorized
from .wrapping import check_callable


def vectorize(function: Callable[..., Any] | None = None, signature: str | None = None,
              excluded: Iterable[int | str] = ()) -> Any:
    """Returns a function that broadcasts `function` over all leading axes of its arguments.

    Args:
        function: a function of numbers, or of arrays as `signature` says. Without it, the result is a decorator.
        signature: the core dimensions, which the function itself takes: ``"(n,m),(m)->(n)"`` is a function of a matrix
            and a vector. Without it, all arguments are numbers.
        excluded: arguments, by position or name, that are passed on unchanged, as is None. The signature leaves them
            out.

    The result is one `vmap` per axis, so its source is whole-array NumPy. As `np.vectorize` and `jax.numpy.vectorize`.

    Raises, when called, `ShapeError` if shapes do not fit the signature or each other, and `BadArgument` for a wrong
    number of arguments or an invalid signature.

    >>> import numpy as np
    >>> apply = vectorize(lambda a, x: a @ x, signature="(n,m),(m)->(n)")
    >>> apply(np.ones((5, 1, 3, 2)), np.ones((4, 2))).shape
    (5, 4, 3)
    """
    if function is None:
        return lambda f: vectorize(f, signature, excluded)
    check_callable(function, "vectorize")
    try:
        found = None if signature is None else parsed(signature)
        mode = Vectorized(found, _excluded(excluded), _names(function))
    except BadArgument as error:
        raise error.located(place_of_call()) from None
    return Transformed(function, mode)


def _excluded(excluded: Any) -> tuple[int | str, ...]:
    keys = None if isinstance(excluded, str) else tuple(excluded)
    if keys is None or not all(isinstance(key, str) or isinstance(key, int) and key >= 0 for key in keys):
        raise BadArgument(f"excluded is {excluded!r}, expected positions or names of arguments",
                          instead="Pass positions and names, as in excluded=(0, 'kind').")
    return tuple(sorted(keys, key=str))                    # a set has another order in each process


def _names(function: Any) -> tuple[str, ...]:
    """The arguments that can be passed by position; none where they are not known."""
    from .read.calls.subfunctions import signature_for
    try:
        parameters = signature_for(function).parameters.values()
    except (TypeError, ValueError):
        return ()
    by_position = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    return tuple(parameter.name for parameter in parameters if parameter.kind in by_position)
