"""Reductions, scans, changes of shape, creation: types and values against NumPy.

Every call is made on NumPy arrays and on abstract values, once with the sizes of the arrays and once
with a name for every size (the arrays' sizes being the hints). The Core that comes out is evaluated
with NumPy, so that what a call is bound to, and what it is rewritten to, is tested as well.
"""

import numpy as np
import pytest
from op_cases import evaluate, resolved, run_block, type_of_value

from transformer.core.builder import Builder
from transformer.core.errors import BadArgument, NotSupported, ShapeError
from transformer.core.grammar import Const, Function, Var
from transformer.core.guards import Assumptions
from transformer.core.sizes import Dim, Size, Unknown
from transformer.core.types import FLOAT, INT, ArrayType
from transformer.ops.arguments import NotKnown
from transformer.ops.creation import ones, zeros
from transformer.ops.value import Value, call, value
from transformer.transform.forward import jvp
from transformer.transform.reverse import reverse

F64 = np.dtype(np.float64)


# -- the same function on arrays and on abstract values -------------------------------------------


def abstract(operand, place, dims):
    """A value of the type of an operand, and with `dims` a name for each size that is not 0 or 1."""
    if not isinstance(operand, np.ndarray):
        return Value(Var(type_of_value(operand)))
    sizes = list(operand.shape)
    for axis, size in enumerate(sizes):
        if dims is not None and size > 1:
            dims[Dim(f"n{place}_{axis}")] = size
            sizes[axis] = Size.of(Dim(f"n{place}_{axis}"))
    return Value(Var(ArrayType(operand.dtype, tuple(sizes))))


def leaves(result):
    """The arrays and values of a result, however nested."""
    if isinstance(result, (tuple, list)):
        return [leaf for item in result for leaf in leaves(item)]
    return [result if isinstance(result, Value) else np.asarray(result)]


def on_values(function, operands, symbolic):
    """The types that a function of values gives, and the arrays they are when evaluated."""
    dims = {} if symbolic else None
    values = [abstract(x, place, dims) for place, x in enumerate(operands)]
    builder = Builder(Assumptions(dims or {}, smallest=2))
    with builder.active():
        results = [value(x) if isinstance(x, int) else x for x in leaves(function(*values))]
    assert all(guard.holds(dims or {}) for guard in builder.assumptions.guards)
    env = {**dict(zip((x.atom for x in values), operands)), **(dims or {})}
    run_block(builder.block, env)
    return [(resolved(x.type.sizes, env), x.dtype, resolved(x.atom, env)) for x in results]


@pytest.fixture(params=[False, True], ids=["numbers", "names"])
def check(request):
    """Compares a function of values with itself on arrays."""
    def compare(function, *operands):
        expected = leaves(function(*operands))
        found = on_values(function, operands, request.param)
        assert len(found) == len(expected)
        for (sizes, dtype, got), want in zip(found, expected):
            assert (sizes, dtype) == (want.shape, want.dtype)
            np.testing.assert_allclose(got, want, rtol=1e-6)
    return compare


def made(like, function, *args, **kwargs):
    """A call of a function that NumPy does not dispatch on its arguments."""
    return call(function, args, kwargs) if isinstance(like, Value) else function(*args, **kwargs)


def ramp(*shape, dtype=F64):
    return (np.arange(np.prod(shape, dtype=int)) * 7 % 11 - 3.0).reshape(shape).astype(dtype)


def cases(*functions):
    return pytest.mark.parametrize("function", functions, ids=range(len(functions)))


# -- reductions -----------------------------------------------------------------------------------

REDUCTIONS = (np.sum, np.prod, np.max, np.amax, np.min, np.amin, np.any, np.all, np.count_nonzero, np.mean,
              np.var, np.std, np.ptp)
METHODS = ("sum", "prod", "max", "min", "any", "all", "mean", "var", "std")
HOW = ({}, {"axis": 0}, {"axis": -1}, {"axis": (0, 2)}, {"axis": (-1, 0, 1)}, {"axis": (1,)}, {"axis": ()},
       {"axis": 1, "keepdims": True}, {"keepdims": True}, {"axis": None})
