"""Indices as Python has them, against NumPy: what they select, its type, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from op_cases import evaluate, statements, type_of_value

from transformer.core.builder import Builder
from transformer.core.errors import NotSupported, ShapeError
from transformer.core.grammar import Function, Var
from transformer.core.guards import Assumptions
from transformer.core.sizes import Dim, Size, Unknown
from transformer.core.types import INT
from transformer.ops.indexing import (
    AddAt,
    Get,
    Put,
    Slot,
    add_at,
    normal_index,
    read,
    write,
)
from transformer.ops.value import Value

VECTOR = np.arange(6.0) + 0.5
MATRIX = np.arange(12.0).reshape(3, 4)
CUBE = np.arange(24.0).reshape(2, 3, 4)
ROWS = np.array([2, 0, 2])
MASK = np.array([True, False, True])


class Reading:
    """Arguments as values, and what a function of them emits.

    Axes longer than 1 have names if `symbolic`. Integers are arguments of the call being read, or,
    if `hidden`, integers of which nothing is known.
    """

    def __init__(self, *arguments: Any, symbolic: bool = False, hidden: bool = False) -> None:
        self.arguments = arguments
        self.hints: dict[Any, int] = {}
        self.values = [self._value(x, symbolic, hidden) for x in arguments]
        self.builder = Builder(Assumptions(self.hints, smallest=2 if symbolic else 0))

    def _value(self, x: Any, symbolic: bool, hidden: bool) -> Value:
        if isinstance(x, int):
            var = Var(INT, is_parameter=not hidden)
            if not hidden:
                self.hints[Unknown(var)] = x
            return Value(var)
        type = type_of_value(x)
        if symbolic:
            type = type.with_sizes(tuple(map(self._dim, type.sizes)))
        return Value(Var(type, is_parameter=True))

    def _dim(self, length: int) -> Any:
        if length < 2:
            return length
        dim = Dim(f"n{length}")
        self.hints[dim] = length
        return Size.of(dim)

    def emitted(self, function: Callable[..., Value]) -> Value:
        with self.builder.active():
            return function(*self.values)

    def run(self, result: Value) -> Any:
        """The result by NumPy; every type on the way is compared with what there is."""
        params = [value.atom for value in self.values]
        function = Function("f", params, self.builder.block, [result.atom])
        return evaluate(function, self.arguments, self.hints)[0]

    def shape(self, result: Value) -> tuple[Any, ...]:
        with self.builder.active():
            return result.shape


def agrees(function: Callable[..., Any], *arguments: Any, **kinds: bool) -> Reading:
    """Emits the function of the arguments and compares its result with NumPy's."""
    reading = Reading(*arguments, **kinds)
    result = reading.emitted(function)
    expected = function(*arguments)
    found = reading.run(result)
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_array_equal(found, expected)
    return reading


