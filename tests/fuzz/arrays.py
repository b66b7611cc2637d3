"""Expressions that give a floating point array of a wanted shape."""

from __future__ import annotations

import ast
from collections.abc import Callable

from . import conditions, scalars
from .integers import index
from .kinds import NUMBER, Floats, Integers, Shape
from .templates import expression
from .writer import Writer

Drawn = ast.expr | None
SMOOTH = ("np.sin(A)", "np.cos(A)", "np.tanh(A)", "A * 0.5", "-A", "A ** 2", "1 / (1 + A * A)", "np.sqrt(1 + A * A)",
          "np.exp(-A * A)", "np.log(2 + A ** 2)", "A.copy()", "np.exp(0.3 * np.tanh(A))", "np.arctan(A)", "1 - A",
          "A * 1.0", "np.square(A)", "np.log1p(A * A)", "A / 3", "+A", "np.array(A)")
KINKED = ("np.abs(A)", "np.maximum(A, 0.1)", "np.clip(A, -0.8, 0.9)", "np.where(A > 0, A, 0.3 * A)",
          "np.minimum(A, 0.6)", "abs(A)")
PAIRS = ("A + B", "A - B", "A * B", "A * B", "A / (2 + B * B)", "A * np.cos(B)", "np.hypot(A, 1 + B ** 2)",
         "np.add(A, B)", "np.multiply(A, B)", "np.arctan2(A, 2 + B * B)")
KINKED_PAIRS = ("np.maximum(A, B)", "np.minimum(A, B)", "np.where(A > B, A, 2 * B)")
SAME_LENGTH = ("np.cumsum(A)", "A[::-1]", "np.roll(A, 1)", "np.flip(A)", "np.concatenate((A[1:], A[:1]))",
               "np.array([a_ * a_ for a_ in A])", "np.sort(A)", "np.append(A[1:], A[0])", "A[list(range(len(A)))]",
               "np.convolve(A, np.array([0.5, 0.25]))[:len(A)]", "np.diff(np.append(A, 0.0))", "np.cumprod(0.5 * A)",
               "np.pad(A[1:], (1, 0))", "np.repeat(A, 2)[::2]", "np.tile(A, 2)[:len(A)]", "A - A.mean()",
               "A / (1 + np.sum(A * A))", "np.exp(A - np.max(A))")


def array(w: Writer, shape: Shape, depth: int = 2) -> ast.expr:
    if not shape:
        return scalars.number(w, depth)
    if depth <= 0 or not w.chance(88):
        return leaf(w, shape)
    options: list[tuple[int, str, Callable[[Writer, Shape, int], Drawn]]] = [
        (6, "smooth", smooth), (7, "pair", pair), (2, "kinked", kinked), (2, "rearranged", rearranged),
        (2, "part", part), (2, "built", built), (2, "product", product), (2, "reduced", reduced),
        (1, "gathered", gathered), (1, "selected", selected), (2, "called", called), (1, "choice", choice)]
    return w.weighted(options)[1](w, shape, depth) or leaf(w, shape)


def leaf(w: Writer, shape: Shape) -> ast.expr:
    if not shape:
        return scalars.leaf(w)
    names = w.floats(shape)
    if names and not w.chance(8):
        return expression("A", A=w.of(names[:3] if w.chance(50) else names))
    options: list[Callable[[Writer, Shape], Drawn]] = [part, constant, item, filled, part, reshaped, counted]
    return w.of(options)(w, shape) or constant(w, shape)


def counted(w: Writer, shape: Shape) -> Drawn:
    """From an array of integers."""
    tables = w.variables(lambda kind: isinstance(kind, Integers) and (kind.count,) == shape)
    return expression(w.of(["0.5 * A", "A / 2", "A * 1.0", "np.sin(A)"]), A=w.of(tables)) if tables else None


def item(w: Writer, shape: Shape) -> Drawn:
    return scalars.item_of(w, Floats(shape))


def constant(w: Writer, shape: Shape) -> ast.expr:
    template = w.of(["np.ones(N)", "np.zeros(N)", "np.full(N, C)", "np.arange(SIZE).reshape(N) * 0.3"])
    if len(shape) == 1 and w.chance(50):
        template = w.of(["0.5 * np.arange(N)", "np.linspace(-0.7, 0.9, N)", "0.3 * np.arange(1.0, N + 1)"])
    size = 1
    for number in shape:
        size *= number
    return expression(template, N=w.shape(shape), C=w.constant(), SIZE=size)


def filled(w: Writer, shape: Shape) -> ast.expr:
    return expression(w.of(["np.full(N, A)", "A * np.ones(N)", "np.zeros(N) + A"]), N=w.shape(shape),
                      A=scalars.variable(w))


def smooth(w: Writer, shape: Shape, depth: int) -> Drawn:
    return expression(w.of(SMOOTH), A=array(w, shape, depth - 1))


