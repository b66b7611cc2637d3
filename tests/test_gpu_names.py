"""Functions and variables that are called like what modules for GPUs have themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gpu_checks import check

from transformer import value_and_grad


def fours(Place, tile, THREADS):
    in_fours = np.exp(Place) * tile
    x0 = in_fours.sum(axis=0)
    return in_fours, x0 + THREADS, in_fours.T * 2


def Place(x, cp, four_of):
    set_four = x * four_of
    place_of_four = set_four.sum()
    cuda = np.where(set_four > 0, place_of_four, x)
    return cuda * 2 + cp, cuda.sum(axis=1)


def cuda(x, total, next_total):
    def total_of(a):
        return a + next_total

    total = x * 2
    return total_of(total).sum(axis=1), np.argmax(total, axis=1)


def THREADS(over_threads, over_blocks):
    add_of_block = np.exp(over_threads)
    fill_y = add_of_block.sum(axis=1, keepdims=True)
    return add_of_block / fill_y * over_blocks


def lane(types, ir, k):
    row, column, TILE = types.T * k, ir.T, types.T + ir
    check_places = row + column
    return check_places * TILE


def loss(fours, tile, k):
    MOST = np.tanh(fours @ tile + k)
    return np.sum(MOST ** 2)


MATRIX, ROW = np.random.default_rng(0).standard_normal((8, 8)).astype("f4"), np.arange(8, dtype="f4")
NUMBER = np.float32(2)


@pytest.mark.parametrize("function, arguments", [
    (fours, (MATRIX, ROW, NUMBER)), (Place, (MATRIX, ROW, NUMBER)), (cuda, (MATRIX, NUMBER, NUMBER)),
    (THREADS, (MATRIX, ROW)), (lane, (MATRIX, MATRIX, NUMBER)), (loss, (MATRIX, MATRIX, NUMBER))])
def test_names_of_the_user(function: Any, arguments: Any) -> None:
    check(function, *arguments, typed=False)


def test_a_gradient() -> None:
    check(value_and_grad(loss, argnums=(0, 2)), MATRIX, MATRIX, NUMBER, user=loss, typed=False)
