"""One array or container in two places: what a function returns twice, was given, or finds around it, and gives back.

A write to one is seen in the other, as it is in Python, or it is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from transformer import NotSupported, checkpoint, custom_jvp, custom_vjp, grad, jit, jvp, linearize, vjp, vmap


def twice(x: Any) -> Any:
    y = np.sin(x) * x
    return y, y


def list_twice(x: Any) -> Any:
    items = [np.sin(x) * x, x]
    return items, items



ruled = custom_vjp(twice)
ruled.defvjp(lambda x: (twice(x), x), lambda x, dy: ((dy[0] + dy[1]) * x,))
given_back = custom_jvp(lambda items, x: (items, 2.0 * x))
given_back.defjvp(lambda primals, tangents: (given_back(*primals), (tangents[0], 2.0 * tangents[1])))


def of_checkpoint(x):
    a, b = checkpoint(twice)(x)
    a[0] = 3.0
    return np.sum(a * b)


def of_a_rule(x):
    a, b = ruled(x)
    a[0] = 3.0
    return np.sum(a * b)


def list_of_checkpoint(x):
    a, b = checkpoint(list_twice)(x)
    a[0] = 3.0 * x
    return np.sum(a[0] * b[0])


def list_given_to_checkpoint(x):
    items = [2.0 * x, 3.0 * x]
    found, y = checkpoint(lambda given: (given, np.sin(given[0])))(items)
    found[0] = 7.0 * x
    return np.sum(items[0] * y)


def item_given_to_checkpoint(x):
    items = [2.0 * x, 3.0 * x]
    found = checkpoint(lambda given: [given[0], np.sin(given[1])])(items)
    found[0][0] = 7.0
    return np.sum(items[0] * found[1])


def list_around_checkpoint(x):
    items = [2.0 * x, 3.0 * x]
    found, y = checkpoint(lambda z: (items, np.sin(z)))(x)
    found[0] = 7.0 * x
    return np.sum(items[0] * y)


def growing_list_given_to_checkpoint(x):
    items = []
    for each in x:
        items.append(2.0 * each)
    found = checkpoint(lambda given: (given, np.sin(x)))(items)[0]
    found.append(7.0)
    return np.sum(np.array(items))


def list_given_to_a_rule(x):
    items = [2.0 * x, 3.0 * x]
    found, y = given_back(items, x)
    found[0] = 7.0 * x
    return np.sum(items[0] * y)


def first_of(items: Any, x: Any, n: Any) -> Any:
    return (items[0], x) if n == 0 else first_of(items, 0.5 * x, n - 1)


def item_through_recursion(x):
    items = [2.0 * x, 3.0 * x]
    found, y = first_of(items, x, 3)
    found[0] = 7.0
    return np.sum(items[0] * y)


def array_around_recursion(x):
    y = np.sin(x)

    def found(n):
        return y if n == 0 else found(n - 1)

    z = found(3)
    z[0] = 7.0
    return np.sum(y * z)


def list_given_to_recursion(x):
    def found(items, n):
        return items if n == 0 else found(items, n - 1)

    items = [2.0 * x, 3.0 * x]
    again = found(items, 3)
    again[0] = 7.0 * x
    return np.sum(items[0] * x)


@pytest.mark.parametrize("program", [
    of_checkpoint, of_a_rule, list_of_checkpoint, list_given_to_checkpoint, item_given_to_checkpoint,
    list_around_checkpoint, growing_list_given_to_checkpoint, list_given_to_a_rule, item_through_recursion,
    array_around_recursion, list_given_to_recursion,
])  # fmt: skip
def test_a_write_that_two_names_would_see_is_refused(program: Any) -> None:
    x = np.array([0.3, 1.1, 0.7])
    for transformed, given in ((grad(program), x), (jit(program), x), (vmap(program), np.stack([x, x]))):
        with pytest.raises(NotSupported, match="may be shared"):
            transformed(given)


def only_reads(x):
    a, b = checkpoint(twice)(x)
    items, also = checkpoint(list_twice)(x)
    c, d = ruled(x)
    return np.sum(a * b * c * d) + np.sum(items[0] * also[1])


def writes_to_its_own(x):
    y = checkpoint(lambda z: np.sin(z) * z)(x)
    y[0] = 3.0 * x[1]
    found = checkpoint(lambda z: {"items": [np.sin(z), z * z]})(x)
    found["items"][0] = 3.0 * x
    found["items"].append(y)
    return sum(np.sum(item * y) for item in found["items"])


@pytest.mark.parametrize("program", [only_reads, writes_to_its_own])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_is_only_read_or_has_one_name_is_right(program: Any, dtype: Any) -> None:
    for n in (2, 3):
        x = np.linspace(0.3, 1.1, n).astype(dtype)
        near = 1e-12 if dtype is np.float64 else 1e-5
        np.testing.assert_allclose(jit(program)(x), program(x), rtol=near)
        np.testing.assert_allclose(vmap(program)(np.stack([x, 2 * x])), [program(x), program(2 * x)], rtol=near)


@pytest.mark.parametrize("taken", [vjp, linearize, lambda f, x: jvp(f, (x,), (x,))])
def test_arrays_of_a_result_are_apart(taken: Any) -> None:
    """Those that a derivative comes with are new, also where the function gives one twice or what it found."""
    x = np.array([0.3, 1.1])
    held = x.copy()
    for function in (twice, lambda z: (z, z), lambda z: (z[:1], held), lambda z: (held, held[1:])):
        one, other = taken(function, x)[0]
        arrays = [one, other, x, held]
        assert not any(np.shares_memory(a, b) for k, a in enumerate(arrays) for b in arrays[:k])