def kinked(w: Writer, shape: Shape, depth: int) -> Drawn:
    if w.chance(50):
        return expression(w.of(KINKED_PAIRS), A=array(w, shape, depth - 1), B=partner(w, shape, 0))
    return expression(w.of(KINKED), A=array(w, shape, depth - 1))


def pair(w: Writer, shape: Shape, depth: int) -> Drawn:
    one, other = array(w, shape, depth - 1), partner(w, shape, depth - 1)
    return expression(w.of(PAIRS), A=one, B=other) if w.chance(60) else expression(w.of(PAIRS), A=other, B=one)


def partner(w: Writer, shape: Shape, depth: int) -> ast.expr:
    """Something that broadcasts against the shape."""
    options: list[Shape] = [shape, shape, ()]
    if len(shape) == 2:
        options += [shape[1:], (1, shape[1]), (shape[0], 1)]
    chosen = w.of(options)
    if len(shape) == 2 and chosen == (shape[0], 1) and w.chance(50):
        return expression(w.of(["A[:, None]", "A[:, np.newaxis]", "np.expand_dims(A, 1)"]),
                          A=array(w, shape[:1], depth))
    return array(w, chosen, depth)


def rearranged(w: Writer, shape: Shape, depth: int) -> Drawn:
    if len(shape) == 1:
        return expression(w.of(SAME_LENGTH), A=array(w, shape, depth - 1))
    turned, same = shape[::-1], shape
    template, of = w.of([
        ("A.T", turned), ("np.transpose(A)", turned), ("A[::-1]", same), ("A[:, ::-1]", same),
        ("np.cumsum(A, axis=0)", same), ("np.cumsum(A, axis=1)", same), ("np.flip(A, 1)", same),
        ("A - A.mean(axis=0)", same), ("A / (1 + np.sum(A * A, axis=1, keepdims=True))", same),
        ("np.roll(A, 1, axis=0)", same), ("np.sort(A, axis=0)", same), ("np.swapaxes(A, 0, 1)", turned)])
    return expression(template, A=array(w, of, depth - 1))


def reshaped(w: Writer, shape: Shape) -> Drawn:
    size = shape[0] * (shape[1] if len(shape) > 1 else 1)
    names = [name for name in w.arrays() if w.kind(name).shape != shape and _product(w.kind(name).shape) == size]
    if not names:
        return None
    if len(shape) == 1 and w.chance(60):
        return expression(w.of(["A.ravel()", "A.reshape(-1)", "A.flatten()"]), A=w.of(names))
    return expression("A.reshape(N)", A=w.of(names), N=w.shape(shape))


def _product(shape: Shape) -> int:
    return shape[0] * (shape[1] if len(shape) > 1 else 1)


def part(w: Writer, shape: Shape, depth: int = 0) -> Drawn:
    """A slice of a longer array, a row or a column of a matrix: a view."""
    options = [(name, way) for name in w.arrays() for way in ways(w.kind(name).shape, shape)]
    if not options:
        return None
    name, (template, rows, columns) = w.of(options)
    return expression(template, A=name, I=index(w, rows) if rows else 0, J=index(w, columns) if columns else 0)


def ways(whole: Shape, shape: Shape) -> list[tuple[str, int, int]]:
    """How a part of this shape is taken from a whole: template, and sizes of what I and J index."""
    if len(whole) == 1 and len(shape) == 1:
        return [(f"A[{s}]", 0, 0) for s in slices(whole[0], shape[0])]
    if len(whole) == 2 and len(shape) == 1:
        found = [("A[I]", whole[0], 0)] if whole[1] == shape[0] else []
        found += [("A[:, J]", 0, whole[1])] if whole[0] == shape[0] else []
        found += [(f"A[I, {s}]", whole[0], 0) for s in slices(whole[1], shape[0])]
        return found + ([("np.diag(A)", 0, 0)] if min(whole) == shape[0] else [])
    if len(whole) == 2 and len(shape) == 2:
        return [(f"A[{r}, {c}]", 0, 0) for r in (*slices(whole[0], shape[0]), *[":"] * (whole[0] == shape[0]))
                for c in (*slices(whole[1], shape[1]), *[":"] * (whole[1] == shape[1])) if (r, c) != (":", ":")]
    if len(whole) == 1 and len(shape) == 2 and 1 in shape and _product(shape) == whole[0]:
        return [("A[:, None]" if shape[1] == 1 else "A[None, :]", 0, 0)]
    return []


def slices(size: int, wanted: int) -> list[str]:
    """Slices of an axis that have the wanted length."""
    every = ("1:", ":-1", "::2", "1:-1", "::-1", ":2", "-2:", "1::2", ":1", "-2::-1", "2:", "::-2", "1:3")
    return [s for s in every if len(range(size)[_slice(s)]) == wanted]


def _slice(text: str) -> slice:
    return slice(*(int(bound) if bound else None for bound in text.split(":")))


