"""Reductions, scans, changes of shape, arrangement, creation: every form of call against NumPy."""

import numpy as np
import pytest
from op_calls import cases, check, made, ramp
from op_cases import run_block

from transformer.core.builder import Builder
from transformer.ops.value import call

# -- reductions -----------------------------------------------------------------------------------

REDUCTIONS = (np.sum, np.prod, np.max, np.amax, np.min, np.amin, np.any, np.all,
              np.count_nonzero, np.mean, np.var, np.std, np.ptp)
METHODS = ("sum", "prod", "max", "min", "any", "all", "mean", "var", "std")
HOW = ({}, {"axis": 0}, {"axis": -1}, {"axis": (0, 2)}, {"axis": (-1, 0, 1)}, {"axis": (1,)},
       {"axis": ()}, {"axis": 1, "keepdims": True}, {"keepdims": True}, {"axis": None})
DTYPES = [np.dtype(name) for name in ("f8", "f4", "f2", "i8", "i4", "u1", "?", "c16", "c8")]


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("how", HOW, ids=str)
def test_reductions_over_every_form_of_axis(reduction, how):
    if reduction in (np.count_nonzero, np.ptp) and how.get("axis") == ():
        pytest.skip("NumPy refuses it")
    check(lambda x: reduction(x, **how), ramp(2, 3, 4))


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_dtypes_of_reductions(reduction, dtype):
    if reduction in (np.std, np.var) and dtype.kind == "c":
        pytest.skip("NumPy's rounding differs from evaluation to evaluation")
    if reduction is np.ptp and dtype.kind == "b":
        pytest.skip("NumPy refuses it")
    check(lambda x: reduction(x, axis=0), ramp(3, 2, dtype=dtype))
    check(lambda x: reduction(x), ramp(3, dtype=dtype))


@pytest.mark.parametrize("name", METHODS)
def test_methods_of_arrays(name):
    check(lambda x: getattr(x, name)(), ramp(2, 3))
    check(lambda x: getattr(x, name)(1), ramp(2, 3))
    check(lambda x: getattr(x, name)(axis=0, keepdims=True), ramp(2, 3))
    check(lambda x: getattr(x, name)(), ramp(3) > 0)


@cases(
    lambda x: np.sum(x, 0, np.float32), lambda x: x.sum(dtype="float32"),
    lambda x: np.sum(x, dtype=float),
    lambda x: np.prod(x, dtype=np.int64) if x.dtype.kind != "f" else np.prod(x),
    lambda x: np.mean(x, 1, np.float32), lambda x: np.argmax(x), lambda x: np.argmin(x, 0),
    lambda x: x.argmax(-1), lambda x: x.argmin(), lambda x: np.argmax(x, axis=1, keepdims=True),
    lambda x: np.argmin(x, keepdims=True), lambda x: np.sum([x, x], 0),
    lambda x: np.var(x, 0, ddof=1), lambda x: x.std(ddof=1, axis=-1), lambda x: np.average(x),
    lambda x: np.average(x, 0), lambda x: np.average(x, weights=x * x),
    lambda x: np.average(x, 1, x * x), lambda x: np.average(x, axis=1, weights=x[0] ** 2 + 1),
    lambda x: np.average(x, axis=0, weights=x[:, 0] ** 2 + 1, keepdims=True),
)
def test_other_calls_of_reductions(function):
    check(function, ramp(3, 4))


@pytest.mark.parametrize("ord", [None, 1, 2, 3, 0.5, 0, np.inf, -np.inf, -1])
def test_norms_of_vectors(ord):
    check(lambda v: np.linalg.norm(v, ord), ramp(4) + 0.5)
    check(lambda m: np.linalg.norm(m, ord, axis=-1), ramp(3, 4) + 0.5)
    check(lambda m: np.linalg.norm(m, ord=ord, axis=0, keepdims=True), ramp(3, 4) + 0.5)
    check(lambda v: np.linalg.norm(v, ord), np.array([3, -4]))


@pytest.mark.parametrize("ord", [None, "fro", 1, -1, np.inf, -np.inf])
def test_norms_of_matrices(ord):
    check(lambda m: np.linalg.norm(m, ord), ramp(3, 4))
    check(lambda m: np.linalg.norm(m, ord, (0, 2)), ramp(3, 4, 2))
    check(lambda m: np.linalg.norm(m, ord, (2, 1), True), ramp(3, 4, 2))
    check(lambda m: np.linalg.norm(m), ramp(3, 4, 2))


