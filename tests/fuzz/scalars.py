"""Expressions that give a floating point number."""

from __future__ import annotations

import ast
from collections.abc import Callable

from . import arrays, conditions
from .integers import fixed_index, index
from .kinds import NUMBER, Floats, Integer, Routine, Row, Table
from .templates import expression
from .writer import Writer

SMOOTH = ("np.sin(A)", "np.cos(A)", "np.tanh(A)", "np.arctan(A)", "A * 0.5", "-A", "A ** 2", "1 / (1 + A * A)",
          "np.sqrt(1 + A * A)", "np.exp(-A * A)", "np.log(2 + A * A)", "math.sin(A)", "math.cos(A)", "A ** 3 / 4",
          "math.exp(-A ** 2)", "np.exp(0.3 * np.tanh(A))", "2 - A", "math.sqrt(A * A + 0.5)", "np.square(A)",
          "float(A)", "np.log1p(A * A)", "math.tanh(A)", "A / 3", "np.float64(A)")
KINKED = ("abs(A)", "np.abs(A)", "np.maximum(A, 0.1)", "max(A, -0.2)", "min(A, 0.7)", "np.clip(A, -0.8, 0.9)",
          "np.where(A > 0, A, 0.3 * A)", "np.minimum(A, 1)", "math.fabs(A)")
PAIRS = ("A + B", "A - B", "A * B", "A * B", "A / (2 + B * B)", "np.arctan2(A, 1 + B * B)", "np.hypot(A, 1 + B ** 2)",
         "A * np.cos(B)", "(2 + np.sin(A)) ** B", "np.logaddexp(A, B)")
KINKED_PAIRS = ("max(A, B)", "min(A, B)", "np.maximum(A, B)", "np.minimum(A, B)")
REDUCTIONS = ("np.sum(A)", "A.sum()", "np.mean(A)", "np.max(A)", "A.min()", "np.prod(A)", "np.sum(A * A)",
              "np.var(A)", "np.sqrt(1 + np.sum(A ** 2))", "A.mean()", "sum(A.ravel())", "np.einsum('i->', A.ravel())")
VECTOR_REDUCTIONS = ("A @ A", "np.dot(A, np.sin(A))", "A[-1]", "sum(A)", "max(A)", "np.linalg.norm(A)",
                     "sum(a_ * a_ for a_ in A)", "np.cumsum(A)[-1]", "np.inner(A, A)")


def number(w: Writer, depth: int = 2) -> ast.expr:
    if depth <= 0 or not w.chance(85):
        return leaf(w)
    options: list[tuple[int, str, Callable[[Writer, int], ast.expr]]] = [
        (6, "smooth", smooth), (6, "pair", pair), (2, "kinked", kinked), (4, "reduction", reduction),
        (1, "choice", choice), (3, "call", called), (1, "comprehension", comprehension)]
    return w.weighted(options)[1](w, depth)


def leaf(w: Writer, depth: int = 0) -> ast.expr:
    options: list[tuple[int, str, Callable[[Writer], ast.expr]]] = [
        (7, "variable", variable), (1, "constant", Writer.constant), (4, "element", element), (1, "counter", counter),
        (1, "entry", entry)]
    return w.weighted(options)[1](w)


def variable(w: Writer) -> ast.expr:
    names = w.floats(())
    if not names:
        return element(w)
    return expression("A", A=w.of(names[:3] if w.chance(60) else names))


def element(w: Writer) -> ast.expr:
    names = w.arrays()
    if not names:
        return variable(w) if w.floats(()) else w.constant()
    name = w.of(names)
    shape = w.kind(name).shape
    if len(shape) == 1:
        return expression("A[I]", A=name, I=index(w, shape[0]))
    template = "A[I][J]" if w.chance(15) else "A[I, J]"
    return expression(template, A=name, I=index(w, shape[0]), J=index(w, shape[1]))


