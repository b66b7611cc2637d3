"""Lists whose items are written at computed places: what is written is seen wherever Python's program sees it, or there
is a located error; and the source has arrays."""

from __future__ import annotations

import numpy as np
import pytest
from corpus import written_lists

from transformer import grad, jit, value_and_grad
from transformer.core.errors import NotSupported

X = np.array([0.7, -0.4, 1.1, 0.3, -0.8, 1.9])


def test_source_is_what_a_person_writes():
    program = written_lists.joined_sets
    source = grad(program).source_for(*written_lists.PROGRAMS[0].example(np.random.default_rng(0)))
    assert "parent = np.arange(max(n, 0))" in source
    assert "parent[i] = parent[parent[i]]" in source
    assert "while parent[i] != i:" in source


def of_either_type(x, n):
    items = [0] * n
    items[0] = 0.5
    items[n - 1] = x[0]
    return items[0] * items[n - 1]


def two_names(x, n):
    items = [1.0] * n
    other = items
    items.append(x[0])
    for i in range(n):
        other[i] *= x[i]
    return items[0] * items[1] + other[n]


def copies(x, n):
    items = [1.0] * n
    part, same, again = items[:], items.copy(), list(items)
    for i in range(n):
        part[i] += x[i]
        same[i] *= 2
        again[i] -= x[i] ** 2
    return sum(items) + sum(part) * sum(same) * sum(again)


def written_while_it_is_read(x, n):
    items, total, i = [1] * n, 0.0, 0
    for v in items:
        items[(i + 1) % n] = v * x[i] + 1.0
        total += v
        i += 1
    return total


def shortened(x, n):
    items = [0.0] * (n - 100)
    return sum(items) + len(items) + x[0]


def under_a_condition(x, n):
    items = [v * 2 for v in x]
    if x[0] > 0:
        items[n % len(x)] = 0.0
    return sum(items)


def one_row(x, n):
    rows = [[0.0] * n] * n
    rows[0][1] = x[0]
    return rows[1][1] * 2.0


def part_of_rows(x, n):
    rows = [[v] * n for v in x]
    part = rows[1:]
    part[0][0] = 3.0 * x[0]
    return rows[1][0] * x[1]


def rows_in_two_lists(x, n):
    rows, more = [[v] * n for v in x], [[v * 2] * n for v in x]
    both = rows + more
    both[0][0] = 3.0 * x[0]
    return rows[0][0] * x[1]


def other_row(x, n):
    rows = [[v] * n for v in x]
    first = rows[0]
    rows[0] = [1.0] * n
    first[0] = 7.0
    return rows[0][0] * x[1] + first[0]


def among_items(x, n):
    items = [0] * n
    for i in range(n):
        items[i] = (i * 7) % 5
    return x[0] * (3 in items) + x[1] * (9 in items)


def in_order(x, n):
    items = [1.0] * n
    for i in range(n):
        items[i] = x[i] * (i + 1)
    items.sort(reverse=True)
    return items[0] * items[n - 1] + items[1]


def taken_anywhere(x, n):
    items, total = [v ** 2 for v in x], 0.0
    while len(items) > 2:
        total = 0.5 * total + items.pop(int(items[0] * 97) % len(items))
        del items[-int(items[0] * 97) % 2]
    return total + items[0]


def put_in_order(x, n):
    items = [0.0]
    for v in x:
        k = 0
        for w in items:
            if w < v:
                k += 1
        items.insert(k, v)
    return items[0] + 2 * items[1] * items[n]


def found_again(x, n):
    items = [0.0] * n
    for i in range(n):
        items[i] = x[i] * i
    return x[items.index(min(items))] * items.count(items[2]) + max(items)


def rest_of_a_queue(x, n):
    queue, total = [x[2], 1.1], 0.0
    while queue:
        v = queue[0]
        queue = queue[1:]
        total += v
        if v < 2.0:
            queue.append(v * 1.5 + 1.0)
    return total


def one_or_two_in_front(x, n):
    front, total = [x[0]], 0.0
    while front:
        following = []
        for v in front:
            total += v
            if v < 3:
                following.append(v * 1.7 + 0.4)
            if v < 1:
                following.append(v + 1.0)
        front = following
    return total


def float_on_a_path(x, n):
    total = 0.0
    for i in range(len(x)):
        items = [1] * n
        if x[0] > 2:
            items[0] = 0.5
        else:
            items[i % 3] += 0.25 * x[1]
        total += items[0] + items[1] * 3 + items[2] * 7
    return total