# -- scans ----------------------------------------------------------------------------------------


@cases(
    lambda x: np.cumsum(x), lambda x: np.cumsum(x, 0), lambda x: x.cumsum(axis=-1),
    lambda x: np.cumprod(x), lambda x: x.cumprod(1), lambda x: np.cumsum(x > 0, 1),
    lambda x: np.cumsum(x[0]), lambda x: np.cumsum(x[0], 0),
    lambda x: np.cumsum(x, dtype=np.float32), lambda x: np.cumprod(x > 0), lambda x: np.diff(x),
    lambda x: np.diff(x, axis=0), lambda x: np.diff(x, 2), lambda x: np.diff(x, n=2, axis=0),
    lambda x: np.diff(x, 0), lambda x: np.diff(x[0]), lambda x: np.diff(x, prepend=0),
    lambda x: np.diff(x, axis=0, prepend=x[:1], append=2.5), lambda x: np.diff(x, 9),
    lambda x: np.trapezoid(x), lambda x: np.trapezoid(x, dx=0.5, axis=0),
    lambda x: np.trapezoid(x, x[0]), lambda x: np.trapezoid(x, x * x, axis=0),
    lambda x: np.trapezoid(x, x[:, 0], axis=0),
)
def test_scans(function):
    check(function, ramp(3, 4))


# -- changes of shape -----------------------------------------------------------------------------


@cases(
    lambda x: x.reshape(4, 3), lambda x: x.reshape((4, 3)), lambda x: x.reshape(-1),
    lambda x: x.reshape(2, -1), lambda x: np.reshape(x, (12,)), lambda x: np.reshape(x, 12),
    lambda x: np.reshape(x, (-1, 6), order="C"), lambda x: np.reshape(x, shape=[2, 6]),
    lambda x: x.reshape(x.size), lambda x: x.reshape(x.shape[1], -1),
    lambda x: x.reshape(x.shape[0], 1, x.shape[1]), lambda x: x.reshape(x.shape + (1,)),
    lambda x: x.reshape([3, 2, 2]), lambda x: x.ravel(), lambda x: np.ravel(x),
    lambda x: x.flatten(), lambda x: x[0, 0].reshape(1, 1), lambda x: x.reshape(x.shape[0] * 2, -1),
    lambda x: x[0, 0].ravel(), lambda x: np.sum(x).reshape(()), lambda x: x.T,
    lambda x: x.transpose(), lambda x: x.transpose(1, 0), lambda x: x.transpose((1, 0)),
    lambda x: np.transpose(x, (0, 1)), lambda x: np.transpose(x, axes=[-1, 0]), lambda x: x.mT,
    lambda x: x[0].T, lambda x: np.swapaxes(x, 0, -1), lambda x: x.swapaxes(1, 0),
    lambda x: np.matrix_transpose(x), lambda x: np.moveaxis(x, 0, -1), lambda x: np.rollaxis(x, 1),
    lambda x: np.rollaxis(x, 0, 2), lambda x: np.expand_dims(x, 0), lambda x: np.expand_dims(x, -1),
    lambda x: np.expand_dims(x, (0, -1)), lambda x: np.squeeze(x[:, None]),
    lambda x: np.squeeze(x[None, :, None], axis=(0, 2)), lambda x: np.squeeze(x),
    lambda x: x[None].squeeze(0), lambda x: x[:, :1].squeeze(-1),
    lambda x: np.squeeze(x[None, :, None], -2 - 1 + 1), lambda x: np.broadcast_to(x, (2, 3, 4)),
    lambda x: np.broadcast_to(x[:, :1], x.shape), lambda x: np.broadcast_to(x[0, 0], (5,)),
    lambda x: np.broadcast_to(x[0], (2, x.shape[1])), lambda x: np.broadcast_arrays(x, x[0], 2.0),
    lambda x: np.atleast_1d(x[0, 0]), lambda x: np.atleast_2d(x[0]), lambda x: np.atleast_3d(x),
    lambda x: np.atleast_3d(x[0]), lambda x: np.atleast_2d(x, x[0, 0]), lambda x: np.copy(x),
    lambda x: x.copy(), lambda x: made(x, np.ascontiguousarray, x),
    lambda x: made(x, np.asfortranarray, x), lambda x: made(x, np.ascontiguousarray, x[0]),
    lambda x: made(x, np.asarray, x), lambda x: made(x, np.asarray, x, np.float32),
    lambda x: made(x, np.asanyarray, x),
)
def test_changes_of_shape(function):
    check(function, ramp(3, 4))


