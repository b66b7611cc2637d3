"""Conditions on data, and masks."""

from __future__ import annotations

import ast

from . import arrays, scalars
from .kinds import Floats, Integer, Shape
from .templates import expression
from .writer import Writer


def condition(w: Writer, depth: int = 1) -> ast.expr:
    options = [(6, "compare", compare), (3, "integer", integer_test), (2, "whole", whole)]
    if depth:
        options += [(2, "joined", joined), (1, "chained", chained)]
    return w.weighted(options)[1](w)


def compare(w: Writer) -> ast.expr:
    right = w.constant() if w.chance(60) else scalars.leaf(w)
    return expression(w.of(["A > B", "A < B", "A >= B"]), A=scalars.number(w, 1), B=right)


def integer_test(w: Writer) -> ast.expr:
    names = w.variables(lambda kind: isinstance(kind, Integer))
    if not names:
        return compare(w)
    return expression(w.of(["A > 0", "A % 2 == 0", "A == 1", "A != 1", "A % 3 < 2", "A"]), A=w.of(names[:4]))


def whole(w: Writer) -> ast.expr:
    names = w.arrays()
    if not names:
        return compare(w)
    template = w.of(["np.any(A > C)", "np.all(A > C)", "np.sum(A) > C", "(A > C).any()", "np.max(A) < C"])
    return expression(template, A=w.of(names), C=w.constant())


def joined(w: Writer) -> ast.expr:
    template = w.of(["A and B", "A or B", "not A"])
    return expression(template, A=condition(w, 0), B=condition(w, 0))


def chained(w: Writer) -> ast.expr:
    return expression("-B < A < C", A=scalars.leaf(w), B=w.of([1, 0.5, 0.25]), C=w.of([2, 1, 0.5]))


def mask(w: Writer, shape: Shape) -> ast.expr:
    """An array of truth values; it selects something else at each point."""
    subject = arrays.leaf(w, shape)
    other = w.constant() if w.chance(70) else arrays.leaf(w, shape)
    template = w.of(["A > B", "A > B", "A < B", "~(A > B)", "(A > B) & (A < 2)", "np.abs(A) > B", "np.sin(A) > 0"])
    return expression(template, A=subject, B=other)


def is_floats(kind: object) -> bool:
    return isinstance(kind, Floats)