DTYPES = [np.dtype(name) for name in ("f8", "f4", "f2", "i8", "i4", "u1", "?", "c16", "c8")]


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("how", HOW, ids=str)
def test_reductions_over_every_form_of_axis(check, reduction, how):
    if reduction in (np.count_nonzero, np.ptp) and how.get("axis") == ():
        pytest.skip("NumPy refuses it")
    check(lambda x: reduction(x, **how), ramp(2, 3, 4))


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_dtypes_of_reductions(check, reduction, dtype):
    if reduction in (np.std, np.var) and dtype.kind == "c":
        pytest.skip("NumPy's rounding differs from evaluation to evaluation")
    if reduction is np.ptp and dtype.kind == "b":
        pytest.skip("NumPy refuses it")
    check(lambda x: reduction(x, axis=0), ramp(3, 2, dtype=dtype))
    check(lambda x: reduction(x), ramp(3, dtype=dtype))


@pytest.mark.parametrize("name", METHODS)
def test_methods_of_arrays(check, name):
    check(lambda x: getattr(x, name)(), ramp(2, 3))
    check(lambda x: getattr(x, name)(1), ramp(2, 3))
    check(lambda x: getattr(x, name)(axis=0, keepdims=True), ramp(2, 3))
    check(lambda x: getattr(x, name)(), ramp(3) > 0)


@cases(
    lambda x: np.sum(x, 0, np.float32), lambda x: x.sum(dtype="float32"), lambda x: np.sum(x, dtype=float),
    lambda x: np.prod(x, dtype=np.int64) if x.dtype.kind != "f" else np.prod(x), lambda x: np.mean(x, 1, np.float32),
    lambda x: np.argmax(x), lambda x: np.argmin(x, 0), lambda x: x.argmax(-1), lambda x: x.argmin(),
    lambda x: np.argmax(x, axis=1, keepdims=True), lambda x: np.argmin(x, keepdims=True),
    lambda x: np.sum([x, x], 0), lambda x: np.var(x, 0, ddof=1), lambda x: x.std(ddof=1, axis=-1),
    lambda x: np.average(x), lambda x: np.average(x, 0), lambda x: np.average(x, weights=x * x),
    lambda x: np.average(x, 1, x * x), lambda x: np.average(x, axis=1, weights=x[0] ** 2 + 1),
    lambda x: np.average(x, axis=0, weights=x[:, 0] ** 2 + 1, keepdims=True),
)
def test_other_calls_of_reductions(check, function):
    check(function, ramp(3, 4))


@pytest.mark.parametrize("ord", [None, 1, 2, 3, 0.5, 0, np.inf, -np.inf, -1])
def test_norms_of_vectors(check, ord):
    check(lambda v: np.linalg.norm(v, ord), ramp(4) + 0.5)
    check(lambda m: np.linalg.norm(m, ord, axis=-1), ramp(3, 4) + 0.5)
    check(lambda m: np.linalg.norm(m, ord=ord, axis=0, keepdims=True), ramp(3, 4) + 0.5)
    check(lambda v: np.linalg.norm(v, ord), np.array([3, -4]))


@pytest.mark.parametrize("ord", [None, "fro", 1, -1, np.inf, -np.inf])
def test_norms_of_matrices(check, ord):
    check(lambda m: np.linalg.norm(m, ord), ramp(3, 4))
    check(lambda m: np.linalg.norm(m, ord, (0, 2)), ramp(3, 4, 2))
    check(lambda m: np.linalg.norm(m, ord, (2, 1), True), ramp(3, 4, 2))
    check(lambda m: np.linalg.norm(m), ramp(3, 4, 2))


# -- scans ----------------------------------------------------------------------------------------


@cases(
    lambda x: np.cumsum(x), lambda x: np.cumsum(x, 0), lambda x: x.cumsum(axis=-1), lambda x: np.cumprod(x),
    lambda x: x.cumprod(1), lambda x: np.cumsum(x > 0, 1), lambda x: np.cumsum(x[0]), lambda x: np.cumsum(x[0], 0),
    lambda x: np.cumsum(x, dtype=np.float32), lambda x: np.cumprod(x > 0), lambda x: np.diff(x), lambda x: np.diff(x, axis=0),
    lambda x: np.diff(x, 2), lambda x: np.diff(x, n=2, axis=0), lambda x: np.diff(x, 0), lambda x: np.diff(x[0]),
    lambda x: np.diff(x, prepend=0), lambda x: np.diff(x, axis=0, prepend=x[:1], append=2.5), lambda x: np.diff(x, 9),
    lambda x: np.trapezoid(x), lambda x: np.trapezoid(x, dx=0.5, axis=0), lambda x: np.trapezoid(x, x[0]),
    lambda x: np.trapezoid(x, x * x, axis=0), lambda x: np.trapezoid(x, x[:, 0], axis=0),
)
def test_scans(check, function):
    check(function, ramp(3, 4))


