"""The same function on NumPy arrays and on abstract values.

A call is made on arrays, on values with the sizes of the arrays, and on values with a name for
every size (the arrays' sizes being the hints). The Core that comes out is evaluated with NumPy,
so that what a call is bound to, and what it is rewritten to, is tested as well.
"""

import numpy as np
import pytest
from op_cases import resolved, run_block, type_of_value

from transformer.core.builder import Builder
from transformer.core.grammar import Var
from transformer.core.guards import Assumptions
from transformer.core.sizes import Dim, Size
from transformer.core.types import ArrayType
from transformer.ops.value import Value, call, value

F64 = np.dtype(np.float64)


def abstract(operand, place, dims):
    """A value of the type of an operand, and with `dims` a name for each size but 0 and 1."""
    if not isinstance(operand, np.ndarray):
        return Value(Var(type_of_value(operand)))
    sizes = list(operand.shape)
    for axis, size in enumerate(sizes):
        if dims is not None and size > 1:
            dims[Dim(f"n{place}_{axis}")] = size
            sizes[axis] = Size.of(Dim(f"n{place}_{axis}"))
    return Value(Var(ArrayType(operand.dtype, tuple(sizes))))


def leaves(result):
    """The arrays, values and sizes of a result, however nested."""
    if isinstance(result, (tuple, list)):
        return [leaf for item in result for leaf in leaves(item)]
    return [result]


def on_values(function, operands, symbolic):
    """The types that a function of values gives, and the arrays they are when evaluated."""
    dims = {} if symbolic else None
    values = [abstract(x, place, dims) for place, x in enumerate(operands)]
    builder = Builder(Assumptions(dims or {}, smallest=2))
    with builder.active():
        results = [value(x) for x in leaves(function(*values))]
    assert all(guard.holds(dims or {}) for guard in builder.assumptions.guards)
    env = {**dict(zip((x.atom for x in values), operands)), **(dims or {})}
    run_block(builder.block, env)
    return [(resolved(x.type.sizes, env), x.dtype, resolved(x.atom, env)) for x in results]


def check(function, *operands):
    """Compares a function of values with itself on arrays: types, sizes and numbers."""
    expected = [np.asarray(x) for x in leaves(function(*operands))]
    for symbolic in (False, True):
        found = on_values(function, operands, symbolic)
        assert len(found) == len(expected)
        for (sizes, dtype, got), want in zip(found, expected):
            assert (sizes, dtype) == (want.shape, want.dtype)
            np.testing.assert_allclose(got, want, rtol=1e-6)


def made(like, function, *args, **kwargs):
    """A call of a function that NumPy does not dispatch on its arguments."""
    return call(function, args, kwargs) if isinstance(like, Value) else function(*args, **kwargs)


def ramp(*shape, dtype=F64):
    return (np.arange(np.prod(shape, dtype=int)) * 7 % 11 - 3.0).reshape(shape).astype(dtype)


def cases(*functions):
    return pytest.mark.parametrize("function", functions, ids=range(len(functions)))