@cases(
    lambda x: np.transpose(x, (2, 0, 1)), lambda x: x.transpose(0, 2, 1), lambda x: x.T,
    lambda x: x.mT, lambda x: np.moveaxis(x, (0, 1), (2, 0)), lambda x: np.moveaxis(x, -1, 0),
    lambda x: np.moveaxis(x, [2, 0], [0, 1]), lambda x: np.rollaxis(x, 2),
    lambda x: np.rollaxis(x, 0, 3), lambda x: np.rollaxis(x, 2, -2),
    lambda x: x.reshape(x.shape[0], -1), lambda x: x.reshape(-1, x.shape[-1]),
    lambda x: x.reshape(6, -1), lambda x: np.flip(x, (0, -1)), lambda x: np.rot90(x, axes=(1, 2)),
    lambda x: np.roll(x, 1, axis=1), lambda x: np.diagonal(x, axis1=0, axis2=2),
    lambda x: np.diagonal(x, 1, 2, 1), lambda x: x.trace(), lambda x: np.trace(x, 1, 1, 2),
    lambda x: np.trace(x, -1, 2, 0), lambda x: np.tril(x, 1), lambda x: np.triu(x),
    lambda x: np.dstack([x, x]), lambda x: np.hstack([x, x]), lambda x: np.dsplit(x, 2),
    lambda x: np.tile(x, 2), lambda x: np.repeat(x, 2, axis=1),
    lambda x: np.take(x, [0, 1], axis=-1),
)
def test_higher_ranks(function):
    check(function, ramp(2, 3, 4))


# -- joining and splitting ------------------------------------------------------------------------


@cases(
    lambda x, y: np.concatenate([x, y]), lambda x, y: np.concatenate((x, x, y), axis=0),
    lambda x, y: np.concatenate([x.T, y.T], axis=-1),
    lambda x, y: np.concatenate([x, y], axis=None),
    lambda x, y: np.concatenate([x, y], dtype=np.float32), lambda x, y: np.concatenate([x, y > 0]),
    lambda x, y: np.concatenate([x[0], [1.0, 2.0], y[0]]),
    lambda x, y: np.concatenate([x[0], y[:, 0]]), lambda x, y: np.stack([x[0], y[0]]),
    lambda x, y: np.stack([x[0], y[1]], axis=-1), lambda x, y: np.stack((x, x, x), 1),
    lambda x, y: np.stack([x[0, 0], y[0, 0], 2.0]), lambda x, y: np.vstack([x, y]),
    lambda x, y: np.vstack([x[0], y]), lambda x, y: np.vstack([x[0], x[1]]),
    lambda x, y: np.hstack([x.T, y.T]), lambda x, y: np.hstack([x[0], y[:, 0]]),
    lambda x, y: np.hstack([x[0, 0], x[0]]), lambda x, y: np.dstack([x, x]),
    lambda x, y: np.dstack([x[0], y[0]]), lambda x, y: np.column_stack([x.T, x[0]]),
    lambda x, y: np.column_stack([x[0], y[0], y.T]), lambda x, y: np.column_stack([x[0, 0], 3.0]),
    lambda x, y: np.concat([x, y]), lambda x, y: np.append(x, y), lambda x, y: np.append(x, y, 0),
    lambda x, y: (np.shape(x), np.size(y), np.size(x, 1), np.ndim(x)),
)
def test_joining(function):
    check(function, ramp(3, 4), ramp(2, 4))


@cases(
    lambda x: np.split(x, 3), lambda x: np.split(x, [2, 4]), lambda x: np.split(x, (1,), axis=1),
    lambda x: np.split(x, 2, axis=-1), lambda x: np.array_split(x, 4),
    lambda x: np.array_split(x, 5, axis=1), lambda x: np.hsplit(x, 2), lambda x: np.vsplit(x, [1]),
    lambda x: np.hsplit(x[0], [1]), lambda x: np.split(x, []),
    lambda x: np.array_split(x[:, 0], [2, 9]),
)
def test_splitting(function):
    check(function, ramp(6, 4))


