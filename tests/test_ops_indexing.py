"""Indices as Python has them, against NumPy: what they select, its type, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from emission import Reading, agrees

from transformer.core.errors import BadArgument, NotSupported, ShapeError
from transformer.core.sizes import Dim
from transformer.ops.indexing import (
    Slot,
    normal_index,
    read,
)

VECTOR = np.arange(6.0) + 0.5
MATRIX = np.arange(12.0).reshape(3, 4)
CUBE = np.arange(24.0).reshape(2, 3, 4)
ROWS = np.array([2, 0, 2])
MASK = np.array([True, False, True])


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
    assert [str(guard) for guard in reading.builder.assumptions.guards] == ["n0 >= 4"]
    assert not reading.builder.assumptions.guards[0].holds({Dim("n0"): 3})


def test_an_index_has_one_entry_for_every_axis() -> None:
    reading = Reading(CUBE, ROWS, 1)
    with reading.builder.active():
        x, rows, k = reading.values
        index, operands = normal_index(x, (..., None, rows, k))
    assert index == (slice(None), None, Slot(0), Slot(1))
    assert operands == (rows, k)


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


def test_refusals_of_our_own() -> None:
    with pytest.raises(NotSupported, match="step"):
        Reading(VECTOR, 2).emitted(lambda x, k: x[::k])
    with pytest.raises(BadArgument, match="not subscriptable"):
        Reading(2.5).emitted(lambda x: read(x, 0))