# -- changes of shape -----------------------------------------------------------------------------


@cases(
    lambda x: x.reshape(4, 3), lambda x: x.reshape((4, 3)), lambda x: x.reshape(-1), lambda x: x.reshape(2, -1),
    lambda x: np.reshape(x, (12,)), lambda x: np.reshape(x, 12), lambda x: np.reshape(x, (-1, 6), order="C"),
    lambda x: np.reshape(x, shape=[2, 6]), lambda x: x.reshape(x.size), lambda x: x.reshape(x.shape[1], -1),
    lambda x: x.reshape(x.shape[0], 1, x.shape[1]), lambda x: x.reshape(x.shape + (1,)), lambda x: x.reshape([3, 2, 2]),
    lambda x: x.ravel(), lambda x: np.ravel(x), lambda x: x.flatten(), lambda x: x[0, 0].reshape(1, 1),
    lambda x: x.reshape(x.shape[0] * 2, -1), lambda x: x[0, 0].ravel(), lambda x: np.sum(x).reshape(()),
    lambda x: x.T, lambda x: x.transpose(), lambda x: x.transpose(1, 0), lambda x: x.transpose((1, 0)),
    lambda x: np.transpose(x, (0, 1)), lambda x: np.transpose(x, axes=[-1, 0]), lambda x: x.mT, lambda x: x[0].T,
    lambda x: np.swapaxes(x, 0, -1), lambda x: x.swapaxes(1, 0), lambda x: np.matrix_transpose(x),
    lambda x: np.moveaxis(x, 0, -1), lambda x: np.rollaxis(x, 1), lambda x: np.rollaxis(x, 0, 2),
    lambda x: np.expand_dims(x, 0), lambda x: np.expand_dims(x, -1), lambda x: np.expand_dims(x, (0, -1)),
    lambda x: np.squeeze(x[:, None]), lambda x: np.squeeze(x[None, :, None], axis=(0, 2)), lambda x: np.squeeze(x),
    lambda x: x[None].squeeze(0), lambda x: x[:, :1].squeeze(-1), lambda x: np.squeeze(x[None, :, None], -2 - 1 + 1),
    lambda x: np.broadcast_to(x, (2, 3, 4)), lambda x: np.broadcast_to(x[:, :1], x.shape),
    lambda x: np.broadcast_to(x[0, 0], (5,)), lambda x: np.broadcast_to(x[0], (2, x.shape[1])),
    lambda x: np.broadcast_arrays(x, x[0], 2.0), lambda x: np.atleast_1d(x[0, 0]), lambda x: np.atleast_2d(x[0]),
    lambda x: np.atleast_3d(x), lambda x: np.atleast_3d(x[0]), lambda x: np.atleast_2d(x, x[0, 0]),
    lambda x: np.copy(x), lambda x: x.copy(), lambda x: made(x, np.ascontiguousarray, x), lambda x: made(x, np.asarray, x),
    lambda x: made(x, np.asarray, x, np.float32), lambda x: made(x, np.asanyarray, x),
)
def test_changes_of_shape(check, function):
    check(function, ramp(3, 4))


@cases(
    lambda x: np.transpose(x, (2, 0, 1)), lambda x: x.transpose(0, 2, 1), lambda x: x.T, lambda x: x.mT,
    lambda x: np.moveaxis(x, (0, 1), (2, 0)), lambda x: np.moveaxis(x, -1, 0), lambda x: np.moveaxis(x, [2, 0], [0, 1]),
    lambda x: np.rollaxis(x, 2), lambda x: np.rollaxis(x, 0, 3), lambda x: np.rollaxis(x, 2, -2),
    lambda x: x.reshape(x.shape[0], -1), lambda x: x.reshape(-1, x.shape[-1]), lambda x: x.reshape(6, -1),
    lambda x: np.flip(x, (0, -1)), lambda x: np.rot90(x, axes=(1, 2)), lambda x: np.roll(x, 1, axis=1),
    lambda x: np.diagonal(x, axis1=0, axis2=2), lambda x: np.diagonal(x, 1, 2, 1), lambda x: x.trace(),
    lambda x: np.trace(x, 1, 1, 2), lambda x: np.trace(x, -1, 2, 0), lambda x: np.tril(x, 1), lambda x: np.triu(x),
    lambda x: np.dstack([x, x]), lambda x: np.hstack([x, x]), lambda x: np.dsplit(x, 2), lambda x: np.tile(x, 2),
    lambda x: np.repeat(x, 2, axis=1), lambda x: np.take(x, [0, 1], axis=-1),
)
def test_higher_ranks(check, function):
    check(function, ramp(2, 3, 4))


