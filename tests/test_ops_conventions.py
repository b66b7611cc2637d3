"""What Core is told of a call, what is refused, and derivatives where they are conventions."""

import numpy as np
import pytest
from op_calls import F64, cases, made, ramp
from op_cases import evaluate, run_block, type_of_value

from transformer.core.builder import Builder
from transformer.core.errors import BadArgument, NotSupported, ShapeError
from transformer.core.grammar import Const, Function, Var
from transformer.core.guards import Assumptions
from transformer.core.sizes import Dim, Size, Unknown
from transformer.core.types import FLOAT, INT, ArrayType
from transformer.ops.arguments import NotKnown
from transformer.ops.creation import ones, zeros
from transformer.ops.value import Value, call
from transformer.transform.forward import jvp
from transformer.transform.reverse.reverse import reverse

# -- sizes ----------------------------------------------------------------------------------------


def test_sizes_may_be_integers_that_the_program_computes():
    builder = Builder()
    with builder.active():
        k, parameter = Var(INT), Var(INT, is_parameter=True)
        made_here = [call(np.zeros, (Value(k),), {}), call(np.ones, ((Value(k), 3),), {}),
                     call(np.arange, (Value(k),), {}),
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
    return [(stmt.op.name, {key: item for key, item in stmt.attrs.items() if key != "spelling"})
            for stmt in builder.block]


N, M = Size.of(Dim("n")), Size.of(Dim("m"))


@pytest.mark.parametrize("function, wanted", [
    (lambda x: np.sum(x, axis=-1), ("sum", {"axis": 1})),
    (lambda x: np.sum(x, axis=(1, 0)), ("sum", {})),
    (lambda x: np.sum(x, axis=(0,), keepdims=False), ("sum", {"axis": 0})),
    (lambda x: np.sum(x, dtype=float), ("sum", {})),
    (lambda x: x.reshape(-1), ("reshape", {"shape": (N * M,)})),
    (lambda x: np.transpose(x, (1, 0)), ("transpose", {})),
    (lambda x: np.swapaxes(x, -1, 0), ("swapaxes", {"axis1": 0, "axis2": 1})),
    (lambda x: np.flip(x, (0, 1)), ("flip", {})),
    (lambda x: np.zeros_like(x), ("zeros", {"shape": (N, M)})),
    (lambda x: np.pad(x, ((1, 1), (1, 1))), ("pad", {"pad_width": 1})),
    (lambda x: np.cumsum(x, axis=-1), ("cumsum", {"axis": 1})),
    (lambda x: np.diag(x), ("diagonal", {})), (lambda x: np.squeeze(x), ("squeeze", {"axis": ()})),
    (lambda x: np.concatenate([x, x], axis=-2), ("concatenate", {})),
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
    lambda x: x.reshape(5, -1), lambda x: x.reshape(7), lambda x: x.reshape(-1, -1),
    lambda x: x.reshape(5, 2), lambda x: np.sum(x, axis=2), lambda x: np.sum(x, axis=(0, 0)),
    lambda x: np.max(x[:0]), lambda x: np.argmax(x[:0], axis=0), lambda x: np.transpose(x, (0,)),
    lambda x: np.transpose(x, (0, 0)), lambda x: np.expand_dims(x, (0, 0)),
    lambda x: np.expand_dims(x, 4), lambda x: np.squeeze(x, 0), lambda x: np.broadcast_to(x, (4,)),
    lambda x: np.broadcast_to(x, (2, 4)), lambda x: np.concatenate([x, x[0]]),
    lambda x: np.concatenate([x, x.T]), lambda x: np.concatenate([x[0, 0], x[0, 0]]),
    lambda x: np.stack([x, x[0]]), lambda x: np.split(x, 2), lambda x: np.zeros((-1,), like=x),
    lambda x: np.array_split(x, 0), lambda x: np.moveaxis(x, (0, 1), (0,)),
    lambda x: np.trace(x[0]), lambda x: np.diag(x[None]), lambda x: made(x, np.full, 3, x[0]),
    lambda x: np.diff(x[0, 0]), lambda x: np.linalg.norm(x[None], 1), lambda x: np.fliplr(x[0]),
    lambda x: np.pad(x, -1),
])
def test_shape_errors_say_what_numpy_says(function):
    with pytest.raises(ValueError) as wanted:
        function(ramp(3, 4))
    with Builder().active(), pytest.raises(ShapeError) as found:
        function(Value(Var(ArrayType(F64, (3, 4)))))
    assert found.value.message.split(", but along")[0] == str(wanted.value).split(", but along")[0]


@pytest.mark.parametrize("function", [
    lambda x: np.reshape(x, (4, 3), order="F"), lambda x: np.sum(x, where=x > 0),
    lambda x: np.pad(x, 1, mode="median"), lambda x: np.pad(x, 1, mode="mean", stat_length=1),
    lambda x: np.repeat(x, np.array([1, 2, 3]), axis=0), lambda x: np.tril(x[0]),
    lambda x: call(np.arange, (x[0, 0],), {}),
    lambda x: np.sum(x, out=x[0]), lambda x: np.zeros_like(x, dtype=object),
    lambda x: np.concatenate([x, x], casting="unsafe"),
    lambda x: call(np.fliplr, (x,), {"axis": 0}),
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
    function = Function("f", params, body, [y.atom])
    return evaluate(reverse(function, [True] * len(params), [Const(1.0)], builder), operands)[1:]


@pytest.mark.parametrize("function, x, wanted", [
    (np.max, [1.0, 3.0, 3.0], [0, 0.5, 0.5]), (np.min, [2.0, 2.0, 2.0], [1 / 3, 1 / 3, 1 / 3]),
    (np.std, [2.0, 2.0], [0, 0]), (np.linalg.norm, [0.0, 0.0], [0, 0]),
    (lambda x: np.linalg.norm(x, 3), [0.0, 0.0], [0, 0]),
    (lambda x: np.linalg.norm(x, 1), [0.0, -2.0], [0, -1]),
    (lambda x: np.linalg.norm(x, np.inf), [2.0, -2.0], [0.5, -0.5]),
    (np.prod, [0.0, 2.0, 3.0], [6, 0, 0]), (np.prod, [0.0, 2.0, 0.0], [0, 0, 0]),
    (np.prod, [5.0], [1]), (lambda x: np.sum(np.cumprod(x)), [0.0, 2.0, 3.0], [9, 0, 0]),
    (lambda x: np.sum(np.cumprod(x)), [2.0, 0.0, 0.0], [1, 2, 0]),
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
    lambda x: x.T, lambda x: np.transpose(x, (2, 0, 1)), lambda x: x.swapaxes(0, 2),
    lambda x: x.reshape(6, 4), lambda x: np.expand_dims(x, (0, 2)), lambda x: np.squeeze(x, ()),
    lambda x: x.ravel(), lambda x: np.flip(x, 1), lambda x: np.moveaxis(x, 0, -1),
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
