"""Assignment and the smaller statements."""

from __future__ import annotations

import contextlib
import math
import threading
import warnings
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np

from transformer.core.errors import NotSupported, ShapeError

from .rows import MATRIX, VECTOR, Section

SECTION = Section("Assignment and other statements")
supported, refused = SECTION.supported, SECTION.refused
LOCK = threading.Lock()


@supported("assignment, also chained: `a = b = x`")
def chained(x):
    a = b = x * 2
    a = a * a
    return a + b


@supported("unpacking, nested and with stars: `a, (b, *c) = …`")
def unpacking(x):
    a, (b, *c) = x, (x * x, 2.0, x)
    return a * b + c[0] * c[-1]


@supported("unpacking an array", args=(VECTOR,))
def array_unpacking(x):
    a, *rest = x
    return a * rest[0] * rest[1]


@supported("swapping: `a, b = b, a`")
def swapping(x):
    a, b = x, x * x
    a, b = b, a
    return a - 2 * b


@supported("annotated assignment: `a: float = x`")
def annotated(x):
    a: float = x * x
    b: float
    b = a * 2
    return b


@supported("augmented assignment: `+=`, `-=`, `*=`, `/=`, `**=`, `@=`, …")
def augmented(x):
    y = x
    y += 1.0
    y *= x
    y /= 3.0
    y **= 2
    y -= x
    return y


@supported("`:=`")
def walrus(x):
    return (y := x * x) + y


@supported("`del` of a name or an item")
def deleting(x):
    items = [x, x * x]
    y = items[0]
    del items[0]
    result = items[0] * y
    del y
    return result


@supported("`pass`, expression statements, nested blocks")
def passing(x):
    if x > 100:
        pass
    x * 2  # noqa: B018
    return x * x


@supported("`assert`", "kept; it runs in the forward sweep")
def asserting(x):
    assert x > 0, f"x is {x}"
    return x * x


@supported("`raise` in a branch", "kept")
def raising(x):
    if x < 0:
        raise ValueError(f"{x} is negative")
    return np.sqrt(x)


@refused("`raise` alone", NotSupported, "name the exception")
def raising_again(x):
    if x < 0:
        raise
    return x * x


@supported("`return` of a tuple, list, dict, NamedTuple or dataclass", "with `jvp` and `vjp`")
def returning(x):
    return {"square": x * x, "pair": (x, [2 * x])}


@supported("early `return`, also in loops")
def early(x):
    for k in range(5):
        if x > 4.0:
            return x * k
        x = x * 1.5
    return x


@supported("`match` on static values", args=(1.3, ("power", 3)))
def matching(x, rule):
    match rule:
        case ("power", n):
            return x**n
        case {"scale": s} | s:
            return x * s


@supported("`with warnings.catch_warnings()`, with filters in its first lines", args=(VECTOR,))
def unheard_warnings(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        y = np.log(x - 1)
        if np.any(np.isnan(y)):
            warnings.warn("not a number", RuntimeWarning, stacklevel=2)
    return np.nansum(y)


@refused("warnings that become exceptions", NotSupported, "test the values")
def raising_warnings(x):
    with warnings.catch_warnings():
        warnings.filterwarnings("error")
        return np.log(x)


@supported("`with np.errstate(…)`", args=(VECTOR,))
def error_state(x):
    with np.errstate(divide="ignore"):
        y = 1 / x
    return np.sum(y)


class Doubled:

    def __init__(self, x):
        self.x = x

    def __enter__(self):
        self.x = self.x * 2
        return self.x

    def __exit__(self, *_):
        self.x = self.x / 2


@contextmanager
def squared(x):
    yield x * x


@supported("`with` on objects with `__enter__` and `__exit__`, and on functions with `contextmanager`")
def managers(x):
    doubled = Doubled(x)
    with doubled as y, squared(x) as z:
        total = y * z
    return total + doubled.x


class Ending:

    def __enter__(self):
        pass

    def __exit__(self, kind, *_):
        return kind is ValueError


@refused("`with` on an object whose `__exit__` may end an exception, around what may raise one", NotSupported,
         "test for the error before it is raised")
def ending(x):
    with Ending():
        if x > 3:
            raise ValueError("large")
    return x


@refused("`with` on anything else", NotSupported, "enter it around the call")
def other_with(x):
    with LOCK:
        return x * x


@supported("`del` of an attribute, `delattr`", "of an object made in the function")
def deleting_attribute(x):
    point = SimpleNamespace(x=x, y=x**2)
    del point.x
    delattr(point, "y")
    return x * (2 if hasattr(point, "x") or hasattr(point, "y") else 3)


@supported("`try` with `finally`, or with exceptions that nothing inside can raise")
def trying_what_cannot_fail(x):
    try:
        y = np.log(x)
        if y > 5:
            return y
    except (TypeError, ZeroDivisionError):
        y = x * 0.0
    else:
        y = y * 2.0
    finally:
        x = x + 1.0
    return x * y


@refused("`return`, `break` or `continue` out of `finally`", NotSupported)
def leaving_finally(x):
    try:
        y = x * x
    finally:
        return y  # noqa: B012


@supported("`try` around a key or an attribute that no call has", "not in loops that stay loops", args=(VECTOR,))
def missing_key(x):
    squares = {}
    for k in (0, 1, 0):
        try:
            total = squares[k] + x[2]
        except KeyError:
            squares[k] = x[k] ** 2
    return total


@supported("`raise` in a `try` that catches it",
           "in the same function, also in a `with` there that asks for no exception", args=(VECTOR,))
def raising_inside(x):
    try:
        for k in range(3):
            if x[k] > 0.5:
                raise StopIteration
    except StopIteration:
        return x[k] ** 2
    return np.sum(x)


@supported("`try` around what Python, `math` and `np.linalg` raise: of numbers, places, matrices",
           "a test of the operands decides", args=(VECTOR,))
def trying(x):
    total = 0.0
    for k in range(4):
        try:
            total += math.sqrt(x[k]) / int(x[k] > 0.5)
        except ValueError:
            total += x[k] ** 2
        except (ZeroDivisionError, IndexError) as error:
            total += len(str(error)) * x[0]
    return total


def checked(x):
    if x > 0.5:
        raise ValueError(x)
    return x * x


@supported("`try` around a call of a function that raises", "outside of its loops and branches", args=(VECTOR,))
def trying_function(x):
    try:
        return checked(x[2])
    except ValueError as error:
        return 3 * error.args[0]


@supported("`with contextlib.suppress(…)`", "as `try` with `pass`", args=(VECTOR,))
def suppressing(x):
    total = 0.0
    for i in range(4):
        with contextlib.suppress(IndexError):
            total += x[i] ** 2
            total *= 1.1
    return total


@refused("`try` with an exception that a loop or a branch in a called function may raise", NotSupported, "test before",
         args=(VECTOR,))
def trying_loop(x):
    try:
        y = sum(1.0 / float(v) for v in x)
    except ZeroDivisionError:
        y = 0.0
    return y


@supported("`match` on a dynamic value, against numbers")
def dynamic_match(x):
    match x:
        case 0.0:
            return x
    return x * x


@refused("unpacking into too few or too many names", ShapeError, args=(VECTOR,))
def wrong_count(x):
    a, b = x
    return a * b


@supported("`if`, `for`, `while` at any depth", args=(MATRIX,))
def depth(x):
    total = 0.0
    for row in x:
        for value in row:
            if value > 0:
                while value < 3:
                    value = value * 2
            total += value
    return total
