"""Expressions of integers of several widths, truth values and floats, beside numbers of Python's.

Of a variable the shape is known and the kind of its dtype, as NumPy has it: "b", "i" (with a sign or without) or "f".
How wide it is, NumPy says when the program runs.
"""

from __future__ import annotations

import ast

from .kinds import Typed
from .templates import expression
from .writer import Writer

WIDTHS = {"b": ("np.bool_",), "f": ("np.float32", "np.float64"),
          "i": ("np.int8", "np.uint8", "np.int16", "np.uint16", "np.int32", "np.uint32", "np.int64", "np.uint64")}
NUMBERS = {"b": ("True", "False"), "f": ("0.5", "-1.5", "2.0", "np.float32(0.3)", "np.float64(1.5)"),
           "i": ("1", "2", "3", "-1", "7", "0", "100", "200", "300", "np.int8(3)", "np.uint8(200)", "np.int64(5)",
                 "np.uint32(9)", "True")}
SAME: dict[str, tuple[str, ...]] = {
    "i": ("-A", "~A", "abs(A)", "A ** 2", "np.sign(A)", "np.square(A)", "A * 2", "A + 1", "A - 1", "1 - A", "A // 2",
          "A % 3", "A >> 1", "A << 2", "A & 15", "A | 1", "A ^ 5", "np.clip(A, -3, 100)", "np.clip(A, None, 200)",
          "np.clip(A, -1, None)", "A.astype(W)", "A.astype(W)", "+A", "np.negative(A)", "np.add(A, 1)",
          "np.maximum(A, 2)", "A * True", "np.where(A > 2, A, 0)", "np.where(A > 1, 3, A)", "A.copy()",
          "np.full_like(A, 3)", "np.invert(A)"),
    "b": ("~A", "np.logical_not(A)", "A & True", "A | False", "A ^ True", "A == False", "A.copy()"),
    "f": ("-A", "A * 0.5", "A + 1", "2 - A", "np.sin(A)", "np.sqrt(np.abs(A))", "np.floor(A)", "A / 3", "A ** 2",
          "np.maximum(A, 0)", "np.clip(A, -1, 2)", "A.astype(np.float32)", "A * True", "np.tanh(A)", "A.copy()",
          "np.where(A > 0, A, 1)", "np.where(A > 0, 0.5, A)", "np.rint(A)", "A // 1")}
PAIRS: dict[str, tuple[str, ...]] = {
    "i": ("A + B", "A - B", "A * B", "A // B", "A % B", "A & B", "A | B", "A ^ B", "np.maximum(A, B)", "A - B",
          "np.minimum(A, B)", "A << (B & 3)", "A >> (B & 3)", "np.add(A, B)", "np.where(A > B, A, B)", "A + -B",
          "np.subtract(A, B)", "np.gcd(A, B)", "np.floor_divide(A, B)", "A - -B", "-A * B"),
    "b": ("A & B", "A | B", "A ^ B", "A == B", "np.logical_and(A, B)", "A != B", "A > B", "A + B", "A * B",
          "np.maximum(A, B)"),
    "f": ("A + B", "A - B", "A * B", "A / (1 + B * B)", "np.maximum(A, B)", "np.hypot(A, B)", "np.where(A > B, A, B)",
          "A + -B", "A - -B * A")}
ALONG: dict[str, tuple[str, ...]] = {
    "i": ("A[::-1]", "np.cumsum(A)", "np.sort(A)", "np.roll(A, 1)", "np.concatenate((A[1:], A[:1]))", "np.argsort(A)",
          "np.append(A[1:], 2)", "np.array([v_ + 1 for v_ in A])", "np.diff(np.append(A, A[0]))", "np.cumprod(A)",
          "np.concatenate((A[1:], 5), axis=None)", "np.array([int(v_) for v_ in A])", "np.arange(len(A)) + A"),
    "b": ("A[::-1]", "np.roll(A, 1)", "np.concatenate((A[1:], A[:1]))", "np.array([not v_ for v_ in A])"),
    "f": ("A[::-1]", "np.cumsum(A)", "np.sort(A)", "np.append(A[1:], 2)", "np.array([v_ * 2 for v_ in A])",
          "A - np.mean(A)", "np.array([float(v_) for v_ in A])", "np.concatenate((A[1:], 0.5), axis=None)")}