@cases(
    lambda a, v: made(a, np.array, [a, a * a]), lambda a, v: made(a, np.array, [[a, 2], [3, a]]),
    lambda a, v: made(a, np.array, [v, v * v]), lambda a, v: made(a, np.array, [v, [1, 2, 3]]),
    lambda a, v: made(a, np.array, [[v, v], [[1, 2, 3], v]]), lambda a, v: made(a, np.array, v),
    lambda a, v: made(a, np.array, [a, 1], dtype=np.float32),
    lambda a, v: made(a, np.array, v, "float32"), lambda a, v: made(a, np.array, [[a]]),
    lambda a, v: made(a, np.array, v, copy=True), lambda a, v: made(a, np.array, [v]),
    lambda a, v: made(a, np.array, [1, 2, a]), lambda a, v: made(a, np.array, a),
    lambda a, v: made(a, np.array, (v[0], v[1])),
)
def test_arrays_written_out(function):
    check(function, np.float64(1.5), ramp(3))


# -- arrangement ----------------------------------------------------------------------------------


@cases(
    lambda x: np.flip(x), lambda x: np.flip(x, 1), lambda x: np.flip(x, (0, 1)),
    lambda x: np.fliplr(x), lambda x: np.flipud(x), lambda x: np.rot90(x), lambda x: np.rot90(x, 2),
    lambda x: np.rot90(x, -1), lambda x: np.rot90(x, 4), lambda x: np.roll(x, 2),
    lambda x: np.roll(x, -1, axis=1), lambda x: np.roll(x, (1, 2), axis=(0, 1)),
    lambda x: np.roll(x, 1, axis=(0, 1)), lambda x: np.roll(x, (1, 2), axis=0),
    lambda x: np.roll(x[0], x.shape[0]), lambda x: np.tile(x, 2), lambda x: np.tile(x, (2, 1)),
    lambda x: np.tile(x, (2, 1, 3)), lambda x: np.tile(x[0], (2, 2)),
    lambda x: np.tile(x, x.shape[1]), lambda x: np.repeat(x, 2), lambda x: np.repeat(x, 3, axis=0),
    lambda x: x.repeat(2, axis=-1), lambda x: np.repeat(x, [2]),
    lambda x: np.repeat(x, x.shape[0], axis=1), lambda x: np.repeat(x[0, 0], 3),
    lambda x: np.pad(x, 1), lambda x: np.pad(x, (1, 2)), lambda x: np.pad(x, ((1, 0), (2, 3))),
    lambda x: np.pad(x, [(1, 2)]), lambda x: np.pad(x, 2, constant_values=1.5),
    lambda x: np.pad(x, 1, "constant"), lambda x: np.pad(x[0], (0, 3)),
    lambda x: np.pad(x, ((0, 0), (1, 1)), mode="edge"), lambda x: np.pad(x, 2, "reflect"),
    lambda x: np.pad(x, 2, "wrap"), lambda x: np.pad(x, (1, 3), "symmetric"),
    lambda x: np.pad(x, x.shape[0]), lambda x: np.pad(x, 7, "reflect"),
    lambda x: np.pad(x, 2, "mean"), lambda x: np.pad(x, ((0, 2), (1, 0)), "maximum"),
    lambda x: np.pad(x, 1, "minimum"), lambda x: np.pad(x, (3, 1), "linear_ramp"),
    lambda x: np.pad(x, ((0, 0), (2, 1)), "linear_ramp", end_values=((1.5, 2.0), (3.0, -1.0))),
    lambda x: np.pad(x, (1, 2), constant_values=(1.0, 2.5)), lambda x: np.pad(x, 0, "maximum"),
    lambda x: np.pad(x, ((1, 1), (0, 2)), constant_values=((1.0, 2.0), (3.0, 4.0))),
    lambda x: np.pad(x, {-1: (1, 2)}), lambda x: np.pad(x, 1, constant_values=x[0, 0]),
    lambda x: np.take(x, [0, 2]), lambda x: np.take(x, [0, 2], axis=1),
    lambda x: x.take([-1], axis=0), lambda x: np.take(x, 1, 0), lambda x: np.diag(x),
    lambda x: np.diag(x, 1), lambda x: np.diag(x, -2), lambda x: np.diag(x[0]),
    lambda x: np.diag(x[0], -1), lambda x: np.diag(x[0], k=2), lambda x: np.diagonal(x, 1),
    lambda x: x.diagonal(), lambda x: np.diag(x @ x.T), lambda x: np.diag(x, 9),
    lambda x: np.diagflat(x), lambda x: x.trace(), lambda x: np.trace(x, 1),
    lambda x: np.trace(x > 0), lambda x: np.tril(x), lambda x: np.triu(x, 1),
    lambda x: np.tril(x, k=-1), lambda x: np.meshgrid(x[0], x[:, 0]),
    lambda x: np.meshgrid(x[0], x[:, 0], indexing="ij"), lambda x: np.meshgrid(x[0]),
    lambda x: np.meshgrid(x[0], x[:, 0], x[1], sparse=True),
    lambda x: np.meshgrid(x[0], 2.0, x[:, 1]),
)
def test_arrangement(function):
    check(function, ramp(3, 4))


