"""What the reader refuses to write: memory that something else may have, and what the code around it goes through."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from evaluate import read_call
from reading import VECTOR
from refusals import check_refused

from transformer.core.errors import TransformError

COUNTER = {"calls": 0}
GLOBAL = np.ones(3)


def writes_global_dict(x):
    COUNTER["calls"] += 1
    return x


def writes_global_array(x):
    GLOBAL[0] = x[0]
    return x


def writes_argument_dict(params):
    params["w"] = params["b"]
    return params["w"]


def steps_through_a_view(x):
    y = x * 1.0
    view = y[:]
    view[::2] = y[:3]
    return y


def column_to_row(x):
    y = np.outer(x, x)
    row = y[1]
    row[:] = y.T[2]
    return y


def appends_of_two_kinds(x):
    items = []
    for k in range(1000):
        if x[0] > k:
            items.append(x[0])
        else:
            items.append(x[:2])
    return items[0]


def index_of_list(x):
    parts = [x[0], x[:1], "none"]
    return parts[np.argmax(x)]


def list_of_changing_array(x):
    u = x.copy()
    states = []
    for v in x:
        u[0] = v
        states.append(u)
    return np.array(states)


def appended_then_written(x):
    u = x.copy()
    states = []
    for v in x:
        u = u * 2
        states.append(u)
        u[0] = v
    return np.array(states)


def appended_by_an_inner_loop_then_written(x):
    u = x.copy()
    states = []
    for i in range(len(x)):
        for _ in range(i):
            states.append(u)
    u[0] = 5.0
    return np.array(states)


def written_between_inner_loops(x):
    u = x.copy()
    states = []
    for i in range(len(x)):
        u[i] = i
        for _ in range(i):
            states.append(u)
    return np.array(states)


def picked_and_written(x):
    rows = [x * 1.0, x * 2.0]
    rows[int(x[0] > 0)] *= 2.0
    return rows[0] @ rows[1]


def merged_then_written(x):
    a, b = x.copy(), x.copy()
    c = a if x[0] > 0 else b
    c[0] = 1.0
    return a + b


def handed_around_then_written(x):
    a, b, d = x * 1.0, x * 2.0, x - 1.0
    c = a
    for _ in range(len(x)):
        c, a = a, c
        if x[0] > 0.95:
            a, d = d, a
        d, b = b, d
        a = b
    d[1:] += x[1]
    return np.sum(b * c)


def swapped_then_written(x):
    a = x.copy()
    b = a
    for _ in range(2):
        a, b = b, a
    a[0] += 1
    return np.sum(b * b)


def carried_then_written(x):
    a = x.copy()
    b = a
    for _ in range(2):
        b[0] = 1.0
        b = b * 2
    return a + b


def order_of_the_array_written(m):
    turned = np.zeros((2, 2)).T
    np.multiply(np.ones((2, 2)), 2.0, out=turned)
    turned.ravel()[1] = m[0, 0]
    return turned


def order_of_another_array(m):
    zeros = np.zeros_like(m)
    zeros.reshape(-1)[1] = m[0, 0]
    return zeros


def reshape_of_unknown_layout(m):
    flat = (m.T * 2).T.reshape(-1)
    whole = m.T
    part = whole.reshape(-1)
    part[0] = 1.0
    return m.sum() + flat.sum()


def casting_in_place(x):
    k = np.arange(5)
    k += 0.5
    return x * k


def numbered_and_written(x):
    y, total = x * 1.0, 0.0
    for k, v in enumerate(y[i] * 2 for i in range(3)):
        total += v * k
        y *= 1.5
    return total


def writes_what_is_read(x):
    y, total = x * 1.0, 0.0

    def doubled(part):
        for i in range(2):
            part[i] *= 2
            yield part[i]

    for k, v in enumerate(doubled(y[1:])):
        total += v * k * y[2]
    return total


def filtered_by_what_changes(x):
    least = 0.0
    for v in filter(lambda a: a > least, x):
        least = v
    return least


def complex_real_part(x):
    z = x + 1j * x
    z.real[0] = 2j
    return np.sum(z.imag)


def real_part_of_a_number(x):
    z = x[0] + 1j * x[1]
    z.real = 2.0
    return np.sum(z.imag)


def imaginary_part_of_real_numbers(x):
    z = x * 1.0
    z.imag[0] = 2.0
    return np.sum(z.real)


def copy_or_part(x):
    z = np.outer(x, x) * 1j
    flat = z.imag.ravel()
    flat[0] = 2.0
    return np.sum(z.imag)


def pairs_written(x):
    y, total = x * 1.0, 0.0
    for a, b in itertools.pairwise(y):
        total += a * b
        y *= 1.5
    return total


def multiplied_and_written(x):
    y, total = x * 1.0, 0.0
    for a, b in itertools.product(y, y):
        total += a * b
        y *= 1.5
    return total


def cycled_and_written(x):
    y, total = x * 1.0, 0.0
    for a, b in zip(range(6), itertools.cycle(y)):
        total += a * b
        y *= 1.5
    return total


def used_after_a_write(x):
    y = x * 1.0
    scaled = zip(range(3), (y[i] * 2 for i in range(3)))
    y *= 2
    return list(scaled)[1][1]


REFUSED = [
    (writes_global_dict, "exists outside", "COUNTER[", "Copy the dict"),
    (writes_global_array, "GLOBAL", "GLOBAL[0] = x[0]", "Copy it first"),
    (writes_argument_dict, "exists outside", "params[", "Copy the dict"),
    (steps_through_a_view, "assignment of a slice of an array", "view[::2] = y[:3]", "Copy first"),
    (column_to_row, "assignment of a slice of an array", "row[:] = y.T[2]", "Copy first"),
    (appends_of_two_kinds, "list", "for k in range", "np.zeros"),
    (index_of_list, "index of a list", "parts[np.argmax(x)]", "same type and shape"),
    (list_of_changing_array, "appending an array", "for v in x", "x.copy()"),
    (appended_then_written, "may be shared", "u[0] = v", "copy"),
    (appended_by_an_inner_loop_then_written, "may be shared", "u[0] = 5.0", "copy"),
    (written_between_inner_loops, "appending an array", "for i in range", "x.copy()"),
    (picked_and_written, "may be shared", "rows[int(x[0] > 0)] *= 2.0", "copy"),
    (merged_then_written, "may be shared", "c[0] = 1.0", "copy"),
    (carried_then_written, "may be shared", "b[0] = 1.0", "copy"),
    (handed_around_then_written, "may be shared with 'c'", "d[1:] += x[1]", "copy"),
    (swapped_then_written, "may be shared with 'b'", "a[0] += 1", "copy"),
    (casting_in_place, "same_kind", "k += 0.5", "x = x + y"),
    (numbered_and_written, "items of an iterator", "enumerate(y[i]", "Compute the items"),
    (writes_what_is_read, "changes variables used outside", "enumerate(doubled", "Compute the items"),
    (filtered_by_what_changes, "items of an iterator", "filter(", "Compute the items"),
    (complex_real_part, "complex numbers cannot be written", "z.real[0]", "np.real"),
    (real_part_of_a_number, "attribute 'real' of a number is not writable", "z.real", "z = complex(re, z.imag)"),
    (imaginary_part_of_real_numbers, "assignment destination is read-only", "z.imag[0]", "complex first"),
    (copy_or_part, "cannot write to memory that may be shared with 'z'", "flat[0]", "x.copy()"),
    (pairs_written, "items of an iterator", "itertools.pairwise", "Compute the items"),
    (multiplied_and_written, "items of an iterator", "itertools.product", "Compute the items"),
    (cycled_and_written, "items of an iterator", "itertools.cycle", "Compute the items"),
    (used_after_a_write, "items of an iterator", "list(scaled)", "Compute the items"),
]


@pytest.mark.parametrize("function, message, place, instead", REFUSED, ids=lambda part: getattr(part, "__name__", None))
def test_refusals_say_what_where_and_what_instead(function: Any, message: str, place: str, instead: str) -> None:
    argument = {"w": VECTOR, "b": VECTOR} if function is writes_argument_dict else VECTOR
    check_refused(function, message, place, instead, argument)


@pytest.mark.parametrize("function", [reshape_of_unknown_layout, order_of_the_array_written, order_of_another_array])
def test_layout_decides_whether_a_reshape_shares_memory(function: Any) -> None:
    with pytest.raises(TransformError, match="layout"):
        read_call(function, np.ones((2, 3)))


def merged_container_then_written(x):
    a, b = {"v": x[0]}, {"v": x[1]}
    c = a if x[0] > 0 else b
    c["v"] = 1.0
    return a["v"] + b["v"]


def container_written_while_merged(x):
    a = [x[0], x[1]]
    c = a if x[0] > 0 else [x[1], x[0]]
    a[0] = 5.0
    return c[0]


def test_containers_that_may_be_one_are_not_written() -> None:
    for function in (merged_container_then_written, container_written_while_merged):
        with pytest.raises(TransformError, match="may be shared"):
            read_call(function, VECTOR)
