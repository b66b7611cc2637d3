"""Numbers of Python's that loops put into lists are Python's when they come out: narrow arrays stay narrow."""

from __future__ import annotations

import math

import numpy as np
import pytest

from transformer import jit, vmap


def halves(k):
    items = []
    for i in range(k):
        items.append(i * 0.5)
    return items


def one_item(x, k):
    return x * halves(k)[1]


def each_item(x, k):
    for item in halves(k):
        x = x + item
    return x


def part_of_items(x, k):
    return x * halves(k)[1:][0]


def item_of_a_pair(x, k):
    pairs = [(i * 0.5, np.float64(i)) for i in range(k)]
    return x * pairs[1][0]


def item_of_a_row(x, k):
    rows = [[j * 0.5 for j in range(k)] for _ in range(k)]
    return x * rows[1][2]


def sum_of_items(x, k):
    return x * sum(halves(k))


def sum_of_a_range(x, k):
    return x + sum(range(k))


def greatest_item(x, k):
    return x * max(halves(k))


def least_of_a_generator(x, k):
    return x * min(0.5 + i for i in range(k))


def product_of_items(x, k):
    return x * math.prod([0.5 + i for i in range(k)])


def middle_item(x, k):
    items = sorted(halves(k))
    return x * items[k // 2] + sorted(items, reverse=True)[0]


def sorted_items(x, k):
    for item in sorted(halves(k), key=lambda item: -item)[1:]:
        x = x + item
    return x


def items_of_numpys(x, k):
    return x * [np.float64(i) for i in range(k)][1]


PROGRAMS = (one_item, each_item, part_of_items, item_of_a_pair, item_of_a_row, sum_of_items, sum_of_a_range,
            greatest_item, middle_item, sorted_items, least_of_a_generator, product_of_items, items_of_numpys)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_dtypes_are_numpys(function) -> None:
    for dtype, n in ((np.float32, 3), (np.float64, 2), (np.int8, 4)):
        x = np.arange(1, n + 1).astype(dtype)
        expected = function(x, 3)
        for result in (jit(function)(x, 3), vmap(function, (0, None))(np.stack([x, x]), 3)[1]):
            assert result.dtype == expected.dtype
            np.testing.assert_allclose(result, expected, rtol=1e-6)
