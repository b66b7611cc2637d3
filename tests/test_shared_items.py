"""Lists and objects that are items of a list which a loop fills, and have names besides: what is written to one is seen
in the other, or there is a located error. Beside them what else random programs of lists have found."""

from __future__ import annotations

import numpy as np
import pytest

from transformer import grad, value_and_grad
from transformer.core.errors import NotSupported

X = np.array([0.7, -0.4, 1.1, 0.3, -0.8, 1.9])


def one_row_each_time(x, n):
    row, rows = [0.0], [[1.0]]
    for _ in range(n):
        rows.append(row)
    row[0] += x[0]
    return sum([sum(row) for row in rows])


def last_row(x, n):
    rows, row = [], [0.0]
    for i in range(n):
        row = [x[i], 1.0]
        rows.append(row)
    row[0] = 5.0 * x[1]
    return sum([row[0] for row in rows])


def row_of_the_iteration_before(x, n):
    rows, row = [], [1.0, 2.0]
    for i in range(n):
        row[0] = x[i] * 2
        row = [x[i], 1.0]
        rows.append(row)
    return sum([row[0] for row in rows])


def row_that_a_loop_filled(x, n):
    rows, row = [], []
    for v in x:
        row.append(v)
    for _ in range(n):
        rows.append(row)
    row.append(x[0])
    return sum([sum(row) for row in rows])


def item_of_a_comprehension(x, n):
    row = [x[0], 1.0]
    rows = [row for _ in range(n)]
    row[0] = 7.0 * x[1]
    return sum([sum(row) for row in rows])


def part_of_an_item(x, n):
    row, pairs = [x[0]], []
    for v in x[:n]:
        pairs.append((row, v))
    row[0] = x[1]
    return sum([row[0] * v for row, v in pairs])


def dictionary(x, n):
    record, records = {"a": x[0]}, []
    for v in x:
        records.append(record)
        for _ in range(2):
            records.append({"a": v})
    record["a"] = x[1]
    return sum([record["a"] for record in records])


def in_two_tables(x, n):
    one, other = [], []
    for i in range(n):
        row = [x[i]] * n
        one.append(row)
        other.append(row)
    for i in range(n):
        one[i][n - 1] = x[1]
    return sum([sum(row) for row in other])


def in_a_while(x, n):
    row, rows = [x[0]], []
    while len(rows) < n:
        rows.append(row)
    rows[n - 1][0] = x[1]
    return row[0] * x[2]


def found_among_what_a_loop_changes(x, n):
    items = [2, 0, 1]
    for _ in range(n):
        if 0 in items:
            items = [1, 1, 1]
    return x[0] * items[1]


def found_among_numbers(x, n):
    return x[0] if 0.5 in (x[0] * 0.5 / x[0], n) else x[1]


def slice_from_a_computed_place(x, n):
    items = [x[0], 2.0, x[1], x[2]]
    items[n - 1:] = [x[3], 1.0]
    del items[:n - 2]
    return sum(items) * len(items)


@pytest.mark.parametrize("function", [
    one_row_each_time, last_row, row_of_the_iteration_before, row_that_a_loop_filled, item_of_a_comprehension,
    part_of_an_item, dictionary, in_two_tables, in_a_while, found_among_what_a_loop_changes, found_among_numbers,
    slice_from_a_computed_place],
    ids=lambda each: each.__name__)
def test_what_is_written_is_seen(function):
    along = np.random.default_rng(0).normal(size=6)
    value, slope = value_and_grad(function)(X, 3)
    assert value == pytest.approx(function(X, 3), rel=1e-12)
    expected = (function(X + 1e-6 * along, 3) - function(X - 1e-6 * along, 3)) / 2e-6
    assert slope @ along == pytest.approx(expected, rel=1e-6, abs=1e-8)


def on_a_path(x, n):
    row, rows = [x[0]], []
    for v in x:
        if v > 0:
            rows.append(row)
    row[0] = x[1]
    return sum([row[0] for row in rows])


def last_row_on_a_path(x, n):
    rows, row = [], [0.0]
    for v in x:
        if v > 0:
            row = [v]
            rows.append(row)
    row[0] = 5.0 * x[1]
    return sum([row[0] for row in rows])


@pytest.mark.parametrize("function", [on_a_path, last_row_on_a_path], ids=lambda each: each.__name__)
def test_what_would_not_be_seen_is_refused(function):
    with pytest.raises(NotSupported, match=f"in {function.__name__}"):
        value_and_grad(function)(X, 3)


def test_an_item_is_missing_where_the_loop_comes_to_it():
    def program(x, n):
        items, total = [1.0], x[0]
        while total < n:
            items[1] += x[1]
            total += 1.0
        return total * items[0]

    slope = grad(program)
    np.testing.assert_array_equal(slope(X, 0), np.eye(6)[0])
    with pytest.raises(IndexError, match="list index out of range"):
        slope(X, 2)
