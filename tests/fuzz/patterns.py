"""Several statements that belong together: what writes to arrays make of each other.

Values written at repeated places and used afterwards, writes through views of views, sweeps over windows
that overlap, arrays that are swapped, masks that are older than what they select, functions and
recursions that write to parts of their argument.
"""

from __future__ import annotations

import ast
from typing import Any

from . import arrays, conditions, scalars
from .integers import stop
from .kinds import NUMBER, Floats, Integer, Integers, Row, Shape
from .templates import expression, statements
from .writer import Writer
from .writes import OPERATORS, SAFE, subject

PLACES = ("np.arange(N) // 2", "np.arange(N) % 2", "np.minimum(np.arange(N), 1)", "np.arange(N)[::-1] // 2",
          "np.zeros(N, int)", "np.arange(N) % SIZE", "(np.arange(N) * 2) % SIZE")
FOUND = ("np.argsort(A) // 2", "(A > 0).astype(int)", "np.where(A > C, 1, 0)")
WINDOWS = ("A[J:] += C * A[:N - J]", "A[:J] *= np.cos(A[J - 1])", "A[J] = A[J - 1] * C + A[I % J]",
           "A[J:] = A[J] * A[J:]", "A[J - 1:J + 1] = A[J - 1:J + 1][::-1] * C", "A[:N - J] -= np.sin(A[J:]) * C",
           "A[I % N:] *= np.cos(A[J])", "A[-J] += A[J - 1] * A[-J]", "A[J - 1:] += np.sin(A[J - 1:][::-1])",
           "A[J], A[J - 1] = A[J - 1] * C, A[J]")
SWAPPED = ("B[1:] = A[:-1] * C\nA, B = B, A", "B[:] = A * np.cos(B)\nA, B = B, A", "A, B = B, A * C",
           "A, B = B + C * A, A", "B += np.sin(A)\nB, A = A, B", "A[0] = B[-1] * C\nA, B = B, A")
ENDED = ("A[0] > C", "np.sum(A) < C", "np.abs(A[-1]) > C", "np.any(A > C)")
SHRINKING = ("A *= 0.6", "A[0] = 0.5 * A[-1]", "A[1:] = 0.7 * A[:-1]", "A -= 0.4 * np.tanh(A)", "A[::-1] *= 0.5",
             "A[A > 0] *= 0.5")
MERGING = ("V[K:] += V[K - 1] * V[K:]", "V[:] = np.sin(V[::-1])", "V[0], V[-1] = V[-1] * V[0], V[0]",
           "V[:K], V[-K:] = V[-K:] * 0.5, V[:K] * V[0]", "V *= np.cos(V[K])", "V[K] = np.sum(V)",
           "V[:] = np.cumsum(V) * 0.5")
HALVES = ("NAME(V[:K])\nNAME(V[K:])", "NAME(V[K:])\nNAME(V[:K])", "NAME(V[1:])", "NAME(V[:-1][::-1])")


def owned(w: Writer, smallest: int = 2) -> list[str]:
    """Vectors that may be assigned to and written."""
    return [name for name in w.arrays((1,), smallest=smallest) if name not in w.constants | w.captured | w.frozen]


def repeated(w: Writer) -> Any:
    """A value goes to places that repeat, and is used afterwards."""
    name = subject(w, (1,))
    if name is None or w.kind(name).shape[0] < 2:
        return False
    size, count = w.kind(name).shape[0], w.of([2, 3, 3, 4])
    value = w.fresh("vector")
    made = expression(w.of(["A", "np.sin(A)", "A * A"]), A=arrays.array(w, (count,), 1))      # a view, or not
    w.emit("V = VALUE", V=value, VALUE=made)
    w.bind(value, Floats((count,)))
    index = indices(w, count, size)
    templates = ["A[I] = V", "A[I] = V", "A[I] = V * V", "A[I] += V", "np.add.at(A, I, V)", "A[I] *= np.cos(V)",
                 "np.put(A, I, V)", "A[I][0] = 2"]
    w.emit(w.of(templates), A=name, I=index, V=value)
    result = w.fresh("number")
    w.emit(w.of(["T = np.sum(V * V)", "T = V @ np.sin(V)", "T = np.sum(np.exp(-V * V)) * A[0]"]), T=result, V=value,
           A=name)
    w.bind(result, NUMBER)
    return None


def indices(w: Writer, count: int, size: int) -> ast.expr:
    """Indices into an axis, with repeats: as a list, computed, or found in data; maybe by a name."""
    kind = w.below(4)
    if kind == 0:
        return arrays.index_list(w, count, size)
    sources = w.floats((count,))
    if kind == 1 and sources and (count + 1) // 2 <= size:
        found = expression(w.of(FOUND), A=w.of(sources), C=w.constant())
    else:
        found = expression(w.of(PLACES if count <= 2 * size else PLACES[1:3]), N=w.size(count), SIZE=size)
    if w.chance(50):
        return found
    table = w.fresh("other")
    w.emit("I = VALUE", I=table, VALUE=found)
    w.bind(table, Integers(count, size - 1))
    return expression("I", I=table)


