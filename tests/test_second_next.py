"""More than one item of a generator, taken by `next`: they are all computed at once, or refused."""

import numpy as np
import pytest

from transformer import NotSupported, grad, jit

X = np.array([1.0, -2.0, 3.0, 0.5, 4.0, 6.0])


def of_an_expression(x):
    values = (v * 2 for v in x)
    first = next(values)
    return first * next(values) + sum(values)


def of_a_function(x):
    def squares():
        for v in x:
            yield v ** 2

    values = squares()
    total = next(values) - next(values)
    for v in values:
        total = total * v
    return total


def of_a_few(x):
    def three():
        yield x[0]
        yield x[1] * 2
        yield x[2]

    values = three()
    return next(values) * next(values, 1.0) + next(values) * next(values, 5.0)


@pytest.mark.parametrize("function", [of_an_expression, of_a_function, of_a_few])
def test_items_are_those_of_python(function) -> None:
    assert np.allclose(jit(function)(X), function(X))
    numbers = [(function(X + 1e-6 * e) - function(X - 1e-6 * e)) / 2e-6 for e in np.eye(len(X))]
    assert np.allclose(grad(function)(X), numbers, rtol=1e-5, atol=1e-5)


def test_there_is_no_next_one() -> None:
    with pytest.raises(StopIteration, match="the iterator is exhausted after 1 items"):
        jit(of_an_expression)(np.ones(1))


def raised_by_a_later_one(x):
    values = (1.0 / float(v) for v in x)
    return next(values) + next(values)


def printed(x):
    def shown():
        for v in x:
            print("item")
            yield v

    values = shown()
    return next(values) + next(values)


def changed_in_between(x):
    y = x.copy()
    values = (v * 2 for v in y)
    first = next(values)
    y[1] = 100.0
    return first + next(values)


@pytest.mark.parametrize("function", [raised_by_a_later_one, printed, changed_in_between])
def test_what_python_would_do_later_is_refused(function) -> None:
    with pytest.raises(NotSupported, match="`next` on a generator|changing the variables"):
        jit(function)(X)
