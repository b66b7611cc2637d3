"""Compiled code raises what NumPy and Python raise, and never reads or writes outside of an array."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from bounds import Outside, Raised, Watched, outcome
from lowered import as_loops, assert_same, source_of
from test_lowered_programs import BY_NAME

from transformer import grad, jit, jvp, value_and_grad, vmap

pytestmark = pytest.mark.filterwarnings("ignore")


# -- places -----------------------------------------------------------------------------------------

VECTOR, PLACES = np.arange(1.0, 7.0), np.array([0, 2, 5])


def read_there(x, k):
    return x[k] * 2


def read_rows(x, k):
    return x.reshape(2, 3)[k]


def read_two(x, k):
    return x.reshape(2, 3)[k % 2, k]


def write_there(x, k):
    y = x.copy()
    y[k] = 1.0
    return y


def add_there(x, k):
    y = x.copy()
    np.add.at(y, k, 2.0)
    return y


def read_along(x, k):
    return np.take_along_axis(x.reshape(2, 3), np.reshape(k, (-1, 1))[:2], axis=1)


def read_taken(x, k):
    return np.take(x.reshape(2, 3), k, axis=1)


def read_far(x, k):
    return x[PLACES + k]


def read_after(x, k):
    return x[2:][k]


def in_a_loop(x, k):
    total = 0.0
    for i in range(len(x)):
        total += x[i + k]
    return total


def in_a_branch(x, k):
    return x[k] if k < len(x) else x[k - len(x)]


def not_used(x, k):
    total = 0.0
    for i in range(3):
        total += x[k - i] * 0.0
    return total


def while_there(x, k):
    total = 0.0
    while x[k] > 1.5:
        total += x[k]
        k -= 1
    return total


def slices(x, k):
    return np.sum(x[k:k + 3]) + np.sum(x[-k:]) + np.sum(x[:k:2]) + np.sum(x[k::-1])


def slices_in_a_loop(x, k):
    total = 0.0
    for i in range(len(x)):
        total += np.sum(x[i - k:i + k])
    return total


READING = (read_there, write_there, add_there, read_far, read_rows, read_after)
BY_NUMBER = (read_two, in_a_loop, in_a_branch, not_used, while_there, slices, slices_in_a_loop)


@pytest.mark.parametrize("function", [*READING, *BY_NUMBER])
def test_places_by_number(function: Any) -> None:
    for k in (0, 1, 5, 6, 40, -1, -6, -7, -40):
        assert_same(function, VECTOR, k)


@pytest.mark.parametrize("function", [*READING, read_along, read_taken])
def test_places_by_array(function: Any) -> None:
    for places in ([0, 1], [1, 9], [-9, 0], [-1, -2], [3, 9, -9]):
        assert_same(function, VECTOR, np.array(places))
    assert_same(function, VECTOR, np.array([1, 200], np.uint8))
    if function is not read_far:
        assert_same(function, VECTOR, np.array([[0, 1], [2, -90]], np.int8))


# -- sizes ------------------------------------------------------------------------------------------


def largest(x, k):
    return np.max(x[x > k])


def place_of_smallest(x, k):
    return np.argmin(x[x > k])


def largest_of_rest(x, k):
    return np.max(x[k:])


def mean_of_some(x, k):
    return np.mean(x[x > k])


def first_of_some(x, k):
    return x[x > k][0]


def by_positions(x, k):
    return x[np.nonzero(x > k)[0] + 1]


def first_of_new(x, k):
    return np.zeros(k)[0] + np.ones((k, 2))[1, 1]


@pytest.mark.parametrize("function", [largest, place_of_smallest, largest_of_rest, mean_of_some, first_of_some,
                                      by_positions, first_of_new])
def test_parts_that_may_be_empty(function: Any) -> None:
    for x in (VECTOR, np.arange(2.0)):
        for k in (0, 1, 2, 5, 6, 50, -3):
            assert_same(function, x, k)


def test_shapes_that_do_not_fit() -> None:
    def product(x, y):
        return x * y + 1

    def matrices(x, y):
        return x @ y

    square = np.ones((3, 3))
    for x, y in ((VECTOR, np.ones(4)), (square, np.ones(4)), (square, np.ones((4, 3)))):
        assert_same(product, x, y)
    for x, y in ((square, np.ones(4)), (square, np.ones((4, 2)))):
        got = outcome(lambda x=x, y=y: as_loops(matrices, matrices, (x, y)))
        want = outcome(lambda x=x, y=y: matrices(x, y))
        assert isinstance(got, Raised) and issubclass(got.type, want.type) and got.text == want.text


# -- names ------------------------------------------------------------------------------------------


def last_of(x, n):
    for i in range(n):
        last = x[i]
    return last


def under_other_conditions(x, n):
    if n > 3:
        y = x[0] * 2
    return y + 1 if n > 5 or n < 0 else 1.0


def before_it_is_bound(x, n):
    total = 0.0
    for i in range(n):
        if i > 0:
            total = total + previous * x[i]             # noqa: F821
        if x[i] > 0:
            previous = x[i]                             # noqa: F841
    return total


def found(x, n):
    for i in range(n):
        if x[i] > 3:
            place = i
            break
    return x[place]


def last_row(x, n):
    for i in range(n):
        row = x * i
    return np.sum(row)


def appended(x, n):
    kept = []
    for i in range(n):
        if x[i] > 3:
            y = x[i] * 2
        kept.append(y)
    return np.sum(np.array(kept))


def unbound_again(x, n):
    """What was bound before the loop is what the helper gives."""
    def stepped(s, v):
        if v > 3:
            t = s * v
        elif v > 0:
            t = s + v
        return t

    s = 1.0
    for i in range(n):
        s = stepped(s, x[i])
    return s


def handed_on(x, n):
    """Reading a name is using it."""
    if x[0] > n:
        w = x
    z = [w]
    return np.sum(x) + 0 * len(z)


def handed_on_in_a_loop(x, n):
    last = 0
    for k in range(n):
        if x[k] > -1:
            w = k
        last = w
    return np.sum(x) + 0 * last


def not_come_to(x, n):
    """Python comes to `w` only where what stands before it does not decide."""
    if x[0] > 0:
        w = x[1]
    total = 1.0
    if x[0] <= 0 or w > 0:
        total += 1.0
    while total < 9.0 and (n > 3 or w > total):
        total *= 2.0
    return total if 0 < x[0] < w else 3 * total


@pytest.mark.parametrize("function", [last_of, under_other_conditions, before_it_is_bound, found, last_row, appended,
                                      unbound_again, handed_on, handed_on_in_a_loop, not_come_to])
def test_names_that_are_not_bound(function: Any) -> None:
    for x in (VECTOR, -VECTOR, np.arange(6.0)):
        for n in (0, 1, 4, 6):
            assert_same(function, x, n)


@pytest.mark.parametrize("function", [last_of, found])
def test_values_beside_derivatives_are_those_of_the_program(function: Any) -> None:
    with pytest.raises(UnboundLocalError):
        function(-VECTOR, 0)
    with pytest.raises((UnboundLocalError, NameError)):
        value_and_grad(function)(-VECTOR, 0)


def last_times_each(x, n):
    total = 0.0
    for i in range(n):
        if x[i] > 3:
            last = x[i]
        total = total + last * x[i]
    return total


def weight_of_a_branch(x, n):
    for i in range(n):
        if x[i] > 3:
            weight = x * i
    return np.sum(weight)


def bound_in_a_helper(x, n):
    def first(k):
        if x[k] > 3:
            found = x[k]
        return found

    return first(0) + first(n)


@pytest.mark.parametrize("function", [last_of, found, last_row, last_times_each, weight_of_a_branch,
                                      bound_in_a_helper, unbound_again, handed_on, handed_on_in_a_loop])
def test_derivatives_raise_where_the_program_does(function: Any) -> None:
    derivatives = [grad(function), jit(grad(function)), lambda x, n: jvp(function, (x, n), (x, None)),
                   lambda x, n: vmap(grad(function), in_axes=(0, None))(np.stack([x, x]), n)]
    for x, n in ((-VECTOR, 4), (VECTOR, 0), (VECTOR, 4), (np.arange(6.0)[::-1], 1)):
        try:
            function(x, n)
        except UnboundLocalError:
            for derivative in derivatives:
                with pytest.raises((UnboundLocalError, NameError)):
                    derivative(x, n)
        else:
            for derivative in derivatives:
                derivative(x, n)


def under_the_same(x):
    if x[0] > 3:
        y = x[0] * 2
    z = 1.0
    if x[0] > 3:
        z = z + y
    return z


def test_the_same_condition_is_not_tested_again() -> None:
    assert "raise" not in source_of(under_the_same, under_the_same, (VECTOR,))


@pytest.mark.parametrize("name", ["saved_where_a_branch_binds_it", "saved_where_branches_in_branches_bind_it"])
def test_what_is_saved_for_the_way_back_is_not_tested(name: str) -> None:
    program = BY_NAME[name]
    arguments = program.example(np.random.default_rng(0))
    assert "UnboundLocalError" not in source_of(grad(program.function), program.function, arguments)


@pytest.mark.parametrize("place", [6, -1])
def test_a_place_outside_is_seen(place: int) -> None:
    with pytest.raises(Outside):
        VECTOR.copy().view(Watched)[place]


# -- compiled ---------------------------------------------------------------------------------------


def spmv(data, rows, columns, x):
    y = np.zeros(len(x))
    for e in range(len(data)):
        y[rows[e]] += data[e] * x[columns[e]]
    return y


def gathered(x, order):
    return np.sum(np.exp(x[order]) * x[:3])


def ratio(a, b):
    return a / b


def deep(x, n):
    if n == 0:
        return x
    return np.sin(x) * deep(x, n - 1)


def raised(function: Any, *arguments: Any) -> BaseException:
    try:
        function(*arguments)
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


FULL = np.ones(3), np.array([0, 1, 2]), np.array([2, 1, 0]), np.ones(3)
COMPILED = [
    (spmv, FULL, (*FULL[:2], np.array([2, 1, 3]), FULL[3])),
    (spmv, FULL, (FULL[0], np.array([0, 1, -4]), *FULL[2:])),
    (spmv, FULL, (FULL[0], FULL[1][:2], *FULL[2:])),
    (gathered, (VECTOR, PLACES), (VECTOR, np.array([0, 6, 7]))),
    (ratio, (1.0, 2.0), (1.0, 0.0)),
    (last_of, (VECTOR, 2), (VECTOR, 0)),
    (largest, (VECTOR, 2.0), (VECTOR, 9.0)),
]


@pytest.mark.parametrize("case", COMPILED, ids=lambda case: case[0].__name__)
def test_compiled(case: Any) -> None:
    function, good, bad = case
    compiled = jit(function)
    np.testing.assert_allclose(compiled(*good), function(*good))
    want = raised(function, *bad)
    for _ in range(2):
        got = raised(compiled, *bad)
        assert type(got) is type(want) and str(got) == str(want)
        line = f"line {want.__traceback__.tb_next.tb_lineno}, " if function is not last_of else ""   # type: ignore[union-attr]
        assert f"{line}in {function.__name__}\n" in got.__notes__[0]
        assert len(got.__notes__) == 1
    np.testing.assert_allclose(compiled(*good), function(*good))


def test_compiled_shapes_that_do_not_fit() -> None:
    def scaled(x, y):
        return x * y + 1

    compiled = jit(scaled)
    compiled(VECTOR, VECTOR)
    for y in (np.ones(4), np.ones((2, 5))):
        with pytest.raises(ValueError) as error:
            compiled(VECTOR, y)
        assert str(error.value).splitlines()[0] == str(raised(scaled, VECTOR, y)).strip()
    np.testing.assert_allclose(compiled(VECTOR, np.ones((3, 1))), scaled(VECTOR, np.ones((3, 1))))


def test_compiled_recursion_has_an_end() -> None:
    compiled = jit(deep)
    np.testing.assert_allclose(compiled(0.5, 20), deep(0.5, 20))
    with pytest.raises(RecursionError, match="maximum recursion depth exceeded"):
        compiled(0.5, -1)


def test_compiled_gradient() -> None:
    compiled = jit(grad(gathered))
    np.testing.assert_allclose(compiled(VECTOR, PLACES), grad(gathered)(VECTOR, PLACES))
    with pytest.raises(IndexError, match="^index 6 is out of bounds for axis 0 with size 6"):
        compiled(VECTOR, np.array([0, 6, 7]))


def test_from_threads() -> None:
    compiled, errors = jit(gathered), []
    compiled(VECTOR, PLACES)

    def work() -> None:
        for _ in range(200):
            errors.append(str(raised(compiled, VECTOR, np.array([0, 6, 7]))))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == ["index 6 is out of bounds for axis 0 with size 6"] * 800