def through_views(w: Writer) -> Any:
    """A write to a part of a part; the views may have names."""
    name = subject(w)
    if name is None:
        return False
    place, shape = expression("A", A=name), w.kind(name).shape
    for _ in range(w.of([2, 2, 3])):
        found = part_of(w, shape)
        if found is None:
            break
        template, shape = found
        place = expression(template, A=place)
        if w.chance(25) and shape:
            view = w.fresh_for(Floats(shape))
            w.emit("V = PLACE", V=view, PLACE=place)
            w.bind(view, Floats(shape))
            place = expression("V", V=view)
    if not isinstance(place, ast.Subscript):
        place = expression("A[...]", A=place)
    operator = w.of(OPERATORS)
    value = arrays.partner(w, shape, 1) if shape else scalars.number(w, 1)
    w.emit(f"PLACE {operator} VALUE", PLACE=place, VALUE=expression(SAFE[operator], A=value))
    return None


def part_of(w: Writer, shape: Shape) -> tuple[str, Shape] | None:
    if not shape:
        return None
    if len(shape) == 2:
        return w.of([("A.T", shape[::-1]), ("A[0]", shape[1:]), ("A[:, -1]", shape[:1]), ("A[::-1]", shape),
                     ("A[:, ::-1]", shape), ("A.reshape(-1)", (shape[0] * shape[1],)), ("A[-1]", shape[1:])])
    found = [(f"A[{s}]", (n,)) for n in range(1, shape[0] + 1) for s in arrays.slices(shape[0], n)]
    return w.of([*found, ("A[0]", ()), ("A[-1]", ())])


def sweep(w: Writer) -> Any:
    """Loops in each other over windows that overlap; how far they go depends on data."""
    names = owned(w)
    if not names:
        return False
    name = w.of(names)
    size = w.kind(name).shape[0]
    bound, _, high = stop(w, 3)
    first, second = w.fresh("integer"), w.fresh("integer")
    last = expression(w.of(["N", "N", "min(N, I + 2)", "1 + int(np.sum(A[1:] > C))", "max(1, N - I)"]), A=name, I=first,
                      N=w.size(size), C=w.constant())
    kinds: dict[str, Any] = {first: Integer(0, max(0, high - 1)), second: Integer(1, size - 1)}
    with w.nested(kinds) as body:
        w.frozen |= set(kinds)
        w.loops += 2
        for template in w.of([(w.of(WINDOWS),), (w.of(WINDOWS), w.of(WINDOWS))]):
            w.emit(template, A=name, I=first, J=second, N=w.size(size), C=scalars.leaf(w))
        if w.chance(25):
            word = w.of(["break", "continue"])
            w.tags[word] += 1
            w.emit(f"if TEST:\n    {word}", TEST=conditions.condition(w, 0))
            w.emit("A[J] *= C", A=name, J=second, C=scalars.leaf(w))
        w.loops -= 2
    w.emit("for I in range(B):\n    for J in RANGE:\n        BODY", I=first, B=bound, J=second, BODY=body,
           RANGE=expression(w.of(["range(1, S)", "range(S - 1, 0, -1)"]), S=last))
    return None


def swapped(w: Writer) -> Any:
    """Two arrays that take turns."""
    names = owned(w)
    if not names:
        return False
    one = w.of(names) if w.chance(30) else another(w, w.kind(w.of(names)))
    others = [name for name in names if name != one and w.kind(name) == w.kind(one)]
    other = w.of(others) if others and w.chance(50) else another(w, w.kind(one))
    bound, _, _ = stop(w, 3)
    position = w.fresh("integer")
    body = statements(w.of(SWAPPED), A=one, B=other, C=scalars.leaf(w))
    w.emit("for K in range(B):\n    BODY", K=position, B=bound, BODY=body)
    return None


def another(w: Writer, kind: Floats) -> str:
    """A new array that shares no memory with others."""
    name = w.fresh_for(kind)
    w.emit("A = VALUE", A=name, VALUE=expression("np.cos(A)", A=arrays.array(w, kind.shape, 1)))
    return w.bind(name, kind)


def until(w: Writer) -> Any:
    """A loop that goes on while an array that it writes has a property."""
    names = owned(w)
    if not names:
        return False
    name, count = w.of(names), w.fresh("integer")
    body = statements(w.of(SHRINKING), A=name)
    test = expression(w.of(ENDED), A=name, C=w.constant())
    w.emit("K = 0\nwhile K < 4 and TEST:\n    BODY\n    K += 1", K=count, TEST=test, BODY=body)
    w.bind(count, Integer(0, 4), frozen=True)
    return None


