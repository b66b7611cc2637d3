"""Loops: over ranges, arrays, several at once; with conditions, break, continue, else."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from . import arrays, conditions, scalars
from .integers import stop
from .kinds import NUMBER, Floats, Integer, Kind, Row
from .templates import expression
from .writer import Writer


def bounds(w: Writer) -> tuple[ast.expr, Integer]:
    """The iterable of a loop over a range, and what its variable may be."""
    bound, low, high = stop(w)
    kind = w.below(6)
    if kind <= 2:
        return expression("range(B)", B=bound), Integer(0, max(high - 1, 0))
    if kind == 3:
        return expression("range(1, B)", B=bound), Integer(1, max(high - 1, 1))
    if kind == 4:
        return expression("range(B - 1, -1, -1)", B=bound), Integer(0, max(high - 1, 0))
    return expression(w.of(["range(0, B, 2)", "reversed(range(B))"]), B=bound), Integer(0, max(high - 1, 0))


def body_of(w: Writer, names: dict[str, Kind], most: int = 3, leaves: bool = True) -> list[ast.stmt]:
    """The body of a loop, in which its variables are known."""
    w.loops += 1
    w.frozen |= set(names)
    with w.nested(names) as body:
        if leaves and w.chance(15):
            leave(w)
        w.block(most)
        if leaves and w.chance(15):
            leave(w)
            w.block(1)
    w.loops -= 1
    return body


def leave(w: Writer) -> None:
    test = conditions.condition(w)
    with w.nested() as body:
        if w.chance(30):
            w.block(1)
        if w.results and w.chance(20):
            w.tags["return in a loop"] += 1
            w.emit("return VALUE", VALUE=arrays.array(w, w.results[-1].shape, 1))
        else:
            word = w.of(["break", "continue"])
            w.tags[word] += 1
            w.emit(word)
    w.emit("if TEST:\n    BODY", TEST=test, BODY=body)


def finish(w: Writer, template: str, body: list[ast.stmt], **parts: Any) -> None:
    if w.chance(10):
        with w.nested() as otherwise:
            w.block(1)
        w.tags["else of a loop"] += 1
        template += "\nelse:\n    OTHERWISE"
        parts["OTHERWISE"] = otherwise
    w.emit(template, BODY=body, **parts)


def over_range(w: Writer) -> None:
    iterable, kind = bounds(w)
    name = w.fresh("integer")
    body = body_of(w, {name: kind})
    finish(w, "for I in RANGE:\n    BODY", body, I=name, RANGE=iterable)


def over_array(w: Writer) -> Any:
    names = w.arrays()
    if not names:
        return False
    source = w.of(names)
    item = Floats(w.kind(source).shape[1:])
    name = w.fresh_for(item)
    if w.chance(40):
        position = w.fresh("integer")
        body = body_of(w, {name: item, position: Integer(0, w.kind(source).shape[0] - 1)})
        finish(w, "for I, V in enumerate(A):\n    BODY", body, I=position, V=name, A=source)
    else:
        body = body_of(w, {name: item})
        finish(w, w.of(["for V in A:\n    BODY", "for V in A[::-1]:\n    BODY", "for V in reversed(A):\n    BODY"]),
               body, V=name, A=source)
    return None


def over_both(w: Writer) -> Any:
    names = w.arrays()
    if not names:
        return False
    one, other = w.of(names), w.of(names)
    kinds = [Floats(w.kind(name).shape[1:]) for name in (one, other)]
    first, second = (w.fresh_for(kind) for kind in kinds)
    body = body_of(w, {first: kinds[0], second: kinds[1]})
    template = w.of(["for V, W in zip(A, B):\n    BODY", "for V, W in zip(A[1:], B):\n    BODY"])
    finish(w, template, body, V=first, W=second, A=one, B=other)
    return None


def over_items(w: Writer) -> Any:
    """Over a list, which is known while the function is read."""
    rows = w.variables(lambda kind: isinstance(kind, Row))
    if rows:
        row = w.of(rows)
        item = w.kind(row).item
        name = w.fresh_for(item)
        body = body_of(w, {name: item}, most=2)
        finish(w, "for V in A:\n    BODY", body, V=name, A=row)
        return None
    name = w.fresh("number")
    body = body_of(w, {name: NUMBER}, most=2)
    finish(w, "for V in (A, B):\n    BODY", body, V=name, A=scalars.leaf(w), B=scalars.leaf(w))
    return None


def while_counted(w: Writer) -> None:
    """A loop that ends by a count at last, and perhaps by data before."""
    name = w.fresh("integer")
    w.emit("NAME = 0", NAME=name)
    w.bind(name, Integer(0, 3), frozen=True)
    test = expression(w.of(["A < N", "A < N and C"]), A=name, N=w.of([2, 3, 1]), C=conditions.condition(w, 0))
    body = body_of(w, {}, leaves=False)
    w.emit("while TEST:\n    BODY\n    NAME += 1", TEST=test, BODY=body, NAME=name)
    w.bind(name, Integer(0, 3), frozen=True)


def while_true(w: Writer) -> None:
    name = w.fresh("integer")
    w.emit("NAME = 0", NAME=name)
    w.bind(name, Integer(0, 4), frozen=True)
    first, second = body_of(w, {}, most=2, leaves=False), body_of(w, {}, most=1, leaves=False)
    w.emit("while True:\n    NAME += 1\n    FIRST\n    if NAME >= N or TEST:\n        break\n    SECOND", NAME=name,
           FIRST=first, SECOND=second, N=w.of([2, 3]), TEST=conditions.condition(w, 0))


def while_converging(w: Writer) -> None:
    name = w.fresh("number")
    w.emit("NAME = VALUE", NAME=name, VALUE=scalars.number(w, 1))
    w.bind(name, NUMBER, frozen=True)
    body = body_of(w, {}, most=2, leaves=False)
    w.emit("while abs(NAME) > LEAST:\n    BODY\n    NAME = FACTOR * NAME", NAME=name, BODY=body, LEAST=w.of([0.5, 0.2]),
           FACTOR=expression(w.of(["0.4", "0.3 * np.cos(A)", "0.4 / (1 + A * A)"]), A=scalars.leaf(w)))


def appending(w: Writer) -> Any:
    """A list that a loop fills, made an array of or summed up."""
    iterable, kind = bounds(w)
    names, position = w.fresh("other"), w.fresh("integer")
    w.emit("NAME = []", NAME=names)
    body = body_of(w, {position: kind}, most=2, leaves=False)
    with w.nested({position: kind}) as last:
        w.emit("NAME.append(VALUE)", NAME=names, VALUE=scalars.number(w))
    w.emit("for I in RANGE:\n    BODY\n    LAST", I=position, RANGE=iterable, BODY=body, LAST=last)
    total = w.fresh("number")
    template = w.of(["T = sum(NAME)", "T = np.sum(np.array(NAME) ** 2)", "T = np.sum(np.array(NAME))"])
    w.emit(template, T=total, NAME=names)
    w.bind(total, NUMBER)
    return None


Production = Callable[[Writer], Any]
STATEMENTS: list[tuple[int, str, Production]] = [
    (6, "for range", over_range), (3, "for array", over_array), (1, "for zip", over_both), (1, "for items", over_items),
    (2, "while", while_counted), (1, "while true", while_true), (1, "while converging", while_converging),
    (1, "append", appending)]
