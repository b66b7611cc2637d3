"""Jacobians and Hessians of functions with many results: modes of forward and reverse derivatives, for all directions.

    jacfwd(f)(x)[i, j]      the derivative of f(x)[i] along x[j], all directions j at once
    jacrev(f)(x)[i, j]      the same, all cotangents i at once
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .api import _transformed, _wrt
from .transform.arguments import Wrt
from .transform.curvature import HessianVector
from .transform.jacobians import Jacobian
from .transform.sparsity import Pattern


def jacfwd(function: Callable[..., Any] | None = None, argnums: Wrt = 0, has_aux: bool = False,
           holomorphic: bool = False, sparsity: Any = None) -> Any:
    """Returns a function that computes the Jacobian of `function` by forward mode.

    This is the better mode if there are fewer arguments than results.

    Args:
        function: returns floating-point numbers, arrays, or pytrees of them.
        argnums, has_aux, holomorphic: as in `grad`.
        sparsity: a matrix, as an array or of `scipy.sparse`, with a row for each number in the result and a column
            for each number in the argument. It promises that derivatives are zero where it is zero, which is not
            tested. Then only as many directions are computed as necessary: three for a tridiagonal Jacobian of any
            size.

    Returns:
        A function of the same arguments. For a result of shape ``r`` and an argument of shape ``a``, the Jacobian has
        shape ``r + a``. For pytrees, it is a tree like the result whose leaves are trees like the argument (or like
        `argnums`, if that is a tuple). With `has_aux`, the result is ``(jacobian, aux)``.

    Raises, when called, `NotDifferentiable` for integer arguments or results. As `jax.jacfwd`.

    >>> import numpy as np
    >>> jacfwd(lambda x: np.array([x[0] * x[1], x[1] ** 2]))(np.array([2.0, 3.0]))
    array([[3., 2.],
           [0., 6.]])
    """
    mode = Jacobian(_wrt(argnums), False, has_aux, holomorphic, _pattern(sparsity, False))
    return _transformed(function, jacfwd, mode)


def jacrev(function: Callable[..., Any] | None = None, argnums: Wrt = 0, has_aux: bool = False,
           holomorphic: bool = False, sparsity: Any = None) -> Any:
    """Like `jacfwd`, by reverse mode: the better mode if there are fewer results than arguments. As `jax.jacrev`.

    >>> import numpy as np
    >>> jacrev(lambda x: np.array([np.sum(x ** 2), x[0]]))(np.array([2.0, 3.0, 4.0]))
    array([[4., 6., 8.],
           [1., 0., 0.]])
    """
    mode = Jacobian(_wrt(argnums), True, has_aux, holomorphic, _pattern(sparsity, True))
    return _transformed(function, jacrev, mode)


jacobian = jacrev


def hessian(function: Callable[..., Any] | None = None, argnums: Wrt = 0, has_aux: bool = False,
            holomorphic: bool = False, sparsity: Any = None) -> Any:
    """Returns a function that computes the second derivatives of `function`.

    It is the Jacobian, by forward mode, of the Jacobian by reverse mode; arguments are those of `jacfwd`. As
    `jax.hessian`.

    >>> import numpy as np
    >>> hessian(lambda x: x[0] ** 2 * x[1])(np.array([2.0, 3.0]))
    array([[6., 4.],
           [4., 0.]])
    """
    if function is None:
        return lambda f: hessian(f, argnums, has_aux, holomorphic, sparsity)
    return jacfwd(jacrev(function, argnums, has_aux, holomorphic), argnums, has_aux, holomorphic, sparsity)


def hvp(function: Callable[..., Any] | None = None, argnums: Wrt = 0) -> Any:
    """Returns a function that computes the product of the Hessian of `function` with a vector, without the Hessian.

    That function takes the arguments of `function` and then the vector (one for each argument, if `argnums` is a
    tuple). It costs a few times as much as the gradient.

    >>> import numpy as np
    >>> hvp(lambda x: x[0] ** 2 * x[1])(np.array([2.0, 3.0]), np.array([1.0, 0.0]))
    array([6., 4.])
    """
    return _transformed(function, hvp, HessianVector(_wrt(argnums)))


def _pattern(sparsity: Any, by_rows: bool) -> Pattern | None:
    return None if sparsity is None else Pattern(sparsity, by_rows)
