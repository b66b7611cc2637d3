"""What programs print, raise and give on their ways out: as source, and as loops, as in Python."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from lowered import as_loops, generated, printed

from transformer.core.errors import NotSupported, TransformError

VECTOR = np.array([0.5, -1.25, 2.0, 0.75])


class Told:
    def __init__(self, limit: float) -> None:
        self.limit = limit

    def __enter__(self) -> Told:
        print("enter")
        return self

    def __exit__(self, kind: Any, raised: Any, trace: Any) -> None:
        print("exit", kind is None)


@contextlib.contextmanager
def told_around(name: str) -> Iterator[str]:
    print("enter", name)
    try:
        yield name * 2
    finally:
        print("leave", name)


@dataclass
class Doubled:
    x: Any
    twice: Any = field(init=False)
    k: int = field(init=False, default=4)

    def __post_init__(self) -> None:
        self.twice = self.x * 2


def raised_under_a_manager(x):
    with Told(1.0) as told:
        if x > told.limit:
            raise ValueError("too large")
        print("inside")
    return x


class Plain:
    def __init__(self, limit: float) -> None:
        self.limit = limit

    def __enter__(self) -> float:
        print("enter")
        return self.limit

    def __exit__(self, *told: Any) -> None:
        print("exit")


def caught_around_a_manager(x):
    try:
        with Plain(1.0) as limit, told_around("a"):
            if x > limit:
                raise ValueError("too large")
            print("inside")
        x = x * 3
    except ValueError as error:
        print(error)
        x = x * 2
    return x


def caught_around_managers_in_a_loop(x):
    try:
        for k in range(4):
            with told_around("a"):
                if x * k > 1.2:
                    raise KeyError("too large")
                x = x + k
    except KeyError:
        print("caught")
    return x


def raised_in_a_function_under_several(x):
    def checked(v):
        try:
            if v > 1:
                raise ValueError("too large")
        finally:
            print("checked")
        return v * 2

    with told_around("a") as name, Told(2.0):
        x = checked(x)
        print(name)
    return x


def raised_in_a_loop(x):
    total = 0.0
    for k in range(3):
        try:
            if k * x > 2:
                raise ValueError(f"in {k}")
            total += x
        finally:
            print("done", k)
    return total


def first_of_what_prints(x):
    def seen(k):
        print("seen", k)
        return k * x

    return next(seen(k) for k in range(5) if k * x > 1.0)


def left_generator_that_prints(x):
    def steps():
        for k in range(5):
            print("before", k)
            yield k * x
            print("behind", k)

    total = 0.0
    for step in steps():
        total += step
        if total > 2:
            break
    return total


def nothing_is_found(x):
    return next(k for k in range(5) if k > 10 * x)


def exceptions_shown(x):
    error = ValueError(f"{x > 1}", 3)
    print(error.args, (f"a {x > 1}",), [error])
    return x


def ranges_shown(x):
    n = int(x * 3)
    print(range(n), range(1, n, 2))
    return x


def set_behind_init(x):
    made = Doubled(x)
    return made.twice * made.k


def classes_of_iterators(x):
    pairs = enumerate([x])
    print(isinstance(pairs, enumerate), isinstance(pairs, zip))
    print(zip([x]).__class__.__name__, type(map(abs, [x])).__name__)
    return x


def _powers(base, exponent, modulus):
    return pow(base, exponent, modulus)


@pytest.mark.parametrize("args", [
    (3, 5, 7), (3, -1, 7), (-3, 5, 7), (3, 500, 1000007), (3, 5, -7), (0, 0, 1), (5, 0, -3), (-4, -2, -9), (7, 2, 1),
    (3, 5, 0), (2, -1, 4),
])
def test_powers_with_a_modulus(args: tuple[int, int, int], capsys: pytest.CaptureFixture[str]) -> None:
    wanted = outcome(lambda: pow(*args), capsys)
    assert outcome(lambda: printed(generated(_powers, _powers, args))(*args), capsys) == wanted
    with np.errstate(all="ignore"):
        assert outcome(lambda: as_loops(_powers, _powers, args), capsys)[:1] == wanted[:1]


def outcome(call: Callable[[], Any], capsys: pytest.CaptureFixture[str]) -> tuple[Any, ...]:
    try:
        found = "gives", float(call())
    except TransformError:
        raise
    except Exception as raised:
        found = type(raised), str(raised)
    return *found, capsys.readouterr().out


@pytest.mark.parametrize("x", [0.5, 1.5])
@pytest.mark.parametrize("function", [
    raised_under_a_manager, caught_around_a_manager, caught_around_managers_in_a_loop,
    raised_in_a_function_under_several, raised_in_a_loop, first_of_what_prints,
    left_generator_that_prints, nothing_is_found, exceptions_shown, ranges_shown, set_behind_init, classes_of_iterators,
])
def test_programs_do_what_they_do_in_python(function: Any, x: float, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = outcome(lambda: function(x), capsys)
    assert outcome(lambda: printed(generated(function, function, (x,)))(x), capsys) == wanted
    assert outcome(lambda: as_loops(function, function, (x,)), capsys) == wanted


def shows_a_list(x):
    print([v for v in x if v > 0])
    return x


def shows_an_iterator(x):
    print(f"{zip(x)}")
    return x


def catches_what_floats_raise(x):
    with np.errstate(invalid="raise"):
        try:
            return np.sqrt(x)
        except FloatingPointError:
            return x


def catches_what_floats_raise_inside(x):
    try:
        with np.errstate(all="raise"):
            return np.sqrt(x)
    except ArithmeticError:
        return x


def catches_around_a_manager_that_asks(x):
    try:
        with Told(1.0):
            if x[0] > 0.2:
                raise ValueError
    except ValueError:
        return x * 2
    return x


@contextlib.contextmanager
def left_otherwise() -> Iterator[None]:
    yield
    print("without an exception")


def catches_around_a_generator_that_goes_on(x):
    try:
        with left_otherwise():
            if x[0] > 0.2:
                raise ValueError
    except ValueError:
        return x * 2
    return x


class Ending:
    def __enter__(self):
        return self

    __exit__ = lambda self, *told: True  # noqa: E731


def catches_around_a_manager_that_ends(x):
    try:
        with Ending():
            if x[0] > 0.2:
                raise ValueError
    except ValueError:
        return x * 2
    return x


def closed_with_its_name(x):
    log = [1.0]

    def steps():
        try:
            yield from x
        finally:
            log[0] = 5.0

    items = steps()
    return next(items) * log[0]


def told_of_its_end(x):
    def steps():
        with Told(1.0):
            yield x[0]
            yield x[1]

    for item in steps():
        break
    return item


def catches_its_end(x):
    def steps():
        try:
            yield from x
        except BaseException:
            x[0] = 3.0

    for item in steps():
        break
    return item * x[0]


def orders_complex_numbers(x):
    return complex(x[0], 2.0) < 1


@pytest.mark.parametrize("function, message", [
    (shows_a_list, "a text with a list in it"),
    (shows_an_iterator, "a text with a zip in it"),
    (catches_what_floats_raise, "`try` with a caught exception"),
    (catches_around_a_manager_that_asks, "`with` on an object of Told around a `raise` that is caught"),
    (catches_around_a_generator_that_goes_on, "around a `raise` that is caught"),
    (catches_around_a_manager_that_ends, "around a `raise` that is caught"),
    (closed_with_its_name, "the generator steps, which has a name, may be left early"),
    (told_of_its_end, "around a `yield` behind which no item may be wanted"),
    (catches_its_end, "the generator steps catches what ends it early"),
    (catches_what_floats_raise_inside, "`try` with a caught exception"),
])
def test_what_would_be_another_thing_is_refused(function: Any, message: str) -> None:
    with pytest.raises(NotSupported) as caught:
        generated(function, function, (copy.copy(VECTOR),))
    assert message in caught.value.message and caught.value.origin is not None


def test_complex_numbers_of_pythons_have_no_order() -> None:
    with pytest.raises(TypeError, match="'<' not supported between instances of 'complex' and 'int'"):
        generated(orders_complex_numbers, orders_complex_numbers, (VECTOR,))