# -- joining and splitting ------------------------------------------------------------------------


@cases(
    lambda x, y: np.concatenate([x, y]), lambda x, y: np.concatenate((x, x, y), axis=0),
    lambda x, y: np.concatenate([x.T, y.T], axis=-1), lambda x, y: np.concatenate([x, y], axis=None),
    lambda x, y: np.concatenate([x, y], dtype=np.float32), lambda x, y: np.concatenate([x, y > 0]),
    lambda x, y: np.concatenate([x[0], [1.0, 2.0], y[0]]), lambda x, y: np.concatenate([x[0], y[:, 0]]),
    lambda x, y: np.stack([x[0], y[0]]), lambda x, y: np.stack([x[0], y[1]], axis=-1),
    lambda x, y: np.stack((x, x, x), 1), lambda x, y: np.stack([x[0, 0], y[0, 0], 2.0]),
    lambda x, y: np.vstack([x, y]), lambda x, y: np.vstack([x[0], y]), lambda x, y: np.vstack([x[0], x[1]]),
    lambda x, y: np.hstack([x.T, y.T]), lambda x, y: np.hstack([x[0], y[:, 0]]), lambda x, y: np.hstack([x[0, 0], x[0]]),
    lambda x, y: np.dstack([x, x]), lambda x, y: np.dstack([x[0], y[0]]), lambda x, y: np.column_stack([x.T, x[0]]),
    lambda x, y: np.column_stack([x[0], y[0], y.T]), lambda x, y: np.column_stack([x[0, 0], 3.0]),
    lambda x, y: np.concat([x, y]),
)
def test_joining(check, function):
    check(function, ramp(3, 4), ramp(2, 4))


@cases(
    lambda x: np.split(x, 3), lambda x: np.split(x, [2, 4]), lambda x: np.split(x, (1,), axis=1),
    lambda x: np.split(x, 2, axis=-1), lambda x: np.array_split(x, 4), lambda x: np.array_split(x, 5, axis=1),
    lambda x: np.hsplit(x, 2), lambda x: np.vsplit(x, [1]), lambda x: np.hsplit(x[0], [1]), lambda x: np.split(x, []),
    lambda x: np.array_split(x[:, 0], [2, 9]),
)
def test_splitting(check, function):
    check(function, ramp(6, 4))


@cases(
    lambda a, v: made(a, np.array, [a, a * a]), lambda a, v: made(a, np.array, [[a, 2], [3, a]]), lambda a, v: made(a, np.array, [v, v * v]),
    lambda a, v: made(a, np.array, [v, [1, 2, 3]]), lambda a, v: made(a, np.array, [[v, v], [[1, 2, 3], v]]), lambda a, v: made(a, np.array, v),
    lambda a, v: made(a, np.array, [a, 1], dtype=np.float32), lambda a, v: made(a, np.array, v, "float32"), lambda a, v: made(a, np.array, [[a]]),
    lambda a, v: made(a, np.array, v, copy=True), lambda a, v: made(a, np.array, [v]), lambda a, v: made(a, np.array, [1, 2, a]),
    lambda a, v: made(a, np.array, a), lambda a, v: made(a, np.array, (v[0], v[1])),
)
def test_arrays_written_out(check, function):
    check(function, np.float64(1.5), ramp(3))


# -- arrangement ----------------------------------------------------------------------------------


