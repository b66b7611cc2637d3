"""Straight-line statements: assignments of all sorts."""

from __future__ import annotations

import ast
from typing import Any

from . import arrays, scalars
from .kinds import NUMBER, Floats, Shape
from .templates import expression
from .writer import Writer

SHAPES: tuple[Shape, ...] = ((3,), (2,), (4,), (3, 2), (2, 3), (1, 3), (2, 2), (3, 1), (1,))


def some_shape(w: Writer) -> Shape:
    names = w.arrays()
    return w.kind(w.of(names)).shape if names and w.chance(75) else w.of(SHAPES)


def assign_number(w: Writer) -> None:
    value = scalars.number(w)
    w.assign(w.target(NUMBER), value, NUMBER)


def assign_array(w: Writer) -> None:
    kind = Floats(some_shape(w))
    value = arrays.array(w, kind.shape)
    w.assign(w.target(kind), value, kind)


def accumulate(w: Writer) -> Any:
    """`s += …` of a number, which is another object afterwards."""
    names = [name for name in w.floats(()) if name not in w.frozen | w.captured | w.constants]
    if not names:
        return False
    operator = w.of(["+=", "+=", "-=", "*=", "/="])
    value = scalars.number(w)
    if operator == "/=":
        value = expression("2 + np.cos(A)", A=value)
    if operator == "*=" and w.loops:
        value = expression("np.cos(A)", A=value)
    w.emit(f"A {operator} B", A=w.of(names), B=value)
    return None


def swap(w: Writer) -> Any:
    pairs = [(a, b) for a in w.variables(is_floats) for b in w.variables(is_floats)
             if a < b and w.kind(a) == w.kind(b) and not {a, b} & (w.frozen | w.captured | w.constants)]
    if not pairs:
        return False
    a, b = w.of(pairs)
    if w.chance(30):
        w.emit("A, B = B, VALUE", A=a, B=b, VALUE=arrays.array(w, w.kind(a).shape, 1))
    else:
        w.emit("A, B = B, A", A=a, B=b)
    return None


def is_floats(kind: Any) -> bool:
    return isinstance(kind, Floats)


def unpack(w: Writer) -> Any:
    """Several names at once: from a tuple, or from an array."""
    vectors = w.arrays((1,), smallest=2)
    if vectors and w.chance(50):
        name = w.of(vectors)
        count = w.kind(name).shape[0]
        targets = [w.fresh("number") for _ in range(count)]
        for target in targets:
            w.bind(target, NUMBER)
        w.emit(f"{', '.join(targets)} = A", A=name)
        return None
    one, other = scalars.number(w), scalars.number(w, 1)
    first, second = w.fresh("number"), w.fresh("number")
    w.emit("A, B = C, D", A=first, B=second, C=one, D=other)
    w.bind(first, NUMBER)
    w.bind(second, NUMBER)
    return None


def chained(w: Writer) -> None:
    """One array under two names."""
    shape = some_shape(w)
    value = arrays.array(w, shape, 1)
    one, other = w.fresh_for(Floats(shape)), w.fresh_for(Floats(shape))
    w.emit("A = B = C", A=one, B=other, C=value)
    w.bind(one, Floats(shape))
    w.bind(other, Floats(shape))


def rebind(w: Writer) -> Any:
    """A name that means something of another shape from here on; only outside of blocks."""
    fixed = w.frozen | w.captured | w.constants
    names = [name for name in w.variables(is_floats) if name not in fixed and name in w.scopes[-1]]
    if len(w.blocks) > 1 or not names:
        return False
    name, kind = w.of(names), Floats(w.of([(), (2,), (3,)]))
    value = arrays.array(w, kind.shape)
    w.emit("NAME = VALUE", NAME=name, VALUE=value)
    w.bind(name, kind)
    return None


def constant(tree: ast.expr) -> bool:
    return isinstance(tree, ast.Constant)


STATEMENTS = [(5, "number", assign_number), (6, "array", assign_array), (4, "accumulate", accumulate),
              (1, "swap", swap), (1, "unpack", unpack), (1, "chained", chained), (1, "rebind", rebind)]