def row_before_another_list(x, n):
    table = [[1.0] * 3 for _ in range(3)]
    row = table[2]
    for i in range(n):
        row[0] += x[i]
        row = [0.0] * n
    return row[0] + table[2][0]


def named_row_of_ints(x, n):
    table = [[0] * n for _ in range(n)]
    row = table[0]
    for i in range(4):
        row[(i + 1) % n] += 0.5 * x[i]
    return row[0] * 2.3 + table[0][1] + x[0]


@pytest.mark.parametrize("function", [
    float_on_a_path, row_before_another_list, named_row_of_ints, taken_anywhere, put_in_order, found_again,
    rest_of_a_queue, one_or_two_in_front, of_either_type, two_names, copies, written_while_it_is_read, shortened,
    under_a_condition, one_row, part_of_rows, rows_in_two_lists, other_row, among_items, in_order],
    ids=lambda each: each.__name__)
def test_what_is_written_is_seen(function):
    along = np.random.default_rng(0).normal(size=6)
    value, slope = value_and_grad(function)(X, 5)
    assert value == pytest.approx(function(X, 5), rel=1e-12)
    expected = (function(X + 1e-6 * along, 5) - function(X - 1e-6 * along, 5)) / 2e-6
    assert slope @ along == pytest.approx(expected, rel=1e-6, abs=1e-8)


def of_two_lists(x, n):
    one, other = [0.0] * n, [1.0] * n
    either = one if x[0] > 0 else other
    either[0] = 5.0
    return one[0] + x[1] + 10 * other[0]


def kept_beside(x, n):
    before, now = [0.0] * (n + 1), [0.0] * (n + 1)
    first = before
    for v in x[:5]:
        for j in range(1, n + 1):
            now[j] = before[j - 1] + v * j
        before, now = now, before
    return first[n] + before[1]


def row_in_the_next_iteration(x, n):
    table, row = [[0.0] * n for _ in range(n)], [x[1]] * n
    for i in range(n):
        row[0] += table[i - 1][1] + 1.0
        row = table[i]
        table[i][1] += x[i]
    return row[0] + table[n - 1][0] + table[0][0] * x[2]


def one_list_in_all_items(x, n):
    rows, row = [], [0.0] * n
    for v in x:
        row[0] = v
        rows.append(row)
    return rows[1][0] * rows[2][0]


def array_of_a_sorted_list(x, n):
    row = x * 2
    rows = sorted([x * 3, row, -x], key=lambda each: each[0])
    row[1] = 7.0
    return rows[1][1]


@pytest.mark.parametrize("function", [of_two_lists, kept_beside, one_list_in_all_items, array_of_a_sorted_list])
def test_what_would_not_be_seen_is_refused(function):
    with pytest.raises(NotSupported, match="File") as raised:
        grad(function)(X, 5)
    assert function.__name__ in str(raised.value)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_a_name_for_a_row_in_the_next_iteration(n):
    """Each iteration is read, as a name stands for another row in each."""
    value, slopes = value_and_grad(row_in_the_next_iteration)(X, n)
    along = np.arange(float(len(X)))
    assert value == row_in_the_next_iteration(X, n)
    expected = (row_in_the_next_iteration(X + 1e-6 * along, n) - row_in_the_next_iteration(X - 1e-6 * along, n)) / 2e-6
    np.testing.assert_allclose(slopes @ along, expected, rtol=1e-6)


def test_one_list_in_all_items_of_another():
    """Of a loop that the call tells how often it runs, each iteration is read."""
    def program(x):
        rows, row = [], [0.0, 1.0]
        for v in x:
            row[0] = v
            rows.append(row)
        return rows[1][0] * rows[2][0]

    assert value_and_grad(program)(X)[0] == program(X)


def test_a_list_that_is_returned_is_a_list():
    def program(x, n):
        items = [0.0] * n
        for i in range(1, n):
            items[i] = items[i - 1] + x[i]
        return items

    found = jit(program)(X, 4)
    assert type(found) is list
    np.testing.assert_allclose(found, program(X, 4), rtol=1e-15)


def test_places_outside_raise():
    def program(x, n):
        items = [0.0] * n
        for i in range(n + 1):
            items[i] = x[0]
        return items[-1]

    for function in (program, grad(program)):
        with pytest.raises(IndexError):
            function(X, 4)