def built(w: Writer, shape: Shape, depth: int) -> Drawn:
    """An array made of numbers or of rows."""
    if w.chance(35):
        return by_comprehension(w, shape)
    if len(shape) == 1 and shape[0] <= 3:
        items: list[ast.expr] = [scalars.number(w, depth - 1) for _ in range(shape[0])]
        return expression("np.array(A)", A=ast.List(items, ast.Load()))
    if len(shape) == 2 and shape[0] <= 3:
        rows: list[ast.expr] = [array(w, shape[1:], depth - 2) for _ in range(shape[0])]
        template = w.of(["np.stack(A)", "np.array(A)", "np.vstack(A)"])
        return expression(template, A=ast.List(rows, ast.Load()))
    if len(shape) == 1 and shape[0] > 1:
        cut = w.between(1, shape[0] - 1)
        pieces: list[ast.expr] = [array(w, (cut,), depth - 1), array(w, (shape[0] - cut,), depth - 1)]
        return expression(w.of(["np.concatenate(A)", "np.hstack(A)"]), A=ast.Tuple(pieces, ast.Load()))
    return None


def by_comprehension(w: Writer, shape: Shape) -> Drawn:
    names = [name for name in w.arrays((1, 2)) if w.kind(name).shape[0] == shape[0]]
    if not names:
        return None
    source = w.of(names)
    inner = Floats(w.kind(source).shape[1:])
    variable = w.fresh_for(inner)
    with w.nested({variable: inner}):
        body = array(w, shape[1:], 1)
    return expression("np.array([BODY_ for ITEM in A])", BODY_=body, ITEM=variable, A=source)


def product(w: Writer, shape: Shape, depth: int) -> Drawn:
    inner = w.of([2, 3])
    if len(shape) == 1:
        if w.chance(50):
            return expression(w.of(["A @ B", "np.dot(A, B)", "np.matmul(A, B)"]),
                              A=leaf(w, (shape[0], inner)), B=array(w, (inner,), depth - 1))
        return expression("A @ B", A=array(w, (inner,), depth - 1), B=leaf(w, (inner, shape[0])))
    if w.chance(40):
        return expression("np.outer(A, B)", A=array(w, shape[:1], depth - 1), B=leaf(w, shape[1:]))
    return expression(w.of(["A @ B", "np.einsum('ij,jk->ik', A, B)"]), A=array(w, (shape[0], inner), depth - 1),
                      B=leaf(w, (inner, shape[1])))


def reduced(w: Writer, shape: Shape, depth: int) -> Drawn:
    other = w.of([2, 3])
    if len(shape) == 1:
        axis = w.below(2)
        whole = (other, shape[0]) if axis == 0 else (shape[0], other)
        template = w.of(["np.sum(A, axis=K)", "A.mean(axis=K)", "np.max(A, axis=K)", "np.prod(A, K)", "A.min(axis=K)",
                         "np.linalg.norm(A, axis=K)", "np.var(A, axis=K)"])
        return expression(template, A=array(w, whole, depth - 1), K=axis)
    if 1 not in shape:
        return None
    axis = shape.index(1)
    whole = (other, shape[1]) if axis == 0 else (shape[0], other)
    call = w.of(["np.sum(A, axis=K, keepdims=True)", "A.mean(axis=K, keepdims=True)", "A.max(axis=K, keepdims=True)"])
    return expression(call, A=array(w, whole, depth - 1), K=axis)


def gathered(w: Writer, shape: Shape, depth: int) -> Drawn:
    """By an array of indices, which may repeat."""
    if len(shape) != 1:
        return None
    tables = [name for name in w.variables(lambda kind: isinstance(kind, Integers))
              if w.kind(name).count == shape[0]]
    sources = [name for name in w.arrays((1,))]
    if tables and sources:
        table = w.of(tables)
        fitting = [name for name in sources if w.kind(name).shape[0] > w.kind(table).high]
        if fitting:
            return expression(w.of(["A[I]", "np.take(A, I)"]), A=w.of(fitting), I=table)
    source = array(w, (3,), depth - 1)
    return expression("A[I]", A=source, I=index_list(w, shape[0], 3))


def index_list(w: Writer, count: int, size: int) -> ast.expr:
    items: list[ast.expr] = [ast.Constant(w.below(size)) for _ in range(count)]
    listed = ast.List(items, ast.Load())
    return expression("np.array(A)", A=listed) if w.chance(30) else listed


def selected(w: Writer, shape: Shape, depth: int) -> Drawn:
    return expression("np.where(C, A, B)", C=conditions.mask(w, shape), A=array(w, shape, depth - 1),
                      B=partner(w, shape, 0))


def called(w: Writer, shape: Shape, depth: int) -> Drawn:
    return scalars.call_of(w, Floats(shape), depth)


def choice(w: Writer, shape: Shape, depth: int) -> Drawn:
    return expression("A if C else B", A=array(w, shape, depth - 1), B=leaf(w, shape), C=conditions.condition(w, 0))


__all__ = ["NUMBER", "array", "index_list", "leaf", "part", "slices", "ways"]
