"""Writes to arrays: by element, slice, mask, integer arrays; through views and aliases."""

from __future__ import annotations

import ast
from typing import Any

from . import arrays, conditions, scalars
from .integers import index
from .kinds import Floats, Integers, Shape
from .templates import expression
from .writer import Writer

SAFE = {"=": "A", "+=": "A", "-=": "A", "*=": "np.cos(A)", "/=": "2 + np.sin(A)"}
OPERATORS = ("=", "=", "+=", "+=", "-=", "*=", "/=")


def subject(w: Writer, ranks: tuple[int, ...] = (1, 2)) -> str | None:
    names = [name for name in w.arrays(ranks) if name not in w.constants]
    return w.of(names[:4] if w.chance(60) else names) if names else None


def write(w: Writer, place: ast.expr, value: ast.expr) -> None:
    operator = w.of(OPERATORS)
    w.emit(f"PLACE {operator} VALUE", PLACE=place, VALUE=expression(SAFE[operator], A=value))


def element(w: Writer) -> Any:
    name = subject(w)
    if name is None:
        return False
    shape = w.kind(name).shape
    value = scalars.number(w)
    if len(shape) == 1:
        place = expression("A[I]", A=name, I=index(w, shape[0]))
    else:
        template = "A[I][J]" if w.chance(15) else "A[I, J]"
        place = expression(template, A=name, I=index(w, shape[0]), J=index(w, shape[1]))
    write(w, place, value)
    return None


def region(w: Writer) -> Any:
    """A slice, a row, a column; the value may be taken from the array itself."""
    name = subject(w)
    if name is None:
        return False
    whole = w.kind(name).shape
    place, shape = some_region(w, name, whole)
    if w.chance(40):
        value: ast.expr | None = arrays.part(w, shape)
        if value is not None and w.chance(50):
            value = expression(w.of(["A * B", "np.sin(A) + B", "A - B"]), A=value, B=scalars.leaf(w))
    else:
        value = arrays.partner(w, shape, w.of([0, 1, 2]))
    write(w, place, value or arrays.leaf(w, shape))
    return None


def some_region(w: Writer, name: str, whole: Shape) -> tuple[ast.expr, Shape]:
    options = []
    sizes = range(1, max(whole) + 1)
    shapes: list[Shape] = [(n,) for n in sizes] if len(whole) == 1 else \
        [(n,) for n in sizes] + [(n, m) for n in sizes for m in sizes]
    for shape in shapes:
        options += [(way, shape) for way in arrays.ways(whole, shape) if "diag" not in way[0]]
    (template, rows, columns), shape = w.of(options)
    return expression(template, A=name, I=index(w, rows) if rows else 0, J=index(w, columns) if columns else 0), shape


def stencil(w: Writer) -> Any:
    """Overlapping slices of one array on both sides."""
    names = [name for name in w.arrays((1,), smallest=3) if name not in w.captured | w.constants]
    if not names:
        return False
    template = w.of(["A[1:] += A[:-1] * C", "A[1:] = A[:-1] + C", "A[:-1] -= C * A[1:]", "A[:] = A[::-1] * C",
                     "A[1:-1] += 0.2 * (A[2:] - 2 * A[1:-1] + A[:-2])", "A[::-1] += A * C", "A[1:] *= np.cos(A[:-1])",
                     "A += A[::-1]", "A[0], A[-1] = A[-1], C", "A[0], A[1] = A[1], A[0]", "A[:-1], A[-1] = A[1:], C"])
    w.emit(template, A=w.of(names), C=scalars.leaf(w))
    return None


def whole(w: Writer) -> Any:
    """`a += …` of an array, which every name and view of it sees."""
    name = subject(w)
    if name is None:
        return False
    operator = w.of(["+=", "+=", "-=", "*=", "/="])
    if name in w.captured:
        return False
    value = arrays.partner(w, w.kind(name).shape, w.of([0, 1, 1, 2]))
    w.emit(f"A {operator} B", A=name, B=expression(SAFE[operator], A=value))
    return None