INDICES: list[tuple[np.ndarray, Callable[..., Any]]] = [
    (VECTOR, lambda x: x[0]),
    (VECTOR, lambda x: x[-6]),
    (VECTOR, lambda x: x[np.int32(2)]),
    (VECTOR, lambda x: x[...]),
    (VECTOR, lambda x: x[:]),
    (VECTOR, lambda x: x[1:]),
    (VECTOR, lambda x: x[:-2]),
    (VECTOR, lambda x: x[-3:]),
    (VECTOR, lambda x: x[2:4]),
    (VECTOR, lambda x: x[4:2]),
    (VECTOR, lambda x: x[6:]),
    (VECTOR, lambda x: x[9:]),
    (VECTOR, lambda x: x[-9:2]),
    (VECTOR, lambda x: x[:-9]),
    (VECTOR, lambda x: x[::2]),
    (VECTOR, lambda x: x[1::3]),
    (VECTOR, lambda x: x[:5:2]),
    (VECTOR, lambda x: x[::-1]),
    (VECTOR, lambda x: x[4:0:-2]),
    (VECTOR, lambda x: x[-2::-3]),
    (VECTOR, lambda x: x[9:1:-1]),
    (VECTOR, lambda x: x[:-9:-2]),
    (VECTOR, lambda x: x[: x.shape[0] - 1]),
    (VECTOR, lambda x: x[x.shape[0] // 2 :]),
    (VECTOR, lambda x: x[: x.shape[0] // 2]),
    (VECTOR, lambda x: x[x.shape[0] - 1]),
    (VECTOR, lambda x: x[-x.shape[0]]),
    (VECTOR, lambda x: x[None, :, None]),
    (VECTOR, lambda x: x[[3, 0, 3]]),
    (VECTOR, lambda x: x[[]]),
    (VECTOR, lambda x: x[range(1, 4)]),
    (VECTOR, lambda x: x[[[0, 1], [2, 3]]]),
    (VECTOR, lambda x: x[True]),
    (VECTOR, lambda x: x[False]),
    (MATRIX, lambda x: x[1]),
    (MATRIX, lambda x: x[1, -1]),
    (MATRIX, lambda x: x[(1, 2)]),
    (MATRIX, lambda x: x[1][2]),
    (MATRIX, lambda x: x[1:, :2][0]),
    (MATRIX, lambda x: x[..., 0]),
    (MATRIX, lambda x: x[:, None, 1:3]),
    (MATRIX, lambda x: x[1:-1, 1:-1]),
    (MATRIX, lambda x: x[[True, False, True]]),
    (MATRIX, lambda x: x[:, [1, 1, 0]]),
    (MATRIX, lambda x: x[0, [1, 3]]),
    (MATRIX, lambda x: x[[0, 2], [1, 3]]),
    (MATRIX, lambda x: x[[[0], [2]], [1, 3, 1]]),
    (CUBE, lambda x: x[..., None]),
    (CUBE, lambda x: x[1, ..., 2]),
    (CUBE, lambda x: x[0, :, [1, 2]]),
    (CUBE, lambda x: x[:, 0, [1, 2]]),
    (CUBE, lambda x: x[[0, 1], :, [1, 2]]),
    (CUBE, lambda x: x[:, [0, 1], None, 1:]),
    (CUBE, lambda x: x[[0, 1], None, [1, 2]]),
    (np.zeros((0, 3)), lambda x: x[:1, ::-1]),
    (np.float64(2.0), lambda x: x[None]),
    (np.float64(2.0), lambda x: x[()]),
]


@pytest.mark.parametrize("symbolic", [False, True], ids=["numbers", "names"])
@pytest.mark.parametrize("k", range(len(INDICES)))
def test_what_an_index_selects(k: int, symbolic: bool) -> None:
    array, function = INDICES[k]
    agrees(function, array, symbolic=symbolic)


WITH_ARRAYS: list[tuple[tuple[Any, ...], Callable[..., Any]]] = [
    ((VECTOR, ROWS), lambda x, rows: x[rows]),
    ((VECTOR, ROWS[:, None]), lambda x, rows: x[rows]),
    ((MATRIX, ROWS), lambda x, rows: x[rows, 1:]),
    ((MATRIX, ROWS), lambda x, rows: x[rows, rows]),
    ((MATRIX, ROWS), lambda x, rows: x[rows[:, None], rows]),
    ((CUBE, ROWS), lambda x, rows: x[1, :, rows]),
    ((CUBE, ROWS), lambda x, rows: x[:, rows, 0]),
    ((MATRIX, MASK), lambda x, mask: x[mask]),
    ((MATRIX, MASK), lambda x, mask: x[mask, 1]),
    ((CUBE, MASK), lambda x, mask: x[:, mask]),
    ((CUBE, MASK), lambda x, mask: x[:, mask, 1:]),
    ((MATRIX,), lambda x: x[x > 4]),
    ((CUBE,), lambda x: x[x[:, :, 0] > 4]),
    ((CUBE,), lambda x: x[1, x[0] > 4]),
    ((VECTOR, np.int64(-2)), lambda x, k: x[k]),
    ((VECTOR, np.bool_(True)), lambda x, flag: x[flag]),
    ((VECTOR, np.bool_(False)), lambda x, flag: x[None, flag]),
    ((VECTOR,), lambda x: x[np.argmax(x)]),
    ((VECTOR,), lambda x: x[np.nonzero(x > 2)]),
    ((VECTOR,), lambda x: x[np.flatnonzero(x > 2)]),
    ((MATRIX,), lambda x: x[np.nonzero(x > 4)]),
    ((MATRIX,), lambda x: np.argwhere(x > 4)),
    ((MATRIX, ROWS), lambda x, rows: x[np.ix_(rows, [0, 1])]),
    ((MATRIX, np.array([[3, 1], [0, 0], [2, 3]])), lambda x, k: np.take_along_axis(x, k, axis=1)),
    ((MATRIX,), lambda x: np.take_along_axis(x, np.argmax(x, axis=0)[None], axis=0)),
    ((VECTOR, MATRIX), lambda x, y: np.searchsorted(x, y, side="right")),
]


@pytest.mark.parametrize("symbolic", [False, True], ids=["numbers", "names"])
@pytest.mark.parametrize("k", range(len(WITH_ARRAYS)))
def test_what_an_index_with_arrays_selects(k: int, symbolic: bool) -> None:
    arguments, function = WITH_ARRAYS[k]
    agrees(function, *arguments, symbolic=symbolic)


BOUNDS: list[Callable[..., Any]] = [
    lambda x, i, j: x[i],
    lambda x, i, j: x[i:],
    lambda x, i, j: x[:i],
    lambda x, i, j: x[i:j],
    lambda x, i, j: x[i : i + 3],
    lambda x, i, j: x[i - 1 : i + 1],
    lambda x, i, j: x[-i:],
    lambda x, i, j: x[:-i],
    lambda x, i, j: x[i::2],
    lambda x, i, j: x[j:i:-1],
    lambda x, i, j: x[j::-2],
    lambda x, i, j: x[i:j][None, 1:],
]


@pytest.mark.parametrize("hidden", [False, True], ids=["arguments", "unknown"])
@pytest.mark.parametrize("symbolic", [False, True], ids=["numbers", "names"])
@pytest.mark.parametrize("function", BOUNDS)
def test_slices_with_computed_bounds(function: Any, symbolic: bool, hidden: bool) -> None:
    for i, j in [(1, 4), (2, 2), (0, 5), (-3, -1), (3, 1), (4, 9), (-9, 2)]:
        if function is BOUNDS[0] and not -6 <= i < 6:
            continue
        agrees(function, VECTOR, i, j, symbolic=symbolic, hidden=hidden)


# -- sizes ----------------------------------------------------------------------------------------


def test_a_window_inside_has_the_length_that_it_is_written_with() -> None:
    reading = Reading(VECTOR, 2, symbolic=True)
    assert reading.shape(reading.emitted(lambda x, i: x[i : i + 3])) == (3,)
    assert reading.shape(reading.emitted(lambda x, i: x[i - 1 : i + 2])) == (3,)
    assert [str(guard) for guard in reading.builder.assumptions.guards]


def test_the_range_of_a_loop_proves_that_a_window_is_inside() -> None:
    reading = Reading(VECTOR, 2, symbolic=True, hidden=True)
    x, i = reading.values
    n = x.type.sizes[0]
    reading.builder.assumptions.within(i.atom, 0, n - 3)
    assert reading.shape(reading.emitted(lambda x, i: x[i : i + 3])) == (3,)
    assert reading.shape(reading.emitted(lambda x, i: x[i + 1 : i + 3])) == (2,)
    assert not reading.builder.assumptions.guards


def test_the_last_of_several_chunks_may_be_short() -> None:
    reading = Reading(VECTOR, 1, symbolic=True, hidden=True)
    x, position = reading.values
    n = x.type.sizes[0]
    reading.builder.assumptions.within(position.atom, 0, (n + 3) // 4 - 1)
    chunk = reading.emitted(lambda x, k: x[4 * k : 4 * k + 4] * x[4 * k : 4 * k + 4])
    assert "min(" in str(reading.shape(chunk)[0])
    assert reading.run(chunk).shape == (2,)


def test_equal_masks_select_equal_lengths() -> None:
    agrees(lambda x: x[x > 2] * np.log(x[x > 2]), VECTOR, symbolic=True)
    agrees(lambda x, mask: x[mask] - np.exp(x)[mask], VECTOR[:3], MASK)
    with pytest.raises(ShapeError):
        Reading(VECTOR).emitted(lambda x: x[x > 2] * x[x < 2])


def test_masks_of_a_branch_are_not_used_outside_of_it() -> None:
    reading = Reading(VECTOR)
    with reading.builder.active():
        x = reading.values[0]
        with reading.builder.nested():
            inner = x[x > 2]
        outer = x[x > 2]
    assert inner.type.sizes != outer.type.sizes


def test_the_length_of_what_a_mask_selects_is_a_python_integer() -> None:
    reading = Reading(VECTOR.astype("f4"))
    result = reading.emitted(lambda x: x[x > 2] * x[x > 2].shape[0])
    assert result.dtype == np.float32
    np.testing.assert_array_equal(reading.run(result), VECTOR[2:].astype("f4") * 4)


def test_guards_say_what_a_slice_rests_on() -> None:
    reading = Reading(VECTOR, symbolic=True)
    reading.emitted(lambda x: x[4:])
    assert [str(guard) for guard in reading.builder.assumptions.guards] == ["n6 >= 4"]
    assert not reading.builder.assumptions.guards[0].holds({Dim("n6"): 3})


def test_an_index_has_one_entry_for_every_axis() -> None:
    reading = Reading(CUBE, ROWS, 1)
    with reading.builder.active():
        x, rows, k = reading.values
        index, operands = normal_index(x, (..., None, rows, k))
    assert index == (slice(None), None, Slot(0), Slot(1))
    assert operands == (rows, k)


# -- writes ---------------------------------------------------------------------------------------


def written(x: np.ndarray, v: Any, index: Any) -> np.ndarray:
    y = x.copy()
    y[index] = v
    return y


def added(x: np.ndarray, v: Any, index: Any) -> np.ndarray:
    y = x.copy()
    np.add.at(y, index, v)
    return y


WRITES: list[tuple[Any, Any]] = [
    (2, 7.0), (slice(1, 4), 7.0), (slice(1, 4), np.ones(3)), (slice(1, 4), np.ones((1, 3))),
    (slice(None, None, -1), np.arange(6.0)), ([0, 3], 1), ([0, 3, 0], np.arange(3.0)),
    (ROWS, np.arange(3.0)), (VECTOR > 2, 0.0), (VECTOR > 2, np.arange(4.0)), (slice(2, 2), 1.0),
]


@pytest.mark.parametrize("symbolic", [False, True], ids=["numbers", "names"])
@pytest.mark.parametrize("k", range(len(WRITES)))
@pytest.mark.parametrize("functions", [(write, written), (add_at, added)], ids=["put", "addat"])
def test_writes_agree_with_numpy(functions: Any, k: int, symbolic: bool) -> None:
    index, v = WRITES[k]
    if functions[0] is add_at and np.ndim(v) == 2:
        return
    arrays = [index] if isinstance(index, np.ndarray) else []
    if isinstance(v, np.ndarray):
        symbolic = symbolic and not isinstance(index, slice) and not arrays
    reading = Reading(VECTOR, v, *arrays, symbolic=symbolic) if not isinstance(v, int) else \
        Reading(VECTOR, np.float64(v), *arrays, symbolic=symbolic)
    if index is WRITES[9][0] and np.ndim(v):
        with pytest.raises(ShapeError):
            reading.emitted(lambda x, v, *at: functions[0](x, v, at[0]))
        return
    result = reading.emitted(lambda x, v, *at: functions[0](x, v, at[0] if at else index))
    np.testing.assert_array_equal(reading.run(result), functions[1](VECTOR, v, index))


def test_a_masked_array_may_be_written_through_its_own_mask() -> None:
    reading = Reading(VECTOR)
    result = reading.emitted(lambda x: write(x, -x[x > 2], x > 2))
    np.testing.assert_array_equal(reading.run(result), np.where(VECTOR > 2, -VECTOR, VECTOR))


def test_what_is_written_takes_the_dtype_of_the_array() -> None:
    reading = Reading(np.arange(3), np.float64(1.7))
    result = reading.emitted(lambda x, v: write(x, v, 1))
    np.testing.assert_array_equal(reading.run(result), [0, 1, 2])
    assert result.dtype == np.int64


# -- refusals, in NumPy's words -------------------------------------------------------------------

REFUSED: list[tuple[np.ndarray, Callable[..., Any]]] = [
    (MATRIX, lambda x: x[3]),
    (MATRIX, lambda x: x[0, -5]),
    (MATRIX, lambda x: x[0, 0, 0]),
    (MATRIX, lambda x: x[1.0]),
    (MATRIX, lambda x: x["a"]),
    (MATRIX, lambda x: x[..., ...]),
    (MATRIX, lambda x: x[::0]),
    (MATRIX, lambda x: x[1.0:]),
    (MATRIX, lambda x: x[x]),
    (MATRIX, lambda x: x[[True, False]]),
    (MATRIX, lambda x: x[[0, 1], [0, 1, 2]]),
    (np.float64(1.0), lambda x: x[0]),
]


@pytest.mark.parametrize("k", range(len(REFUSED)))
def test_what_numpy_refuses(k: int) -> None:
    array, function = REFUSED[k]
    with pytest.raises((IndexError, ValueError, TypeError)) as numpy:
        function(array)
    with pytest.raises((ShapeError, IndexError)) as ours:
        Reading(array).emitted(function)
    assert ours.value.message.strip() == str(numpy.value).strip()


@pytest.mark.parametrize(("index", "v"), [
    (0, np.ones(3)), ([0, 1], np.ones(3)), (slice(0, 2), np.ones((2, 2, 4))), ((0, 0), np.ones(2)),
])
def test_what_numpy_refuses_to_write(index: Any, v: np.ndarray) -> None:
    with pytest.raises(ValueError) as numpy:
        written(MATRIX, v, index)
    with pytest.raises(ShapeError) as ours:
        Reading(MATRIX, v).emitted(lambda x, v: write(x, v, index))
    assert ours.value.message == str(numpy.value).strip()


def test_refusals_of_our_own() -> None:
    with pytest.raises(NotSupported, match="imaginary"):
        Reading(VECTOR, np.complex128(1j)).emitted(lambda x, v: write(x, v, 0))
    with pytest.raises(NotSupported, match="Cannot cast"):
        Reading(np.arange(3), np.float64(0.5)).emitted(lambda x, v: add_at(x, v, 0))
    with pytest.raises(NotSupported, match="does not support item assignment"):
        Reading(np.float64(1.0)).emitted(lambda x: write(x, 1.0, ()))
    with pytest.raises(NotSupported, match="step"):
        Reading(VECTOR, 2).emitted(lambda x, k: x[::k])
    with pytest.raises(ShapeError, match="not subscriptable"):
        Reading(2.5).emitted(lambda x: read(x, 0))


# -- derivatives: what the generated tests do not reach -------------------------------------------


def test_of_several_writes_to_one_element_the_last_gets_the_cotangent() -> None:
    dy = np.arange(1.0, 5.0)
    rows = np.array([1, 3, 1])
    to_v = Put.vjp[1](dy, np.zeros(4), np.zeros(3), rows, None, index=(Slot(0),))
    np.testing.assert_array_equal(to_v, [0.0, 4.0, 2.0])
    to_x = Put.vjp[0](dy, np.zeros(4), np.zeros(3), rows, None, index=(Slot(0),))
    np.testing.assert_array_equal(to_x, [1.0, 0.0, 3.0, 0.0])


def test_the_last_write_is_found_beside_slices() -> None:
    rng = np.random.default_rng(0)
    x, rows, columns = rng.normal(size=(4, 5, 3)), np.array([[1], [0], [1]]), np.array([2, 2])
    index, slots = (Slot(0), slice(1, 4), Slot(1)), (rows, columns)
    part = x[rows, 1:4, columns]
    dy = rng.normal(size=x.shape)
    v = rng.normal(size=part.shape)
    found = Put.vjp[1](dy, x, v, *slots, None, index=index)
    wanted = np.zeros_like(v)
    for k in np.ndindex(v.shape):
        step = np.zeros_like(v)
        step[k] = 1.0
        moved = Put.run(np.zeros_like(x), step, *slots, index=index)
        wanted[k] = np.sum(dy * moved)
    np.testing.assert_allclose(found, wanted)


def test_distinct_positions_need_no_search_for_the_last_write() -> None:
    reading = Reading(VECTOR, np.ones(2))
    reading.emitted(lambda x, v: write(x, v, [0, 3]))
    put = next(stmt for stmt in statements(reading.builder.block) if stmt.op is Put)
    assert put.attrs["distinct"]
    reading = Reading(VECTOR, np.ones(2))
    reading.emitted(lambda x, v: write(x, v, [0, -6]))
    put = next(stmt for stmt in statements(reading.builder.block) if stmt.op is Put)
    assert "distinct" not in put.attrs


def test_the_cotangent_of_a_read_is_added_to_what_there_is() -> None:
    shadow, dy = np.ones(4), np.array([1.0, 2.0, 4.0])
    total = Get.accumulate(shadow, dy, np.zeros(4), np.array([1, 3, 1]), index=(Slot(0),))
    np.testing.assert_array_equal(total, [1.0, 6.0, 1.0, 3.0])


def test_views_are_told_from_copies() -> None:
    assert Get.view(MATRIX, index=(slice(None), 0))
    assert Get.view(MATRIX, np.int64(1), index=(Slot(0), slice(None)))
    assert not Get.view(MATRIX, ROWS, index=(Slot(0), slice(None)))
    assert not Get.view(MATRIX, MASK, index=(Slot(0), slice(None)))
    base = Get.write_back(MATRIX, np.zeros(3), index=(slice(None), 1))
    np.testing.assert_array_equal(base[:, 1], 0)


def test_tangents_of_both_operands_are_written_at_once() -> None:
    reading = Reading(VECTOR, np.float64(2.0))
    with reading.builder.active():
        t, tv = reading.values
        x = v = t
        both = Put.tangent((t, tv), x, v, index=(2,))
        assert [stmt.op for stmt in statements(reading.builder.block)] == [Put]
        assert AddAt.tangent((t, None), x, v, index=(2,)) is t
    np.testing.assert_array_equal(reading.run(both), written(VECTOR, 2.0, 2))
