"""Integers within bounds: indices, and the bounds of loops."""

from __future__ import annotations

import ast

from .kinds import Floats, Integer, Integers
from .templates import expression
from .writer import Writer


def index(w: Writer, size: int) -> ast.expr:
    """An index into an axis of this size."""
    options = [fixed_index, fixed_index, known_index, known_index, known_index, wrapped_index, found_index]
    return w.of(options)(w, size)


def fixed_index(w: Writer, size: int) -> ast.expr:
    place = w.between(0, size - 1)
    if w.chance(30):
        return expression("-A", A=size - place)
    return expression("A", A=place)


def known_index(w: Writer, size: int) -> ast.expr:
    """A variable that fits, perhaps moved by one, or counted from the end."""
    names = w.variables(lambda kind: isinstance(kind, Integer))
    options = []
    for name in names[:4]:
        low, high = w.kind(name).low, w.kind(name).high
        if -size <= low and high < size:
            options += [expression("A", A=name)] * 3
        if 1 <= low and high <= size:
            options.append(expression("A - 1", A=name))
        if -1 <= low and high < size - 1:
            options.append(expression("A + 1", A=name))
        if 0 <= low and high < size:
            options.append(expression("N - 1 - A", A=name, N=w.size(size)))
            options.append(expression("-A - 1", A=name))
    return w.of(options) if options else wrapped_index(w, size)


def wrapped_index(w: Writer, size: int) -> ast.expr:
    names = w.variables(lambda kind: isinstance(kind, Integer))
    if not names:
        return fixed_index(w, size)
    template = w.of(["A % N", "(A + 1) % N", "(2 * A) % N", "A // 2 % N", "min(A, N - 1) % N"])
    return expression(template, A=w.of(names[:3]), N=w.size(size))


def found_index(w: Writer, size: int) -> ast.expr:
    """An index that depends on data, without being differentiable."""
    tables = w.variables(lambda kind: isinstance(kind, Integers) and kind.high < size)
    if tables and w.chance(60):
        table = w.of(tables)
        return expression("A[I]", A=table, I=fixed_or_known(w, w.kind(table).count))
    vectors = w.variables(lambda kind: isinstance(kind, Floats) and len(kind.shape) == 1 and kind.shape[0] <= size)
    if vectors:
        return expression(w.of(["np.argmax(A)", "int(np.argmin(A))"]), A=w.of(vectors))
    return fixed_index(w, size)


def fixed_or_known(w: Writer, size: int) -> ast.expr:
    return known_index(w, size) if w.chance(50) else fixed_index(w, size)


def stop(w: Writer, most: int = 4) -> tuple[ast.expr, int, int]:
    """A bound of a loop between 0 and `most`, with the least and the greatest it may be."""
    names = w.variables(lambda kind: isinstance(kind, Integer) and kind.low >= -1 and kind.high < most)
    arrays = [name for name in w.arrays() if w.kind(name).shape[0] <= most]
    choice = w.below(5)
    if choice <= 1 and names:
        name = w.of(names[:3])
        low, high = w.kind(name).low, w.kind(name).high
        if w.chance(40):
            return expression("A + 1", A=name), max(0, low + 1), high + 1
        return expression("A", A=name), max(0, low), high
    if choice <= 3 and arrays:
        name = w.of(arrays)
        size = w.kind(name).shape[0]
        return expression(w.of(["len(A)", "A.shape[0]"]), A=name), size, size
    if choice == 4 and w.arrays():
        name = w.of(w.arrays())
        count = min(most, w.kind(name).shape[0])
        return expression("int(np.sum(A > C))", A=expression("A[:N]", A=name, N=count) if len(w.kind(name).shape) == 1
                          else expression("A[:N, 0]", A=name, N=count), C=w.constant()), 0, count
    number = w.of([2, 3, 1, 3, 0, 4])
    return expression("A", A=number), number, number
