"""Arrays that change names: kept under another one while they go on, exchanged, handed around."""

from __future__ import annotations

import ast
from typing import Any

from . import arrays, conditions, scalars
from .integers import stop
from .kinds import Floats, Integer
from .patterns import another, owned, some_row
from .templates import expression, statements
from .writer import Writer

GOES_ON = ("A = np.sin(A) * 0.8", "A = A * 0.7 + V", "A = A[::-1] * C", "A = np.cumsum(A) * 0.5", "A = V - A", "A = A")
WRITTEN = ("A *= C", "A[0] += C * A[-1]", "A[1:] = A[:-1] * C", "A[::2] -= C")
KEPT = ("if TEST:\n    B = A", "if TEST:\n    B = A", "B = A if TEST else B",
        "if TEST:\n    B = A\nelse:\n    B = B * C", "if TEST:\n    A, B = B, A", "B = A",
        "if TEST:\n    B = A\n    A = A + C", "if not TEST:\n    A = B\nelse:\n    B = A * C")
COPIED = ("if TEST:\n    B = A.copy()", "B = A * C if TEST else B", "if TEST:\n    B = A + C\nelse:\n    B = B * C")
TESTS = ("K % 2 == 0", "K == 1", "K % 3 > 0", "K > 1", "np.sum(A) > C", "A[0] > C", "np.sum(A) > np.sum(B)",
         "A[0] < B[-1]")
TURNS = ("A, B, D = B, D, A", "A, B, D = D, A * C, B", "A, B, D = B, A + D, A", "A, B = B, A\nB, D = D, B",
         "D = A\nA = B\nB = D * C", "A, B, D = B, np.sin(D) * 0.8, A", "T = A\nA = B\nB = D\nD = T",
         "A[0] += C\nA, B, D = B, D, A", "A, B, D = B, B * C, A", "B, A = A + D, B\nD = A * C")
AROUND = ("L.append(L.pop(0))", "L.insert(0, L.pop())", "L = L[1:] + L[:1]", "L = L[1:] + [np.sin(L[0]) * 0.8]",
          "L = [L[-1], *L[:-1]]", "L[0], L[-1] = L[-1], L[0] * C", "L[0], L[1] = L[1], L[0]",
          "L = [C * v_ for v_ in L]", "L.append(L.pop(0) * C)", "L.pop()\nL.insert(0, np.cos(L[0]))",
          "L = [L[0] + L[-1], *L[:-1]]")


def repeated(w: Writer, position: str, body: list[ast.stmt]) -> None:
    """A body in a loop, in two of them, or in one that counts itself."""
    bound, _, _ = stop(w, 3)
    choice = w.below(4)
    if choice == 0:
        w.emit("for I in range(N):\n    for K in range(B):\n        BODY", I=w.fresh("integer"), N=w.of([2, 3]),
               K=position, B=bound, BODY=body)
    elif choice == 1:
        w.emit("K = 0\nwhile K < N:\n    BODY\n    K += 1", K=position, N=w.of([2, 3]), BODY=body)
    else:
        w.emit("for K in range(B):\n    BODY", K=position, B=bound, BODY=body)


def mates(w: Writer, count: int) -> list[str] | None:
    """Arrays of one shape, old ones and new ones."""
    names = owned(w)
    if not names:
        return None
    first = w.of(names)
    found = [first]
    for _ in range(count - 1):
        others = [name for name in names if name not in found and w.kind(name) == w.kind(first)]
        if others and w.chance(30):
            found.append(w.of(others))
        elif w.chance(20):                                  # another name of one that there is
            name = w.fresh_for(w.kind(first))
            w.emit("A = B", A=name, B=w.of(found))
            found.append(w.bind(name, w.kind(first)))
        else:
            found.append(another(w, w.kind(first)))
    return found


def part_again(w: Writer, name: str) -> None:
    """What has had several names gets memory of its own, mostly, so that it may be written."""
    if w.chance(70):
        w.emit("A = A.copy()", A=name)


