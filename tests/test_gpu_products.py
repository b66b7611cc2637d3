"""What cuBLAS is asked for: its products of what lies at these places are those of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from transformer.run.gpu.products import COPIED, KEEP, MOST_CALLS, Plan, in_one, planned


def of_columns(memory: np.ndarray, begin: int, rows: int, columns: int, leading: int) -> np.ndarray:
    """A matrix whose columns lie side by side, as cuBLAS has them."""
    assert leading >= rows
    step = memory.itemsize
    return np.lib.stride_tricks.as_strided(memory[begin // step:], (rows, columns), (step, leading * step))


def run(plan: Plan, w: np.ndarray, x: np.ndarray, y: np.ndarray, begins: tuple[int, int, int]) -> None:
    """What cuBLAS does with memory, by the words of its manual: C = op(A) @ op(B)."""
    right, left, target = plan.stacks
    for offsets in plan.begins:
        for k in range(plan.count):
            at = [begin + offset + k * stack.step * array.itemsize for begin, offset, stack, array in zip(
                begins, offsets, plan.stacks, (w, x, y))]
            a_shape = (plan.rows, plan.inner) if right.operation == KEEP else (plan.inner, plan.rows)
            b_shape = (plan.inner, plan.columns) if left.operation == KEEP else (plan.columns, plan.inner)
            a, b = of_columns(w, at[0], *a_shape, right.leading), of_columns(x, at[1], *b_shape, left.leading)
            c = of_columns(y, at[2], plan.rows, plan.columns, target.leading)
            c[...] = (a if right.operation == KEEP else a.T) @ (b if left.operation == KEEP else b.T)


def whole(view: np.ndarray) -> tuple[np.ndarray, int]:
    """All memory of a view, as a line, and where the view begins in it."""
    base = view
    while base.base is not None:
        base = base.base
    return base.reshape(-1), view.ctypes.data - base.ctypes.data


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).normal(size=shape)


def empty(*shape: int) -> np.ndarray:
    return np.full(shape, np.nan)


PAIRS: dict[str, tuple[Any, Any, Any]] = {
    "in order": (numbers(3, 4), numbers(4, 5), empty(3, 5)),
    "turned": (numbers(4, 3).T, numbers(5, 4).T, empty(3, 5)),
    "parts of others": (numbers(6, 9)[1:4, 2:6], numbers(5, 6)[:, 1:5].T, empty(4, 8)[:3, 2:7]),
    "a row, a column": (numbers(1, 4), numbers(4, 1), empty(1, 1)),
    "outer": (numbers(5, 1), numbers(1, 3), empty(5, 3)),
    "column of another": (numbers(5, 3)[:, 1:2], numbers(1, 3), empty(5, 3)),
    "vector on the right": (numbers(3, 4), numbers(4), empty(3)),
    "vector on the left": (numbers(4), numbers(4, 3), empty(3)),
    "part of a vector": (numbers(3, 4), numbers(9)[:4], empty(3)),
    "two vectors": (numbers(4), numbers(4), empty()),
    "stacks": (numbers(2, 3, 4), numbers(2, 4, 5), empty(2, 3, 5)),
    "one for all": (numbers(2, 3, 4), numbers(4, 5), empty(2, 3, 5)),
    "one on the left": (numbers(1, 3, 4), numbers(6, 4, 5), empty(6, 3, 5)),
    "stacks of stacks": (numbers(2, 3, 4, 5), numbers(2, 3, 4, 5).swapaxes(-1, -2), empty(2, 3, 4, 4)),
    "heads": (numbers(2, 4, 3, 5).transpose(0, 2, 1, 3), numbers(2, 3, 4, 5).swapaxes(-1, -2), empty(2, 3, 4, 4)),
    "heads on the right": (numbers(2, 3, 4, 4), numbers(2, 4, 3, 5).transpose(0, 2, 1, 3), empty(2, 3, 4, 5)),
}


@pytest.mark.parametrize("name", PAIRS)
def test_products(name: str) -> None:
    x, w, y = PAIRS[name]
    plan = planned(np.dtype("f8"), x.shape, x.strides, w.shape, w.strides, y.shape, y.strides)
    assert plan is not None
    memory = [whole(each) for each in (w, x, y)]
    run(plan, memory[0][0], memory[1][0], memory[2][0], (memory[0][1], memory[1][1], memory[2][1]))
    np.testing.assert_allclose(y, x @ w, rtol=1e-13)


@pytest.mark.parametrize("x, w, y", [
    (numbers(3, 8)[:, ::2], numbers(4, 5), empty(3, 5)),                 # neither rows nor columns lie side by side
    (numbers(3, 4), numbers(4, 5), empty(5, 3).T),
    (numbers(3, 4)[::-1], numbers(4, 5), empty(3, 5)),
    (numbers(3, 0), numbers(0, 5), empty(3, 5)),
    (numbers(0, 4), numbers(4, 5), empty(0, 5)),
    (np.broadcast_to(numbers(4), (3, 4)), numbers(4, 5), empty(3, 5)),
    (numbers(MOST_CALLS + 1, 3, 18, 2).transpose(0, 2, 1, 3), numbers(2, 2), empty(MOST_CALLS + 1, 18, 3, 2)),
])
def test_what_is_left_to_cupy(x: Any, w: Any, y: Any) -> None:
    plan = planned(np.dtype("f8"), x.shape, x.strides, w.shape, w.strides, y.shape, y.strides)
    assert plan is None


def test_numbers_that_cublas_does_not_know() -> None:
    assert planned(np.dtype("i8"), (2, 2), (16, 8), (2, 2), (16, 8), (2, 2), (16, 8)) is None


@pytest.mark.parametrize("name, wanted", [
    ("heads", (True, False)), ("heads on the right", (False, True)), ("both", (True, True)),
    ("many heads", (True, False))])
def test_heads_are_copied_and_multiplied_at_once(name: str, wanted: tuple[bool, bool]) -> None:
    """Where that is the same as to multiply them one after the other."""
    heads = numbers(2, 4, 3, 5).transpose(0, 2, 1, 3)
    cases = {**PAIRS, "both": (heads, numbers(2, 5, 3, 4).transpose(0, 2, 1, 3), empty(2, 3, 4, 4)),
             "many heads": (numbers(2, 4, 17, 5).transpose(0, 2, 1, 3), numbers(2, 17, 5, 4), empty(2, 17, 4, 4))}
    x, w, y = cases[name]
    plan = planned(np.dtype("f8"), x.shape, x.strides, w.shape, w.strides, y.shape, y.strides)
    is_copied, found = in_one(x, w, y, plan)
    assert is_copied == wanted and len(found.begins) == 1
    x, w = (np.ascontiguousarray(each) if copied else each for each, copied in zip((x, w), is_copied))
    memory = [whole(each) for each in (w, x, y)]
    run(found, memory[0][0], memory[1][0], memory[2][0], (memory[0][1], memory[1][1], memory[2][1]))
    np.testing.assert_allclose(y, x @ w, rtol=1e-13)


def test_large_stacks_are_not_copied() -> None:
    rows = COPIED // 8
    x, w, y = (np.lib.stride_tricks.as_strided(np.zeros(1), shape, strides) for shape, strides in (
        ((8, 3, rows, 5), (120 * rows, 40, 120, 8)), ((8, 3, 5, 4), (480, 160, 32, 8)),
        ((8, 3, rows, 4), (96 * rows, 32 * rows, 32, 8))))
    plan = planned(np.dtype("f8"), x.shape, x.strides, w.shape, w.strides, y.shape, y.strides)
    assert len(plan.begins) == 3 and in_one(x, w, y, plan) == ((False, False), plan)
