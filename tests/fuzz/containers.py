"""Dictionaries and lists of arrays, arrays in objects."""

from __future__ import annotations

import ast
from typing import Any

from . import arrays, scalars
from .assignments import some_shape
from .kinds import Floats, Row, Table
from .templates import expression
from .writer import Writer


def make_table(w: Writer) -> None:
    kinds = [Floats(()), Floats(some_shape(w))]
    values: list[ast.expr] = [scalars.number(w, 1), arrays.array(w, kinds[1].shape, w.below(2))]
    name = w.fresh("other")
    keys: list[ast.expr | None] = [ast.Constant("a"), ast.Constant("b")]
    w.emit("NAME = VALUE", NAME=name, VALUE=ast.Dict(keys, values))
    w.bind(name, Table((("a", kinds[0]), ("b", kinds[1]))))


def make_row(w: Writer) -> None:
    item, count = Floats(w.of([(), some_shape(w)])), w.of([2, 3])
    values: list[ast.expr] = [arrays.array(w, item.shape, 1) for _ in range(count)]
    name = w.fresh("other")
    w.emit("NAME = VALUE", NAME=name, VALUE=ast.List(values, ast.Load()))
    w.bind(name, Row(count, item))


def change(w: Writer) -> Any:
    """An item is assigned, added to, or written in place."""
    names = w.variables(lambda kind: isinstance(kind, Row | Table))
    if not names:
        return False
    name = w.of(names)
    kind = w.kind(name)
    key, item = w.of(kind.entries) if isinstance(kind, Table) else (w.below(kind.count), kind.item)
    place = expression("A[K]", A=name, K=ast.Constant(key))
    value = arrays.array(w, item.shape, 1)
    templates = ["A = V", "A += V", "A *= np.cos(V)"] + ["A[0] = np.sum(V)", "A[1:] += V[:1]"] * (len(item.shape) == 1)
    w.emit(w.of(templates), A=place, V=value)
    return None


def swap_items(w: Writer) -> Any:
    rows = w.variables(lambda kind: isinstance(kind, Row))
    if not rows:
        return False
    row = w.of(rows)
    templates = ["A[0], A[1] = A[1], A[0]", "A.reverse()", *["A = A[1:] + A[:1]"] * (row not in w.captured)]
    w.emit(w.of(templates), A=row)
    return None


def change_in_place(w: Writer) -> Any:
    """`op=` on a list or dictionary, which has as many items afterwards as before."""
    names = [name for name in w.variables(lambda kind: isinstance(kind, Row | Table))
             if name not in w.captured and name != "params"]
    if not names:
        return False
    name = w.of(names)
    kind = w.kind(name)
    if isinstance(kind, Table):
        key, item = w.of(kind.entries)
        w.emit("A |= {K: V}", A=name, K=ast.Constant(key), V=arrays.array(w, item.shape, 1))
    elif w.chance(50):
        w.emit("A += [V]", A=name, V=arrays.array(w, kind.item.shape, 1))
        w.emit(w.of(["A.pop(0)", "del A[1]", "A[:2] = A[1:2]"]), A=name)
    else:
        w.emit("A *= 2", A=name)
        w.emit(w.of(["del A[::2]", "del A[N:]", "A[:N] = []"]), A=name, N=ast.Constant(kind.count))
    return None


def name_again(w: Writer) -> Any:
    """A second name for a list or dictionary."""
    names = w.variables(lambda kind: isinstance(kind, Row | Table))
    if not names:
        return False
    old = w.of(names)
    name = w.fresh("other")
    w.emit("A = B", A=name, B=old)
    w.bind(name, w.kind(old))
    return None


def take_item(w: Writer) -> Any:
    """A name for an item: an alias."""
    shape = some_shape(w)
    item = scalars.item_of(w, Floats(shape))
    if item is None:
        return False
    name = w.fresh_for(Floats(shape))
    w.emit("A = B", A=name, B=item)
    w.bind(name, Floats(shape))
    return None


STATEMENTS = [(2, "dict", make_table), (2, "list", make_row), (3, "item", change), (1, "exchange", swap_items),
              (1, "alias of item", take_item), (2, "container changed", change_in_place),
              (2, "alias of container", name_again)]
