"""What Python would raise on a path that a call may never take: None where a number is wanted, an option that is not
given, an argument too many. The program raises it where it comes there, and nothing before.
"""

import math

import numpy as np
import pytest

from transformer import TransformError, grad, jit, jvp


def secant(x):
    """The step that needs a second point is not taken before there is one."""
    before = None
    for _ in range(5):
        slope = 2 * x
        if slope == 0.0:
            x = before + (x - before) * 0.5
        x, before = x - (x * x - 2.0) / slope, x
    return x


def attribute(x, option=None):
    if x > 3:
        return x * option.rate
    return x * x


def called(x, option=None):
    if x > 3:
        return option(x)
    return x * x


def unpacked(x, option=None):
    if x > 3:
        a, b = option
        return a * x + b
    return x * x


def item(x, option=None):
    if x > 3:
        return x * option[0]
    return x * x


def run_over(x, option=None):
    if x > 3:
        for factor in option:
            x = x * factor
    return x * x


def too_many(x):
    if x > 3:
        return item(x, 2, 3)
    return x * x


def too_few(x):
    if x > 3:
        return math.hypot(*pair())
    return x * x


def pair(a, b):
    return a, b


def compared(x, most=None):
    if x > 3 and x < most:
        return x
    return x * x


def option_of_numpy(x, option=None):
    if x > 3:
        return np.sin(option) * x
    return x * x


FUNCTIONS = [attribute, called, unpacked, item, run_over, too_many, too_few, compared, option_of_numpy]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_the_program_raises_what_python_raises(function):
    assert grad(function)(1.5) == 3.0
    assert jvp(function, (1.5,), (2.0,)) == (2.25, 6.0)
    with pytest.raises((TypeError, AttributeError)) as wanted:
        function(5.0)
    with pytest.raises(wanted.type) as found:
        grad(function)(5.0)
    assert str(found.value) == str(wanted.value)
    assert any("test_raised_on_paths.py" in note for note in found.value.__notes__)


@pytest.mark.parametrize("function", [attribute, unpacked])
def test_compiled_programs_raise_it_as_well(function):
    compiled = jit(function)
    assert compiled(1.5) == 2.25
    with pytest.raises((TypeError, AttributeError)) as wanted:
        function(5.0)
    with pytest.raises(wanted.type, match=str(wanted.value)):
        compiled(5.0)


def test_a_step_that_is_never_taken():
    assert math.isclose(secant(1.0), jvp(secant, (1.0,), (1.0,))[0])
    with pytest.raises(TypeError, match="None"):
        grad(secant)(0.0)


def test_on_every_path_it_is_raised_at_once():
    with pytest.raises(TransformError, match="'NoneType' object is not callable"):
        grad(lambda x, option=None: option(x))(5.0)


class Unconverged(Exception):
    """As libraries write it: with what is known of the failure."""

    def __init__(self, message, steps=None, point=None, residual=None):
        super().__init__(message)
        self.steps, self.point, self.residual = steps, point, residual


def checked(x, start):
    if x[0] > 3:
        raise Unconverged("too far", point=x[0], residual=x)
    if x[0] < 0:
        raise ValueError("negative", x, len(x), start)
    return np.sum(x * x) + start


@pytest.mark.parametrize("transformed", [grad(checked), jit(checked)], ids=["grad", "jit"])
def test_exceptions_have_numbers_and_arrays(transformed):
    with pytest.raises(Unconverged, match="too far") as found:
        transformed(np.full(2, 5.0), 1.0)
    assert found.value.point == 5.0 and found.value.steps is None
    assert np.array_equal(found.value.residual, [5.0, 5.0])
    with pytest.raises(ValueError, match="negative") as found:
        transformed(np.full(2, -1.0), 1.5)
    assert np.array_equal(found.value.args[1], [-1.0, -1.0]) and found.value.args[2:] == (2, 1.5)


def more_arguments_than_a_rule_takes(x):
    if x[0] > 1:
        return np.sum(x.astype(np.float32, "K", "unsafe", True, False))
    return x[0]


def another_name_of_an_argument(x):
    if x[0] > 1:
        return int("12", base=5) * x[0]
    return x[0]


def a_method_of_an_iterator(x):
    if x[0] > 1:
        return enumerate([x[0]]).__next__()[1]
    return x[0]


@pytest.mark.parametrize("function", [more_arguments_than_a_rule_takes, another_name_of_an_argument,
                                      a_method_of_an_iterator])
def test_what_python_takes_is_refused_and_not_raised(function):
    with pytest.raises(TransformError, match=function.__name__):
        jit(function)(np.zeros(2))


def no_shape(x, shape=None):
    return np.sum(np.zeros(shape)) if x > 1 else x


def test_a_shape_that_is_not_given():
    compiled = jit(no_shape)
    assert compiled(0.5) == 0.5
    with pytest.raises(TypeError, match="None"):
        compiled(2.0)


def test_missing_arguments_are_listed_as_python_lists_them():
    with pytest.raises(TransformError, match=r"missing 3 required positional arguments: 'b', 'c', and 'd'"):
        grad(lambda a: four(a))(1.0)


def four(a, b, c, d):
    return a * b * c * d


def next_of_positive(x):
    return next(iter([v for v in x if v > 0]))


def first_and_rest(x):
    first, *rest = [v for v in x if v > 0]
    return first + sum(rest)


def two_of_positive(x):
    a, b = [v for v in x if v > 0]
    return a * b


@pytest.mark.parametrize("function, kind, message", [
    (next_of_positive, StopIteration, "the iterator has no next item"),
    (first_and_rest, ValueError, r"not enough values to unpack \(expected at least 1, got 0\)"),
    (two_of_positive, ValueError, r"not enough values to unpack \(expected 2, got 0\)"),
])
def test_items_that_are_not_there(function, kind, message) -> None:
    for changed in (jit(function), grad(function)):
        with pytest.raises(kind, match=message):
            changed(-np.ones(7))