@cases(
    lambda x: np.flip(x), lambda x: np.flip(x, 1), lambda x: np.flip(x, (0, 1)), lambda x: np.fliplr(x),
    lambda x: np.flipud(x), lambda x: np.rot90(x), lambda x: np.rot90(x, 2), lambda x: np.rot90(x, -1), lambda x: np.rot90(x, 4),
    lambda x: np.roll(x, 2), lambda x: np.roll(x, -1, axis=1), lambda x: np.roll(x, (1, 2), axis=(0, 1)),
    lambda x: np.roll(x, 1, axis=(0, 1)), lambda x: np.roll(x, (1, 2), axis=0), lambda x: np.roll(x[0], x.shape[0]),
    lambda x: np.tile(x, 2), lambda x: np.tile(x, (2, 1)), lambda x: np.tile(x, (2, 1, 3)), lambda x: np.tile(x[0], (2, 2)),
    lambda x: np.tile(x, x.shape[1]), lambda x: np.repeat(x, 2), lambda x: np.repeat(x, 3, axis=0), lambda x: x.repeat(2, axis=-1),
    lambda x: np.repeat(x, [2]), lambda x: np.repeat(x, x.shape[0], axis=1), lambda x: np.repeat(x[0, 0], 3),
    lambda x: np.pad(x, 1), lambda x: np.pad(x, (1, 2)), lambda x: np.pad(x, ((1, 0), (2, 3))), lambda x: np.pad(x, [(1, 2)]),
    lambda x: np.pad(x, 2, constant_values=1.5), lambda x: np.pad(x, 1, "constant"), lambda x: np.pad(x[0], (0, 3)),
    lambda x: np.pad(x, ((0, 0), (1, 1)), mode="edge"), lambda x: np.pad(x, 2, "reflect"), lambda x: np.pad(x, 2, "wrap"),
    lambda x: np.pad(x, (1, 3), "symmetric"), lambda x: np.pad(x, x.shape[0]), lambda x: np.pad(x, 7, "reflect"),
    lambda x: np.pad(x, {-1: (1, 2)}), lambda x: np.pad(x, 1, constant_values=x[0, 0]),
    lambda x: np.take(x, [0, 2]), lambda x: np.take(x, [0, 2], axis=1), lambda x: x.take([-1], axis=0),
    lambda x: np.take(x, 1, 0), lambda x: np.diag(x), lambda x: np.diag(x, 1), lambda x: np.diag(x, -2), lambda x: np.diag(x[0]),
    lambda x: np.diag(x[0], -1), lambda x: np.diag(x[0], k=2), lambda x: np.diagonal(x, 1), lambda x: x.diagonal(),
    lambda x: np.diag(x @ x.T), lambda x: np.diag(x, 9), lambda x: np.diagflat(x), lambda x: x.trace(), lambda x: np.trace(x, 1),
    lambda x: np.trace(x > 0), lambda x: np.tril(x), lambda x: np.triu(x, 1), lambda x: np.tril(x, k=-1),
    lambda x: np.meshgrid(x[0], x[:, 0]), lambda x: np.meshgrid(x[0], x[:, 0], indexing="ij"), lambda x: np.meshgrid(x[0]),
    lambda x: np.meshgrid(x[0], x[:, 0], x[1], sparse=True), lambda x: np.meshgrid(x[0], 2.0, x[:, 1]),
)
def test_arrangement(check, function):
    check(function, ramp(3, 4))


# -- creation -------------------------------------------------------------------------------------


@cases(
    lambda x: made(x, np.zeros, x.shape), lambda x: made(x, np.zeros, x.shape[0]), lambda x: made(x, np.ones, (x.shape[1], 2), int),
    lambda x: made(x, np.zeros, (2, x.size), dtype=bool), lambda x: made(x, np.ones, [x.shape[0]], dtype="float32"),
    lambda x: made(x, np.full, x.shape, 2), lambda x: made(x, np.full, (2, x.shape[1]), x[0]), lambda x: made(x, np.full, 3, x[0, 0]),
    lambda x: made(x, np.full, x.shape, fill_value=1, dtype=float), lambda x: np.zeros_like(x), lambda x: np.ones_like(x[0]),
    lambda x: np.full_like(x, 0.5), lambda x: np.zeros_like(x, dtype=np.float32), lambda x: np.full_like(x > 0, 2, dtype=int),
    lambda x: np.ones_like(x, shape=(2, 2)), lambda x: np.zeros_like(x, bool), lambda x: made(x, np.eye, x.shape[0]),
    lambda x: made(x, np.eye, x.shape[0], x.shape[1]), lambda x: made(x, np.eye, 3, x.shape[1], k=1, dtype=np.float32),
    lambda x: made(x, np.eye, x.shape[0], dtype=int), lambda x: made(x, np.identity, x.shape[1]), lambda x: made(x, np.tri, x.shape[0]),
    lambda x: made(x, np.tri, x.shape[0], x.shape[1], -1), lambda x: made(x, np.arange, x.shape[0]), lambda x: made(x, np.arange, 1, x.size),
    lambda x: made(x, np.arange, x.size, 1, -1), lambda x: made(x, np.arange, 0, x.size, 5), lambda x: made(x, np.arange, x.size, dtype=float),
    lambda x: made(x, np.arange, 0.0, x.shape[0]), lambda x: made(x, np.arange, x.shape[1], x.shape[0]),
    lambda x: made(x, np.arange, x.shape[0], dtype=np.float32), lambda x: made(x, np.arange, 0, x.size, x.shape[0]),
    lambda x: made(x, np.linspace, 0.0, 1.0, x.shape[0]), lambda x: np.linspace(x[0], x[1], 5), lambda x: np.linspace(x[0, 0], 2, 4),
    lambda x: np.linspace(x[0], 1, x.shape[0], endpoint=False), lambda x: made(x, np.linspace, 0, 1, num=x.size, dtype=np.float32),
    lambda x: made(x, np.logspace, 0, 1, x.shape[0]), lambda x: np.geomspace(x[0, 0], 8 * x[0, 0], 4),
    lambda x: made(x, np.indices, x.shape), lambda x: made(x, np.diag_indices, x.shape[0]),
    lambda x: np.ones((x.shape[0], 2), like=x), lambda x: np.tri(x.shape[0], like=x), lambda x: np.eye(3, 4, like=x),
)
def test_creation(check, function):
    check(function, ramp(3, 4))