def masked_later(w: Writer) -> Any:
    """A mask of an array that is written before the mask selects."""
    names = owned(w)
    if not names:
        return False
    name, mask = w.of(names), w.fresh("other")
    kind = w.kind(name)
    w.emit("M = MASK", M=mask, MASK=conditions.mask(w, kind.shape))
    value = arrays.array(w, kind.shape, 1)
    w.emit(w.of(["A *= V", "A[:] = V", "A[::-1] += V", "A[0] = V[-1]"]), A=name, V=value)
    templates = ["A[M] = C", "A[M] *= A[M]", "A[~M] += C", "A[M] = np.sin(A[M]) * C", "A[M] += V[M]",
                 "A[M & (A > 0)] = C"]
    w.emit(w.of(templates), A=name, M=mask, C=scalars.leaf(w), V=value)
    return None


def merging(w: Writer) -> Any:
    """A recursion that writes to the parts of its argument, and then to the whole."""
    names = [name for name in w.arrays((1,), smallest=2) if name not in w.constants]
    if not names:
        return False
    name, parameter, middle = w.fresh("other"), w.fresh("vector"), w.fresh("integer")
    parts = {"NAME": name, "V": parameter, "K": middle}
    w.module += statements("def NAME(" + parameter + "):\n    if len(V) < 2:\n        return\n    K = len(V) // 2\n"
                           "    HALVES\n    MERGING", HALVES=statements(w.of(HALVES), **parts),
                           MERGING=statements(w.of(MERGING), **parts), **parts)
    w.emit("NAME(A)", NAME=name, A=w.of(names))
    return None


def writing(w: Writer) -> Any:
    """A function that writes to its argument, and gives something: its value depends on when it is called."""
    names = [name for name in w.arrays((1,), smallest=2) if name not in w.constants]
    if not names:
        return False
    name, parameter = w.fresh("other"), w.fresh("vector")
    body = w.of(["V[0] = np.sin(V[-1]) * V[0]\nreturn np.sum(V)", "V *= 0.5\nreturn V[1:] @ V[:-1]",
                 "for K in range(1, len(V)):\n    V[K] += V[K - 1] * V[K]\nreturn V[-1]", "V[1:] = V[:-1]\nreturn V[0]",
                 "if V[0] > 0.5:\n    V[-1] = V[0] ** 2\n    return V[-1]\nreturn V[0]"])
    w.module += statements(f"def NAME({parameter}):\n    BODY", NAME=name,
                           BODY=statements(body, V=parameter, K=w.fresh("integer")))
    result = w.fresh("number")
    w.emit(w.of(["T = NAME(A)", "T = NAME(A) * NAME(A[::-1])", "T = A[0] * NAME(A) + A[0]", "T = NAME(A[1:]) + A[-1]"]),
           T=result, NAME=name, A=w.of(names))
    w.bind(result, NUMBER)
    return None


def some_row(w: Writer) -> str:
    """A list of vectors, some of which have names of their own."""
    kind = Floats(w.of([(2,), (3,)]))
    parts: list[ast.expr] = [expression("A", A=another(w, kind)) if w.chance(50) else arrays.array(w, kind.shape, 1)
                             for _ in range(w.of([2, 3]))]
    name = w.fresh("other")
    w.emit("L = PARTS", L=name, PARTS=ast.List(parts, ast.Load()))
    return w.bind(name, Row(len(parts), kind))


def list_written(w: Writer) -> Any:
    """Arrays in a list are written, by the list or by their own names."""
    rows = w.variables(lambda kind: isinstance(kind, Row) and len(kind.item.shape) == 1)
    row = w.of(rows) if rows else some_row(w)
    item, position = w.fresh("vector"), w.fresh("integer")
    template = w.of(["for V in L:\n    V[0] += C * V[-1]", "for V in L:\n    V *= np.cos(C)",
                     "for K in range(len(L)):\n    L[K][0] = C * L[K - 1][-1]",
                     "for K, V in enumerate(L):\n    V += K * C", "L[0][:] = L[-1] * C",
                     "V = L[-1]\nL[0], L[-1] = V, L[0]\nV[0] = C",
                     "for K in range(1, len(L)):\n    L[K] += np.sin(L[K - 1])"])
    w.emit(template, L=row, V=item, K=position, C=scalars.leaf(w))
    return None


STATEMENTS = [(3, "repeated places", repeated), (2, "views of views", through_views), (3, "sweep", sweep),
              (2, "swap in a loop", swapped), (2, "until", until), (1, "mask, later", masked_later),
              (1, "merging recursion", merging), (1, "writing function", writing), (1, "list written", list_written)]