def test(w: Writer, position: str, one: str, other: str) -> ast.expr:
    if w.chance(25):
        return conditions.condition(w, 0)
    return expression(w.of(TESTS), K=position, A=one, B=other, C=w.constant())


def kept(w: Writer) -> Any:
    """Sometimes an array is kept under another name, while it goes on."""
    names = mates(w, 2)
    if names is None:
        return False
    one, other = names
    position = w.fresh("integer")
    with w.nested({position: Integer(0, 3)}) as body:
        w.frozen.add(position)
        w.loops += 1
        steps = w.of([(GOES_ON, KEPT), (GOES_ON, KEPT), (WRITTEN, COPIED)])
        for k in w.of([(0, 1), (1, 0), (0, 1, 0), (1, 0, 1)]):
            w.emit(w.of(steps[k]), A=one, B=other, TEST=test(w, position, one, other), C=scalars.leaf(w),
                   V=arrays.leaf(w, w.kind(one).shape))
        w.loops -= 1
    repeated(w, position, body)
    part_again(w, other)
    return None


def in_turns(w: Writer) -> Any:
    """Three arrays exchange their names."""
    names = mates(w, 3)
    if names is None:
        return False
    parts = dict(zip("ABD", names, strict=True))
    spare = w.fresh_for(w.kind(names[0]))
    body = statements(w.of(TURNS), **parts, T=spare, C=scalars.leaf(w))
    if w.chance(30):
        extra = statements(w.of(GOES_ON), A=w.of(names), C=scalars.leaf(w), V=w.of(names))
        body = extra + body if w.chance(50) else body + extra
    repeated(w, w.fresh("integer"), body)
    for name in names[1:]:
        part_again(w, name)
    return None


def given_in_loop(w: Writer) -> Any:
    """A name that only loops give, in each other perhaps; it is used behind them."""
    names = owned(w)
    if not names:
        return False
    name = w.of(names)
    kind = w.kind(name)
    new, position = another(w, kind), w.fresh("integer")
    late = w.fresh_for(kind)
    template = w.of(["V = A * C\nA = V + B", "V = A\nA = np.sin(V) * 0.8", "V = B\nB = A * C", "A = A * C\nV = A",
                     "if K > 0:\n    A = V * C\nV = A + B", "V = A + B\nif A[0] > C:\n    B = V"])
    body = statements(template, V=late, A=name, B=new, K=position, C=scalars.leaf(w))
    bound = expression("B", B=w.of([1, 2, 3]))
    w.emit(w.of(["for K in range(B):\n    BODY", "for I in range(2):\n    for K in range(B):\n        BODY",
                 "for I in range(B):\n    for K in range(I + 1):\n        BODY"]), I=w.fresh("integer"), K=position,
           B=bound, BODY=body)
    part_again(w, new)
    part_again(w, w.bind(late, kind))
    return None


def handed_around(w: Writer) -> Any:
    """A list of arrays that a loop rotates."""
    row = some_row(w)
    body = statements(w.of(AROUND), L=row, C=scalars.leaf(w))
    if w.chance(40):
        more = ["L[0] = L[0] * C", "L[-1] = L[0] + L[-1]", "L[0] *= C", "if L[0][0] > C:\n    L[0] = L[-1]"]
        body += statements(w.of(more), L=row, C=scalars.leaf(w))
    repeated(w, w.fresh("integer"), body)
    result = w.fresh_for(Floats(w.kind(row).item.shape))
    w.emit(w.of(["V = L[0] * L[-1]", "V = L[0]", "V = sum(L)"]), V=result, L=row)
    w.bind(result, w.kind(row).item)
    return None


STATEMENTS = [(2, "kept under another name", kept), (2, "three names", in_turns), (1, "given in a loop", given_in_loop),
              (1, "list handed around", handed_around)]