@pytest.mark.parametrize("args, kwargs", [
    ((3,), {}), ((2, 5), {}), ((5, 0, -2), {}), ((3.0,), {}), ((0, 1, 0.25), {}), ((1.5, 4.0), {}), ((4,), {"dtype": "f4"}),
    ((np.int32(4),), {}), ((np.float32(3),), {}), ((5, 2), {}), ((1, 7), {"step": 2}), ((), {"stop": 3}), ((3, 6, 2, float), {}),
])
def test_ranges_of_numbers(args, kwargs):
    builder = Builder()
    with builder.active():
        result = call(np.arange, args, kwargs)
    env = {}
    run_block(builder.block, env)
    want = np.arange(*args, **kwargs)
    assert result.dtype == want.dtype
    np.testing.assert_array_equal(env[result.atom], want)


def test_sizes_may_be_integers_that_the_program_computes():
    builder = Builder()
    with builder.active():
        k, parameter = Var(INT), Var(INT, is_parameter=True)
        made_here = [call(np.zeros, (Value(k),), {}), call(np.ones, ((Value(k), 3),), {}), call(np.arange, (Value(k),), {}),
                     call(np.arange, (Value(parameter),), {}), call(np.eye, (Value(k) + 1,), {}),
                     call(np.linspace, (0.0, 1.0, Value(parameter)), {})]
        size = Size.of(Unknown(k))
        assert made_here[0].shape == (size,) and made_here[1].shape == (size, 3)
        assert made_here[3].shape == (Size.of(Unknown(parameter)),)
        assert made_here[4].shape == (size + 1, size + 1)
    env = {k: 4, parameter: 3}
    run_block(builder.block, env)
    assert [env[x.atom].shape for x in made_here] == [(4,), (4, 3), (4,), (3,), (5, 5), (3,)]
    assert [guard.kind for guard in builder.assumptions.guards] == ["at least"]


def test_a_range_up_to_a_computed_integer_may_be_empty():
    builder = Builder()
    with builder.active():
        k = Var(INT)
        x = call(np.arange, (Value(k),), {})
    env = {k: -2}
    run_block(builder.block, env)
    assert env[x.atom].shape == (0,)


def test_zeros_and_ones_of_types():
    with Builder().active() as builder:
        assert isinstance(zeros(FLOAT).atom, Const) and zeros(FLOAT).type == FLOAT
        single = zeros(ArrayType(np.dtype("f4")))
        assert single.type == ArrayType(np.dtype("f4")) and single.atom.value == 0
        type = ArrayType(np.dtype("f4"), (3,))
        assert zeros(type).type == ones(type).type == type
        assert [stmt.op.name for stmt in builder.block] == ["zeros", "ones"]


# -- what Core is told ----------------------------------------------------------------------------


def told(function, *types):
    """The ops that a function of values emits, with their attributes."""
    builder = Builder()
    with builder.active():
        function(*(Value(Var(ArrayType(F64, shape))) for shape in types))
    return [(s.op.name, {k: v for k, v in s.attrs.items() if k != "spelling"}) for s in builder.block]


N, M = Size.of(Dim("n")), Size.of(Dim("m"))


