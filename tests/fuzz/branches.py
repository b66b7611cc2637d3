"""Branches on data, and returns before the end."""

from __future__ import annotations

from typing import Any

from . import arrays, conditions
from .templates import expression
from .writer import Writer


def branch(w: Writer) -> None:
    test = conditions.condition(w)
    with w.nested() as then:
        w.block(2)
    if w.chance(40):
        w.emit("if TEST:\n    THEN", TEST=test, THEN=then)
        return
    with w.nested() as otherwise:
        if w.chance(25):
            branch(w)
        else:
            w.block(2)
    w.emit("if TEST:\n    THEN\nelse:\n    OTHERWISE", TEST=test, THEN=then, OTHERWISE=otherwise)


def both(w: Writer) -> None:
    """A name that each side binds in its own way."""
    shape = w.of([(), (), (3,), (2,)])
    test = conditions.condition(w)
    name = w.fresh_for(arrays.Floats(shape))
    sides = []
    for _ in range(2):
        with w.nested() as side:
            if w.chance(30):
                w.block(1)
            value = arrays.array(w, shape, 1)
            w.emit("NAME = VALUE", NAME=name, VALUE=value)
        sides.append(side)
    w.emit("if TEST:\n    THEN\nelse:\n    OTHERWISE", TEST=test, THEN=sides[0], OTHERWISE=sides[1])
    w.bind(name, arrays.Floats(shape))


def early_return(w: Writer) -> Any:
    if not w.results or w.tags["early return"] >= 2:
        return False
    test = conditions.condition(w)
    with w.nested() as body:
        if w.chance(30):
            w.block(1)
        w.emit("return VALUE", VALUE=arrays.array(w, w.results[-1].shape, 1))
    w.emit("if TEST:\n    BODY", TEST=test, BODY=body)
    return None


def test_only(w: Writer) -> None:
    w.emit("assert A < 1e9", A=expression("abs(B)", B=arrays.scalars.leaf(w)))


STATEMENTS = [(6, "if", branch), (2, "if both", both), (2, "early return", early_return)]
