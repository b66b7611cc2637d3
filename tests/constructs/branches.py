"""Conditions and branches."""

from __future__ import annotations

import numpy as np

from transformer.core.errors import NotSupported, ShapeError

from .rows import VECTOR, Section

SECTION = Section("Branches and conditions")
supported, refused = SECTION.supported, SECTION.refused


@supported("`if`, `elif`, `else` on values")
def chain(x):
    if x < 0:
        y = -x
    elif x < 2:
        y = x * x
    else:
        y = 2 * x
    return y


@supported("`if` on a static value", "decided while reading", args=(1.3, None))
def static_branch(x, option):
    if option is None:
        return x * x
    return x * option


@supported("`a if c else b`")
def conditional(x):
    return x * x if x > 0 else -x


@supported("`and`, `or`, `not` on values", "the right side runs only where Python runs it")
def logic(x):
    if x > 0 and np.log(x) < 1 or not x > -5:
        return x * x
    return x


@supported("chained comparison: `0 < x < 2`")
def chained_comparison(x):
    return x * x if 0 < x < 2 else x


@supported("`is`, `is not`, `in` on static things", args=(1.3, "cube"))
def membership(x, name):
    if name in ("cube", "third") and name is not None:
        return x**3
    return x


@supported("a name bound on one side only", "using it where it is not bound raises as in Python")
def one_side(x):
    if x > 0:
        y = x * x
    if x > 0:
        return y
    return x


@supported("arrays of different shapes on both sides, if not used afterwards", args=(VECTOR,))
def different_shapes(x):
    if x[0] > 0:
        y = x[1:]
        total = np.sum(y * y)
    else:
        y = x
        total = np.sum(y)
    return total


@supported("a number on one side, an array element on the other")
def widened(x):
    y = 0
    if x > 0:
        y = x * x
    return y


@supported("arrays of different sizes on both sides, used afterwards", "the size is found at run time", args=(VECTOR,))
def sizes_used(x):
    y = x[1:] if x[0] > 0 else x
    return np.sum(y * y)


@supported("arrays of different ranks or dtypes on both sides, used afterwards",
           "what follows is read for each of them", args=(VECTOR,))
def shapes_used(x):
    y = x[:, None] if x[0] > 0 else x
    return np.sum(y * x)


@supported("strings, functions, objects of other classes, lists of other lengths on both sides, used afterwards",
           "what follows is read for each of them", args=(VECTOR,))
def texts_used(x):
    kind = "square" if x[0] > 0 else "cube"
    y = x[1] * 2
    return y**2 if kind == "square" else y**3


@refused("a value of another type, rank or structure on each side, if a loop carries it", NotSupported,
         "Give both branches the same type", args=(VECTOR,))
def texts_carried(x):
    kind, total = "plus", 0.0
    for v in x:
        total = total + v if kind == "plus" else total - v
        kind = "plus" if v > 0 else "minus"
    return total


@supported("None on one side, a number, an array or an object on the other, used afterwards",
           "a boolean says whether it is there; using it where it is not raises a `TypeError`")
def none_or_number(x):
    y = None if x < 0 else x
    return x * 2.0 if y is None else x * y


@supported("None on one path, something else on another, as the result of a compiled function", "also in containers")
def none_or_result(x):
    def found(x):
        return None if x < 0 else x * 2.0

    return 1.0 if found(x) is None else found(x)


@supported("what Python would raise on a path, of None, an option that is not given, or arguments that do not fit",
           "raised if the program comes there")
def option_not_given(x, option=None):
    if x > 100.0:
        return option(x)
    return x * 2.0


@refused("the truth of an array", ShapeError, args=(VECTOR,))
def array_truth(x):
    if x > 0:
        return np.sum(x)
    return x[0]


@refused("a function that raises on every path", ShapeError, "what it raises is raised at once")
def always_raising(x):
    raise ValueError("never")