@pytest.mark.parametrize("function, wanted", [
    (lambda x: np.sum(x, axis=-1), ("sum", {"axis": 1})), (lambda x: np.sum(x, axis=(1, 0)), ("sum", {})),
    (lambda x: np.sum(x, axis=(0,), keepdims=False), ("sum", {"axis": 0})), (lambda x: np.sum(x, dtype=float), ("sum", {})),
    (lambda x: x.reshape(-1), ("reshape", {"shape": (N * M,)})), (lambda x: np.transpose(x, (1, 0)), ("transpose", {})),
    (lambda x: np.swapaxes(x, -1, 0), ("swapaxes", {"axis1": 0, "axis2": 1})), (lambda x: np.flip(x, (0, 1)), ("flip", {})),
    (lambda x: np.zeros_like(x), ("zeros", {"shape": (N, M)})), (lambda x: np.pad(x, ((1, 1), (1, 1))), ("pad", {"pad_width": 1})),
    (lambda x: np.cumsum(x, axis=-1), ("cumsum", {"axis": 1})), (lambda x: np.diag(x), ("diagonal", {})),
    (lambda x: np.squeeze(x), ("squeeze", {"axis": ()})), (lambda x: np.concatenate([x, x], axis=-2), ("concatenate", {})),
])
def test_attributes_are_normal_and_left_out_when_default(function, wanted):
    assert told(function, (N, M)) == [wanted]


def test_vectors_need_no_axis():
    for function in (np.sum, np.cumsum, np.max, np.argmax, np.linalg.norm):
        assert told(lambda x, f=function: f(x, axis=0), (N,))[0][1] == {}


def test_splitting_a_symbolic_size_is_guarded():
    with Builder(Assumptions({Dim("n"): 6}, smallest=2)).active() as builder:
        parts = np.split(Value(Var(ArrayType(F64, (N,)))), 3)
    assert len(parts) == 3
    assert builder.assumptions.guards
    assert all(guard.holds({Dim("n"): 6}) for guard in builder.assumptions.guards)
    assert not all(guard.holds({Dim("n"): 7}) for guard in builder.assumptions.guards)


def test_reshaping_a_symbolic_size_is_guarded():
    with Builder(Assumptions({Dim("n"): 6, Dim("m"): 2}, smallest=2)).active() as builder:
        x = Value(Var(ArrayType(F64, (N,))))
        assert x.reshape(3, -1).shape[0] == 3
        assert np.reshape(x, (M, 3)).ndim == 2
    guards = builder.assumptions.guards
    assert all(guard.holds({Dim("n"): 6, Dim("m"): 2}) for guard in guards)
    assert not all(guard.holds({Dim("n"): 9, Dim("m"): 2}) for guard in guards)


# -- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [
    lambda x: x.reshape(5, -1), lambda x: x.reshape(7), lambda x: x.reshape(-1, -1), lambda x: x.reshape(5, 2),
    lambda x: np.sum(x, axis=2), lambda x: np.sum(x, axis=(0, 0)), lambda x: np.max(x[:0]), lambda x: np.argmax(x[:0], axis=0),
    lambda x: np.transpose(x, (0,)), lambda x: np.transpose(x, (0, 0)), lambda x: np.expand_dims(x, (0, 0)), lambda x: np.expand_dims(x, 4),
    lambda x: np.squeeze(x, 0), lambda x: np.broadcast_to(x, (4,)), lambda x: np.broadcast_to(x, (2, 4)),
    lambda x: np.concatenate([x, x[0]]), lambda x: np.concatenate([x, x.T]), lambda x: np.concatenate([x[0, 0], x[0, 0]]),
    lambda x: np.stack([x, x[0]]), lambda x: np.split(x, 2), lambda x: np.zeros((-1,), like=x),
    lambda x: np.array_split(x, 0), lambda x: np.moveaxis(x, (0, 1), (0,)), lambda x: np.trace(x[0]), lambda x: np.diag(x[None]),
    lambda x: made(x, np.full, 3, x[0]), lambda x: np.diff(x[0, 0]), lambda x: np.linalg.norm(x[None], 1), lambda x: np.fliplr(x[0]),
    lambda x: np.pad(x, -1),
])
def test_shape_errors_say_what_numpy_says(function):
    with pytest.raises(ValueError) as wanted:
        function(ramp(3, 4))
    with Builder().active(), pytest.raises(ShapeError) as found:
        function(Value(Var(ArrayType(F64, (3, 4)))))
    assert found.value.message.split(", but along")[0] == str(wanted.value).split(", but along")[0]


@pytest.mark.parametrize("function", [
    lambda x: np.reshape(x, (4, 3), order="F"), lambda x: np.sum(x, where=x > 0), lambda x: np.pad(x, 1, mode="linear_ramp"),
    lambda x: np.take(x, [0], mode="clip"), lambda x: np.repeat(x, [1, 2, 3], axis=0), lambda x: np.linalg.norm(x, 2),
    lambda x: np.linalg.norm(x, "nuc"), lambda x: np.tril(x[0]), lambda x: np.linspace(x[0, 0], 1, 5, retstep=True),
    lambda x: call(np.arange, (x[0, 0],), {}), lambda x: np.sum(x, out=x[0]), lambda x: np.zeros_like(x, dtype=object),
    lambda x: np.concatenate([x, x], casting="unsafe"), lambda x: call(np.fliplr, (x,), {"axis": 0}),
])
def test_what_has_no_rule_is_refused(function):
    with Builder().active(), pytest.raises(NotSupported):
        function(Value(Var(ArrayType(F64, (3, 4)))))


