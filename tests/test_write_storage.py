"""In place or a copy: what writes to arrays do in print."""

from __future__ import annotations

import numpy as np
from writing import INT, Making, assert_right, body_of, named, param

from transformer.core.types import ArrayType
from transformer.ops import indexing
from transformer.ops.value import call

ARRAY = ArrayType(np.dtype(float), (4,))


def test_a_parameter_is_copied_before_it_is_written() -> None:
    x = param("x", ARRAY)
    with Making(x).begin() as making:
        function = making.function(named(indexing.write(x, 2.0, 0), "x"))
    assert body_of(function) == "    x = x.copy()\n    x[0] = 2.0\n    return x\n"
    assert_right(function, np.ones(4))


def test_it_is_copied_once_before_a_loop() -> None:
    x, n = param("x", ARRAY), param("n", INT)
    with Making(x, n).begin() as making:
        (y,) = making.loop(n.atom, {"x": x}, lambda x, k: (named(indexing.add_at(x, 1.0, k), "x"),))
        function = making.function(y)
    assert (
        body_of(function)
        == """\
    x = x.copy()
    for k in range(n):
        x[k] += 1.0
    return x
"""
    )
    assert_right(function, np.ones(4), 3)


def test_the_view_is_copied_that_would_see_the_write() -> None:
    x = param("x", ARRAY)
    with Making(x).begin() as making:
        y = named(np.sin(x), "y")
        part = named(y[1:], "part")
        z = indexing.write(y, 0.0, slice(None, 2))
        function = making.function(np.sum(part) * z)
    assert "    part = y[1:].copy()\n    y[:2] = 0.0\n" in body_of(function)
    assert_right(function, np.ones(4))


def test_a_loop_copies_a_view_and_not_all_of_an_array_that_began_as_an_argument() -> None:
    x, n = param("x", ARRAY), param("n", INT)

    def step(x, k):
        part = named(x[2:], "part")
        y = indexing.add_at(x, part * 2.0, slice(0, 2))
        return (named(indexing.add_at(y, part, slice(1, 3)), "x"),)

    with Making(x, n).begin() as making:
        (y,) = making.loop(n.atom, {"x": x}, step)
        function = making.function(y)
    assert body_of(function).startswith("    x = x.copy()\n    for _ in range(n):\n        part = x[2:].copy()\n")
    assert body_of(function).count("copy") == 2
    assert_right(function, np.ones(4), 3)


def test_an_older_version_that_is_read_later_is_kept() -> None:
    x = param("x", ARRAY)
    with Making(x).begin() as making:
        y = named(np.sin(x), "y")
        z = named(indexing.write(y, 0.0, 0), "z")
        function = making.function(y * 2.0, z)
    assert "    z = y.copy()\n    z[0] = 0.0\n" in body_of(function)
    assert_right(function, np.ones(4))


def test_arrays_that_take_turns_are_written_in_place() -> None:
    n = param("n", INT)
    with Making(n).begin() as making:
        one, other = call(np.zeros, (4,), {}), call(np.ones, (4,), {})

        def step(a, b, k):
            return b, indexing.write(a, np.sum(b), 0)

        a, b = making.loop(n.atom, {"a": one, "b": other}, step)
        function = making.function(a, b)
    assert ".copy()" not in body_of(function)
    assert_right(function, 5)


def test_sums_are_accumulated_in_place() -> None:
    x, n = param("x", ARRAY), param("n", INT)
    with Making(x, n).begin() as making:
        (total,) = making.loop(n.atom, {"total": indexing.zeros_like(x)}, lambda total, k: (total + x * k,))
        function = making.function(total)
    assert "        total += x * k\n" in body_of(function)
    assert_right(function, np.ones(4), 3)
    with Making(x, n).begin() as making:
        (total,) = making.loop(n.atom, {"total": x}, lambda total, k: (total + x * k,))
        function = making.function(total)
    assert "        total = total + x * k\n" in body_of(function)
    assert_right(function, np.ones(4), 3)


def test_results_do_not_share_memory() -> None:
    x = param("x", ARRAY)
    with Making(x).begin() as making:
        y = named(np.sin(x), "y")
        function = making.function(y, y[1:], x, y)
    assert body_of(function).endswith("    return y, y[1:].copy(), x.copy(), y.copy()\n")
    assert body_of(function, user_return=True).endswith("    return y, y[1:], x, y\n")
    assert_right(function, np.ones(4))


def test_integers_that_select_an_element_twice_add_twice() -> None:
    x = param("x", ARRAY)
    with Making(x).begin() as making:
        y = indexing.add_at(indexing.zeros_like(x), x[:3], [1, 1, 2])
        z = indexing.add_at(call(np.zeros, ((2, 4),), {}), 1.0, (slice(None), [0, 0]))
        function = making.function(y, z)
    assert "np.add.at(" in body_of(function) and "np.s_[:, np.array([0, 0])]" in body_of(function)
    assert_right(function, np.arange(4.0))