def masked(w: Writer) -> Any:
    name = subject(w)
    if name is None:
        return False
    mask = conditions.mask(w, w.kind(name).shape)
    if w.chance(30):
        w.emit("M_ = MASK\nA[M_] += np.sin(A[M_])", M_=w.fresh("other"), A=name, MASK=mask)
    else:
        write(w, expression("A[MASK]", A=name, MASK=mask), scalars.number(w, 1))
    return None


def scattered(w: Writer) -> Any:
    """By integer arrays, where indices may repeat."""
    name = subject(w)
    if name is None:
        return False
    shape = w.kind(name).shape
    tables = w.variables(lambda kind: isinstance(kind, Integers) and kind.high < shape[0])
    if tables and w.chance(60):
        table = w.of(tables)
        indices: ast.expr = expression("A", A=table)
        count = w.kind(table).count
    else:
        count = w.of([2, 3])
        indices = arrays.index_list(w, count, shape[0])
    value = arrays.partner(w, (count, *shape[1:]), 1)
    if w.chance(50):
        w.emit(w.of(["np.add.at(A, I, V)", "np.subtract.at(A, I, V)"]), A=name, I=indices, V=value)
    else:
        write(w, expression("A[I]", A=name, I=indices), value)
    return None


def by_function(w: Writer) -> Any:
    name = subject(w)
    if name is None:
        return False
    shape = w.kind(name).shape
    template = w.of(["A.fill(C)", "np.copyto(A, V)", "np.add(A, V, out=A)", "np.sin(V, out=A)", "A[...] = V",
                     "np.multiply(V, C, out=A)", "A.sort()", "np.put(A, [0, -1], C)", "np.fill_diagonal(A, C)"])
    if "diagonal" in template and len(shape) < 2:
        return False
    w.emit(template, A=name, C=scalars.leaf(w), V=arrays.array(w, shape, 1))
    return None


def view(w: Writer) -> Any:
    """A name for a part of an array."""
    name = subject(w)
    if name is None:
        return False
    part, shape = some_region(w, name, w.kind(name).shape)
    if w.chance(35):
        part, shape = turned(w, name, w.kind(name).shape)
    new = w.fresh_for(Floats(shape))
    w.emit("A = B", A=new, B=part)
    w.bind(new, Floats(shape))
    return None


def turned(w: Writer, name: str, shape: Shape) -> tuple[ast.expr, Shape]:
    size = 1
    for number in shape:
        size *= number
    if len(shape) == 1:
        return expression(w.of(["A", "A[::-1]", "A[:]", "A.reshape(-1)"]), A=name), shape
    template, found = w.of([("A.T", shape[::-1]), ("A.reshape(-1)", (size,)), ("A.ravel()", (size,)), ("A", shape),
                            ("A[::-1]", shape), ("A.T[::-1]", shape[::-1])])
    return expression(template, A=name), found


def rows(w: Writer) -> Any:
    """A loop over the rows of a matrix that writes to them."""
    name = subject(w, (2,))
    if name is None:
        return False
    shape = w.kind(name).shape
    row = w.fresh("vector")
    with w.nested({row: Floats(shape[1:])}) as body:
        value = arrays.array(w, shape[1:], 1)
        template = w.of(["ROW[:] = VALUE", "ROW += VALUE", "ROW *= np.cos(VALUE)", "ROW[0] = np.sum(VALUE)"])
        w.emit(template, ROW=row, VALUE=value)
    w.emit(w.of(["for ROW in A:\n    BODY", "for ROW in A.T[:, :N].T:\n    BODY"]), ROW=row, A=name, BODY=body,
           N=shape[0])
    return None


STATEMENTS = [(5, "element", element), (5, "region", region), (3, "stencil", stencil), (4, "whole", whole),
              (2, "masked", masked), (2, "scattered", scattered), (1, "by function", by_function), (4, "view", view),
              (1, "rows", rows)]
