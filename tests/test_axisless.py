"""Arrays without axes: changed in place where NumPy changes them, for all names that they have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from transformer import NotSupported, check_grads, grad, jit, jvp, value_and_grad, vmap

X = np.array([0.7, -1.2, 2.0])
CAPTURED = np.array(1.5)


def an_argument_under_two_names(x):
    y = x
    y += 1
    return x * y


def written_by_index(x):
    y = x
    y[()] = 3 * x
    y[...] += x * 2
    return x * y


def filled(x):
    s = np.zeros(())
    t = s
    s.fill(x * 3)
    return t * x


def written_by_a_ufunc(x):
    s = np.ones(())
    t = s
    np.multiply(s, x, out=s)
    np.add(s, x, s)
    np.copyto(s, s * s)
    return t * x + s


def two_names_and_a_loop(x):
    s = np.zeros(())
    t = s
    for k in range(3):
        s += x * k
        t *= x
    return t * x + s


def add_to(total, v):
    total += v


def changed_by_a_helper(x):
    total = np.array(0.0)
    add_to(total, x)
    add_to(total, x * x)
    return total * x


def in_a_container(x):
    total = np.ones(())
    kept = {"total": total, "list": [total]}
    total *= x
    kept["total"] += x
    kept["list"][0] *= 2
    return kept["total"] * x + total


def number_of_the_same_value(x):
    s = np.sum(np.ones(2))
    t = s
    t += x
    u = np.float64(2.0)
    v = u
    v *= x
    return s * t + u * v


def copies_are_apart(x):
    s = np.zeros(())
    parts = [s.copy(), np.array(s), np.copy(s), s + 0, +s, s[()], s.astype(float)]
    s += x
    for part in parts:
        part += x * x
    return s + sum(parts)


def views_are_not(x):
    s = np.zeros(())
    views = [s.reshape(()), s.T, s[...], np.squeeze(s), np.asarray(s), s.real, np.transpose(s)]
    for view in views:
        view += x
    return s * x


def a_choice_gives_an_array(x):
    y = np.where(x > 0, x, 2 * x)
    z = y
    z *= x
    return y + z


def one_in_both_branches(x):
    s, t = np.zeros(()), np.ones(())
    u = s if x > 0 else t
    return u + x * s


def in_a_branch(x):
    s = np.zeros(())
    t = s
    if x > 0:
        s += x * x
    else:
        t -= x
    return s * t + x


def a_narrow_array_stays_narrow(x):
    s = np.zeros((), np.float32)
    t = s
    s += x
    return t * x


def alone_on_some_paths(x):
    total = np.array(0.0)
    for k in range(3):
        total = total + x * k
    total += x
    total *= 2
    return total * x


def read_while_captured(x):
    s = CAPTURED + x
    s += CAPTURED
    return s * x


def in_place_in_a_loop_over_rows(x):
    s = np.zeros(())
    rows = []
    for k in range(3):
        s += x**k
        rows.append(s * x)
    return np.sum(np.array(rows)) + s


PROGRAMS = [
    an_argument_under_two_names,
    written_by_index,
    filled,
    written_by_a_ufunc,
    two_names_and_a_loop,
    changed_by_a_helper,
    in_a_container,
    number_of_the_same_value,
    copies_are_apart,
    views_are_not,
    a_choice_gives_an_array,
    one_in_both_branches,
    in_a_branch,
    a_narrow_array_stays_narrow,
    alone_on_some_paths,
    read_while_captured,
    in_place_in_a_loop_over_rows,
]
ONLY_ARRAYS = (written_by_index,)
KINDS = {"array": np.array, "NumPy number": np.float64, "Python number": float}


def agree(function: Any, *arguments: Any) -> None:
    """The value is NumPy's; the derivative is that of NumPy's values, and arguments are left alone."""
    fresh = lambda values: [np.array(v) if isinstance(v, np.ndarray) else v for v in values]  # noqa: E731
    wanted = function(*fresh(arguments))
    given = fresh(arguments)
    value, gradient = value_and_grad(function)(*given)
    np.testing.assert_allclose(value, wanted, rtol=1e-6)
    for one, other in zip(given, arguments, strict=True):
        np.testing.assert_array_equal(one, other)
    step = 1e-6
    ends = [function(*fresh((arguments[0] + d, *arguments[1:]))) if not isinstance(arguments[0], np.ndarray) else
            function(*fresh((np.asarray(arguments[0] + d), *arguments[1:]))) for d in (-step, step)]
    directional = np.sum(gradient)
    narrow = np.asarray(wanted).dtype == np.float32 or function is a_narrow_array_stays_narrow
    np.testing.assert_allclose(directional, (ends[1] - ends[0]) / (2 * step), rtol=5e-2 if narrow else 1e-6)


@pytest.mark.parametrize("point", [0.7, -1.3])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_numbers_and_arrays_without_axes(function, kind, point):
    if function in ONLY_ARRAYS and kind != "array":
        with pytest.raises((NotSupported, TypeError) if kind == "NumPy number" else Exception):
            grad(function)(KINDS[kind](point))
        return
    agree(function, KINDS[kind](point))


def one_function_for_all_kinds(x):
    y = x
    y += 1
    return x * y


def test_the_kind_of_an_argument_belongs_to_its_signature():
    derivative = grad(one_function_for_all_kinds)
    for _ in range(2):
        assert derivative(2.0) == 2 * 2.0 + 1
        assert derivative(np.array(2.0)) == 2 * 3.0
        assert derivative(np.float64(2.0)) == 2 * 2.0 + 1


def view_of_an_element(a):
    first = a[0, ...]
    first += a[1] * 2
    last = a[..., -1]
    last[...] = first * last
    number = a[1]
    number += 100.0
    return np.sum(a * a) + number


def element_by_reshape(a):
    only = a[1:2].reshape(())
    only *= a[0]
    alone = np.squeeze(a[2:])
    alone += only
    return np.sum(a**2)


def items_of_a_loop_are_numbers(a):
    total = 0.0
    for item in a:
        item += 1.0
        total += item * item
    b, c, d = a
    b *= 2
    return total + np.sum(a) * b


def in_a_matrix(a):
    m = np.outer(a, a)
    for k in range(3):
        corner = m[k, k, ...]
        corner *= a[k]
    return np.sum(m)


VIEWS = [view_of_an_element, element_by_reshape, items_of_a_loop_are_numbers, in_a_matrix]


@pytest.mark.parametrize("function", VIEWS)
def test_views_of_elements(function):
    value, gradient = value_and_grad(function)(X)
    np.testing.assert_allclose(value, function(X.copy()))
    copied = lambda a: function(np.array(a))  # noqa: E731
    wanted = [(copied(X + d) - copied(X - d)) / 2e-6 for d in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(gradient, wanted, rtol=1e-6)


def sometimes_an_array(x):
    s = np.zeros(())
    if x > 1:
        s = s + x
    t = s
    t += x
    return s * t


def kept_before_a_loop(x):
    s = np.zeros(())
    first = s
    while s < x - 3:
        s = s + x
    s += x
    return s * first + x


def a_captured_one(x):
    y = CAPTURED
    y += x
    return y


def a_number_is_assigned_into(x):
    s = np.sum(x)
    s[...] = 2.0
    return s


UNTOLD = [sometimes_an_array, kept_before_a_loop, a_captured_one, a_number_is_assigned_into]


@pytest.mark.parametrize("function", UNTOLD)
def test_what_cannot_be_told_is_refused_where_it_stands(function):
    with pytest.raises(Exception) as caught:
        grad(function)(2.0)
    assert caught.value.origin.file == __file__


def test_an_integer_array_takes_no_fraction():
    def function(x):
        s = np.zeros((), int)
        s += x
        return s * x

    with pytest.raises(Exception, match="Cannot cast"):
        grad(function)(2.0)


def test_one_array_given_twice():
    def function(x, y):
        x += y
        return x * y

    x = np.array(2.0)
    with pytest.raises(NotSupported, match="shares memory"):
        grad(function)(x, x)
    a = np.array([2.0, 3.0])
    with pytest.raises(NotSupported, match="shares memory"):
        grad(lambda a, x: np.sum(a) * function(x, 2.0), argnums=0)(a, a[0, ...])
    assert grad(function)(np.array(2.0), np.array(2.0)) == 2.0


def test_higher_orders_and_forward_mode():
    for function in (an_argument_under_two_names, written_by_a_ufunc, two_names_and_a_loop):
        check_grads(lambda x, f=function: f(np.array(x)), (0.7,))
        value, tangent = jvp(function, (np.array(0.7),), (np.array(1.0),))
        np.testing.assert_allclose(tangent, grad(function)(np.array(0.7)))
        np.testing.assert_allclose(value, function(np.array(0.7)))


def test_types_are_told_apart():
    def function(x):
        kinds = isinstance(x, np.ndarray), isinstance(x, float), type(x) is np.ndarray
        return x * (1.0 + 2 * kinds[0] + 4 * kinds[1] + 8 * kinds[2])

    for kind in KINDS.values():
        assert grad(function)(kind(1.0)) == function(kind(1.0))


def saved(function: Any, tmp_path: Any, *arguments: Any) -> Any:
    """The function of a file that was written for such arguments."""
    path = tmp_path / "saved.py"
    grad(function).save(path, *arguments)
    scope: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), scope)
    return scope[f"{function.__name__}_grad"]


def bound_anew(x):
    x = x * 1.0
    x += 1
    return x * x


def test_files_test_what_their_source_was_read_for(tmp_path):
    of_numbers = saved(an_argument_under_two_names, tmp_path, np.float64(2.0))
    assert of_numbers(2.0) == of_numbers(np.float64(2.0)) == 5.0
    with pytest.raises(TypeError, match="x must be a number"):
        of_numbers(np.array(2.0))
    (tmp_path / "saved.py").unlink()
    of_arrays = saved(an_argument_under_two_names, tmp_path, np.array(2.0))
    x = np.array(2.0)
    assert of_arrays(x) == 6.0 and x == 2.0
    with pytest.raises(TypeError, match="x must be an array"):
        of_arrays(2.0)
    (tmp_path / "saved.py").unlink()
    of_any = saved(bound_anew, tmp_path, np.float64(2.0))
    x = np.array(2.0)
    assert of_any(x) == of_any(2.0) == 6.0 and x == 2.0


def numbers_and_arrays_of_one(x):
    x += 1
    return x.sum(), x[()], x[...], x, x.copy(), x.reshape(()), np.float64(x), x.item(), +x, np.squeeze(x), x * 1


def numbers_and_arrays_made(x):
    y = np.zeros(())
    y += x
    return y.sum(), y[()], y, y.copy(), np.asarray(3.0), y * 1


@pytest.mark.parametrize("function", [numbers_and_arrays_of_one, numbers_and_arrays_made])
def test_compiled_results_are_numbers_or_arrays_as_numpys(function):
    given = np.array(2.0)
    found, wanted = jit(function)(given), function(np.array(2.0))
    assert [(type(one), one) for one in found] == [(type(one), one) for one in wanted]
    assert not any(one is given for one in found[4:5])
    assert function is numbers_and_arrays_made or found[3] is given


def total_of_one(x):
    total = 0.0
    total += np.array(x[0])
    before = total
    total += 1
    return before, total


@pytest.mark.parametrize("transformed", [jit(total_of_one), lambda x: vmap(total_of_one)(x[None])],
                         ids=["jit", "vmap"])
def test_totals_of_arrays_without_axes_are_numbers(transformed):
    before, total = transformed(X)
    assert (before, total) == total_of_one(X)