OF_OTHERS = {("b", "i"): ("A > 2", "A == 3", "A % 2 == 0", "A != 0", "A <= B", "A > B", "A >= 200", "A < -1"),
             ("b", "f"): ("A > 0.5", "A <= B", "np.isfinite(A)", "A == 1"),
             ("i", "b"): ("A.astype(W)", "A + 1", "A * 3", "A ** 2", "np.where(A, 3, 1)", "A + A.astype(np.int8)"),
             ("i", "f"): ("np.floor(np.clip(np.abs(A), 0, 100)).astype(W)",
                          "np.rint(np.clip(np.abs(A), 0, 9)).astype(int)"),
             ("f", "i"): ("A * 0.5", "A / 2", "A / B", "A.astype(np.float32)", "A + 0.5", "np.sqrt(np.abs(A) + 0.5)",
                          "np.abs(A) ** 0.5 * 1.0", "np.float32(0.5) * A", "np.true_divide(A, 4)"),
             ("f", "b"): ("A * 0.5", "np.where(A, 0.5, 1.5)", "A.astype(np.float32)", "A / 2", "A + 0.5")}
FOLDS: dict[tuple[str, str], tuple[str, ...]] = {
    ("i", "i"): ("np.sum(A)", "A.sum()", "np.max(A)", "A.min()", "np.prod(A)", "A[0]", "A[-1]", "sum(A)", "max(A)",
                 "A[1]", "A @ A", "np.dot(A, A)", "int(A[0])", "np.argmax(A)", "len(A)", "np.sum(A, initial=3)",
                 "np.max(A, initial=5)", "np.sum(A, dtype=np.int16)", "min(A)", "np.int16(np.clip(A[0], 0, 90))",
                 "sum([int(v_) for v_ in A])", "sum([v_ * 2 for v_ in A])", "np.ptp(A)", "A[0].astype(W)"),
    ("i", "b"): ("np.sum(A)", "np.count_nonzero(A)", "sum(A)", "A.sum()", "np.argmax(A)"),
    ("b", "b"): ("np.any(A)", "np.all(A)", "A[0]", "A.any()", "bool(A[1])"),
    ("b", "i"): ("A[0] > 2", "np.any(A > 3)", "np.all(A)", "bool(A[1])"),
    ("f", "f"): ("np.sum(A)", "np.max(A)", "A[0]", "A[-1]", "np.mean(A)", "float(A[0])", "sum(A)", "A @ A",
                 "np.std(A)"),
    ("f", "i"): ("np.mean(A)", "np.sum(A) / 2", "float(A[0])", "A[0] * 0.5", "np.var(A)", "np.median(A)"),
    ("f", "b"): ("np.mean(A)",)}


def value(w: Writer, kind: Typed, depth: int = 2) -> ast.expr:
    """An expression of this shape and kind."""
    if depth <= 0 or not w.chance(85):
        return leaf(w, kind)
    choice = w.below(10)
    if choice <= 2:
        return filled(w, w.of(SAME[kind.letter]), kind, depth)
    if choice <= 5:
        return filled(w, w.of(PAIRS[kind.letter]), kind, depth)
    if choice <= 7:
        other = w.of([letter for into, letter in OF_OTHERS if into == kind.letter])
        return filled(w, w.of(OF_OTHERS[kind.letter, other]), Typed(kind.shape, other), depth)
    if kind.shape:
        return filled(w, w.of(ALONG[kind.letter]), kind, depth)
    return fold(w, kind.letter, depth)


def fold(w: Writer, letter: str, depth: int) -> ast.expr:
    other = w.of([each for into, each in FOLDS if into == letter])
    return filled(w, w.of(FOLDS[letter, other]), Typed((3,), other), depth)


def filled(w: Writer, template: str, kind: Typed, depth: int) -> ast.expr:
    return expression(template, A=value(w, kind, depth - 1), B=partner(w, kind, depth - 1),
                      W=expression(w.of(WIDTHS["i"])))


def partner(w: Writer, kind: Typed, depth: int) -> ast.expr:
    """What stands beside a value: as long, a number, or one of another kind."""
    choice = w.below(10)
    if choice <= 3:
        return value(w, kind, depth)
    if choice <= 5:
        return value(w, Typed((), kind.letter), 0)
    if choice <= 7:
        return number(w, kind.letter)
    return value(w, Typed(kind.shape, w.of({"i": "ib", "b": "bi", "f": "fi"}[kind.letter])), 0)


def leaf(w: Writer, kind: Typed) -> ast.expr:
    names = w.variables(lambda other: other == kind)
    if names and w.chance(90):
        return expression("A", A=w.of(names[:4]))
    if not kind.shape:
        return number(w, kind.letter)
    width = expression(w.of(WIDTHS[kind.letter]))
    template = w.of(["np.ones(N, W)", "np.arange(N).astype(W)", "np.full(N, C)", "np.zeros(N, dtype=W)",
                     "np.array([C, C, C])"])
    return expression(template, N=kind.shape[0], W=width, C=number(w, kind.letter))


def number(w: Writer, letter: str) -> ast.expr:
    return expression(w.of(NUMBERS[letter]))