def test_an_axis_that_the_program_computes_is_refused_with_the_value():
    axis = Value(Var(INT))
    with Builder().active(), pytest.raises(NotKnown) as error:
        np.sum(Value(Var(ArrayType(F64, (3, 4)))), axis=axis)
    assert error.value.value is axis


def test_a_size_that_is_not_whole_is_refused():
    with Builder().active(), pytest.raises(BadArgument):
        call(np.zeros, (2.5,), {})
    with Builder().active(), pytest.raises(BadArgument):
        call(np.zeros, (Value(Var(FLOAT)),), {})


# -- derivatives where they are conventions -------------------------------------------------------


def gradient(function, *operands):
    """The gradient of a scalar function of arrays."""
    params = [Var(type_of_value(x), is_parameter=True) for x in operands]
    builder = Builder()
    with builder.active(), builder.nested() as body:
        y = function(*map(Value, params))
    made = reverse(Function("f", params, body, [y.atom]), [True] * len(params), [Const(1.0)], builder)
    return evaluate(made, operands)[1:]


@pytest.mark.parametrize("function, x, wanted", [
    (np.max, [1.0, 3.0, 3.0], [0, 0.5, 0.5]), (np.min, [2.0, 2.0, 2.0], [1 / 3, 1 / 3, 1 / 3]),
    (np.std, [2.0, 2.0], [0, 0]), (np.linalg.norm, [0.0, 0.0], [0, 0]), (lambda x: np.linalg.norm(x, 3), [0.0, 0.0], [0, 0]),
    (lambda x: np.linalg.norm(x, 1), [0.0, -2.0], [0, -1]), (lambda x: np.linalg.norm(x, np.inf), [2.0, -2.0], [0.5, -0.5]),
    (np.prod, [0.0, 2.0, 3.0], [6, 0, 0]), (np.prod, [0.0, 2.0, 0.0], [0, 0, 0]), (np.prod, [5.0], [1]),
    (lambda x: np.sum(np.cumprod(x)), [0.0, 2.0, 3.0], [9, 0, 0]), (lambda x: np.sum(np.cumprod(x)), [2.0, 0.0, 0.0], [1, 2, 0]),
    (lambda x: np.ptp(x), [1.0, 4.0, 2.0], [-1, 1, 0]),
])
def test_conventions(function, x, wanted):
    found, = gradient(function, np.array(x))
    np.testing.assert_allclose(found, wanted, atol=1e-15)


def test_second_derivatives_at_the_kinks_are_zero():
    x = Var(ArrayType(F64, (2,)), is_parameter=True)
    for function in (np.std, np.linalg.norm):
        builder = Builder()
        with builder.active(), builder.nested() as body:
            y = function(Value(x))
        first = reverse(Function("f", [x], body, [y.atom]), [True], [Const(1.0)], builder)
        second = jvp(first, [True], builder)
        assert not np.any(evaluate(second, [np.zeros(2), np.array([1.0, 2.0])])[-1])


# -- views ----------------------------------------------------------------------------------------


@cases(
    lambda x: x.T, lambda x: np.transpose(x, (2, 0, 1)), lambda x: x.swapaxes(0, 2), lambda x: x.reshape(6, 4),
    lambda x: np.expand_dims(x, (0, 2)), lambda x: np.squeeze(x, ()), lambda x: x.ravel(), lambda x: np.flip(x, 1),
    lambda x: np.moveaxis(x, 0, -1),
)
def test_writing_back_undoes_a_view(function):
    array = ramp(2, 3, 4)
    builder = Builder()
    with builder.active():
        base = Value(Var(ArrayType(F64, array.shape)))
        part = function(base)
        stmt = builder.block[-1]
        assert stmt.op.view
        attrs = {key: item for key, item in stmt.attrs.items() if key != "spelling"}
        again = stmt.op.write_back(base, part, **attrs)
        assert again.shape == array.shape
    env = {base.atom: array}
    run_block(builder.block, env)
    np.testing.assert_array_equal(env[again.atom], array)
    view = function(array)
    assert view.base is not None or view is array