# -- creation -------------------------------------------------------------------------------------


@cases(
    lambda x: made(x, np.zeros, x.shape), lambda x: made(x, np.zeros, x.shape[0]),
    lambda x: made(x, np.ones, (x.shape[1], 2), int),
    lambda x: made(x, np.zeros, (2, x.size), dtype=bool),
    lambda x: made(x, np.ones, [x.shape[0]], dtype="float32"),
    lambda x: made(x, np.full, x.shape, 2), lambda x: made(x, np.full, (2, x.shape[1]), x[0]),
    lambda x: made(x, np.full, 3, x[0, 0]),
    lambda x: made(x, np.full, x.shape, fill_value=1, dtype=float), lambda x: np.zeros_like(x),
    lambda x: np.ones_like(x[0]), lambda x: np.full_like(x, 0.5),
    lambda x: np.zeros_like(x, dtype=np.float32), lambda x: np.full_like(x > 0, 2, dtype=int),
    lambda x: np.ones_like(x, shape=(2, 2)), lambda x: np.zeros_like(x, bool),
    lambda x: made(x, np.eye, x.shape[0]), lambda x: made(x, np.eye, x.shape[0], x.shape[1]),
    lambda x: made(x, np.eye, 3, x.shape[1], k=1, dtype=np.float32),
    lambda x: made(x, np.eye, x.shape[0], dtype=int), lambda x: made(x, np.identity, x.shape[1]),
    lambda x: made(x, np.tri, x.shape[0]), lambda x: made(x, np.tri, x.shape[0], x.shape[1], -1),
    lambda x: made(x, np.arange, x.shape[0]), lambda x: made(x, np.arange, 1, x.size),
    lambda x: made(x, np.arange, x.size, 1, -1), lambda x: made(x, np.arange, 0, x.size, 5),
    lambda x: made(x, np.arange, x.size, dtype=float),
    lambda x: made(x, np.arange, 0.0, x.shape[0]),
    lambda x: made(x, np.arange, x.shape[1], x.shape[0]),
    lambda x: made(x, np.arange, x.shape[0], dtype=np.float32),
    lambda x: made(x, np.arange, 0, x.size, x.shape[0]),
    lambda x: made(x, np.linspace, 0.0, 1.0, x.shape[0]), lambda x: np.linspace(x[0], x[1], 5),
    lambda x: np.linspace(x[0, 0], 2, 4),
    lambda x: np.linspace(x[0], 1, x.shape[0], endpoint=False),
    lambda x: made(x, np.linspace, 0, 1, num=x.size, dtype=np.float32),
    lambda x: made(x, np.logspace, 0, 1, x.shape[0]),
    lambda x: np.geomspace(x[0, 0], 8 * x[0, 0], 4), lambda x: made(x, np.indices, x.shape),
    lambda x: made(x, np.diag_indices, x.shape[0]), lambda x: np.ones((x.shape[0], 2), like=x),
    lambda x: np.tri(x.shape[0], like=x), lambda x: np.eye(3, 4, like=x),
)
def test_creation(function):
    check(function, ramp(3, 4))


@pytest.mark.parametrize("args, kwargs", [
    ((3,), {}), ((2, 5), {}), ((5, 0, -2), {}), ((3.0,), {}), ((0, 1, 0.25), {}), ((1.5, 4.0), {}),
    ((4,), {"dtype": "f4"}), ((np.int32(4),), {}), ((np.float32(3),), {}), ((5, 2), {}),
    ((1, 7), {"step": 2}), ((), {"stop": 3}), ((3, 6, 2, float), {}),
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