def counter(w: Writer) -> ast.expr:
    names = w.variables(lambda kind: isinstance(kind, Integer))
    if not names:
        return w.constant()
    return expression(w.of(["0.3 * A", "A", "(A + 1) / 4", "float(A)", "1 / (A * A + 1)"]), A=w.of(names[:4]))


def entry(w: Writer) -> ast.expr:
    """An item of a dictionary or a list."""
    return item_of(w, NUMBER) or variable(w)


def item_of(w: Writer, kind: Floats) -> ast.expr | None:
    tables = w.variables(lambda k: isinstance(k, Table) and any(item == kind for _, item in k.entries))
    if tables and w.chance(60):
        table = w.of(tables)
        key = w.of([key for key, item in w.kind(table).entries if item == kind])
        return expression("A[K]", A=table, K=ast.Constant(key))
    rows = w.variables(lambda k: isinstance(k, Row) and k.item == kind)
    if rows:
        row = w.of(rows)
        return expression("A[I]", A=row, I=fixed_index(w, w.kind(row).count))
    return None


def smooth(w: Writer, depth: int) -> ast.expr:
    return expression(w.of(SMOOTH), A=number(w, depth - 1))


def kinked(w: Writer, depth: int) -> ast.expr:
    if w.chance(40):
        return expression(w.of(KINKED_PAIRS), A=number(w, depth - 1), B=leaf(w))
    return expression(w.of(KINKED), A=number(w, depth - 1))


def pair(w: Writer, depth: int) -> ast.expr:
    return expression(w.of(PAIRS), A=number(w, depth - 1), B=number(w, depth - 1))


def reduction(w: Writer, depth: int) -> ast.expr:
    vectors = w.arrays((1,))
    if vectors and w.chance(60):
        name = w.of(vectors)
        shape = w.kind(name).shape
        if w.chance(40):
            return expression("A @ B", A=arrays.array(w, shape, depth - 1), B=arrays.leaf(w, shape))
        return expression(w.of(VECTOR_REDUCTIONS), A=arrays.array(w, shape, depth - 2) if w.chance(30) else
                          expression("A", A=name))
    names = w.arrays()
    if not names:
        return smooth(w, depth)
    return expression(w.of(REDUCTIONS), A=arrays.array(w, w.kind(w.of(names)).shape, depth - 1))


def choice(w: Writer, depth: int) -> ast.expr:
    return expression("A if C else B", A=number(w, depth - 1), B=leaf(w), C=conditions.condition(w, 0))


def called(w: Writer, depth: int, result: Floats = NUMBER) -> ast.expr:
    return call_of(w, result, depth) or (smooth(w, depth) if result == NUMBER else arrays.leaf(w, result.shape))


def call_of(w: Writer, result: Floats, depth: int) -> ast.expr | None:
    """A call of a function of the program, if there is one with this result."""
    routines = w.variables(lambda kind: isinstance(kind, Routine) and kind.result == result)
    if not routines:
        return None
    name = w.of(routines)
    arguments = [argument(w, kind, depth - 1) for kind in w.kind(name).parameters]
    return ast.Call(ast.Name(name, ast.Load()), arguments, [])


def argument(w: Writer, kind: object, depth: int) -> ast.expr:
    if isinstance(kind, Integer):
        return expression("A", A=w.between(kind.low, kind.high))
    assert isinstance(kind, Floats)
    return arrays.array(w, kind.shape, min(depth, 1)) if kind.shape else number(w, min(depth, 1))


def comprehension(w: Writer, depth: int) -> ast.expr:
    names = w.arrays((1,))
    if not names:
        return smooth(w, depth)
    item = w.fresh("number")
    with w.nested({item: NUMBER}):
        body = number(w, 1)
    template = w.of(["sum([BODY_ for ITEM in A])", "sum(BODY_ for ITEM in A)", "max([BODY_ for ITEM in A])"])
    return expression(template, BODY_=body, ITEM=item, A=w.of(names))
