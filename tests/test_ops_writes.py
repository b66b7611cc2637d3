"""Writes at an index against NumPy, and the rules of `get`, `put` and `addat` at their corners."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emission import Reading
from op_cases import statements

from transformer.core.errors import NotSupported, ShapeError
from transformer.ops.indexing import AddAt, Get, Put, Slot, add_at, write

VECTOR = np.arange(6.0) + 0.5
MATRIX = np.arange(12.0).reshape(3, 4)
CUBE = np.arange(24.0).reshape(2, 3, 4)
ROWS = np.array([2, 0, 2])
MASK = np.array([True, False, True])


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
    with pytest.raises(TypeError, match="does not support item assignment"):
        Reading(np.float64(1.0)).emitted(lambda x: write(x, 1.0, ()))


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


# -- batches --------------------------------------------------------------------------------------


@pytest.mark.parametrize("lead", [(True, True, True), (False, True, True)], ids=["all", "index"])
def test_slices_of_one_length_move_from_lane_to_lane(lead: tuple[bool, ...]) -> None:
    rng = np.random.default_rng(1)
    start = np.array([0, 3, 1])
    x = rng.normal(size=(3, 2, 6, 4)) if lead[0] else rng.normal(size=(2, 6, 4))
    index = (slice(None), slice(Slot(0), Slot(1)), slice(1, None))
    found = Get.batch(lead, x, start, start + 3, index=index, sizes=(2, 3, 3))
    lanes = [(x[k] if lead[0] else x)[:, s:s + 3, 1:] for k, s in enumerate(start)]
    np.testing.assert_array_equal(found, np.stack(lanes))


def test_a_mask_that_differs_from_lane_to_lane_may_be_written_with_a_number() -> None:
    x, mask, v = CUBE[:, :, 0], CUBE[:, :, 0] > 4, np.array([-1.0, -2.0])
    for op, change in ((Put, written), (AddAt, added)):
        found = op.batch((True, True, True), x, v, mask, index=(Slot(0),), sizes=(1,))
        np.testing.assert_array_equal(found, [change(*lane) for lane in zip(x, v, mask)])


def test_writes_of_lanes_into_one_array_keep_apart() -> None:
    x, starts = VECTOR, np.array([0, 2])
    found = AddAt.batch((False, False, True), x, 1.0, starts, index=(Slot(0),))
    np.testing.assert_array_equal(found, [added(x, 1.0, k) for k in starts])
