"""Programs of integers, truth values and floats of several widths: statements and arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from . import typed
from .kinds import Kind, Typed
from .program import Program
from .templates import expression, statements, text
from .writer import Draw, Writer

LENGTH = 3
DTYPES = {"b": ("?",), "f": ("f4", "f8"), "i": ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")}
PARAMETERS = [(5, "x", Typed((LENGTH,), "i")), (3, "y", Typed((LENGTH,), "i")), (2, "m", Typed((LENGTH,), "b")),
              (2, "f", Typed((LENGTH,), "f")), (2, "k", Typed((), "i")), (1, "s", Typed((), "f")),
              (1, "c", Typed((), "b"))]


def some_kind(w: Writer) -> Typed:
    return Typed(w.of([(LENGTH,), (LENGTH,), ()]), w.of("iiiibf"))


def names(w: Writer, *kinds: Typed) -> list[str]:
    """Variables of these kinds that may be assigned to."""
    return [name for name in w.variables(lambda kind: kind in kinds) if name not in w.frozen]


def assign(w: Writer) -> None:
    kind = some_kind(w)
    value = typed.value(w, kind)
    old = names(w, kind)
    name = w.of(old) if old and w.chance(10) else w.fresh("vector" if kind.shape else "number")
    w.assign(name, value, kind)


def augment(w: Writer) -> Any:
    """`a += b`, in place for arrays."""
    kind = some_kind(w)
    old = names(w, kind)
    if not old:
        return False
    symbols = {"i": ["+=", "-=", "*=", "&=", "|=", "//=", "%=", "**="], "b": ["&=", "|=", "^="],
               "f": ["+=", "-=", "*=", "/="]}[kind.letter]
    w.emit(f"A {w.of(symbols)} B", A=w.of(old), B=typed.partner(w, kind, 1))
    return None


ARRAYS = [Typed((LENGTH,), letter) for letter in "ibf"]
PLACES = ("0", "-1", "1:", "::-1", "[0, 2]", "M")


def own_array(w: Writer) -> str | None:
    """An array of the program's own, which it may write to."""
    found = names(w, *ARRAYS)
    if not found:
        return None
    name = w.of(found)
    if w.chance(60):
        w.emit("A = A.copy()", A=name)
    return name


def store(w: Writer) -> Any:
    """A number into an element, a slice or what a mask selects."""
    name = own_array(w)
    if name is None:
        return False
    letter = w.kind(name).letter
    place = w.of(PLACES)
    mask = typed.value(w, Typed((LENGTH,), "b"), 1)
    given = Typed((), w.of({"i": "iiib", "b": "bi", "f": "ffi"}[letter]))
    symbol = w.of(["=", "=", "+=", "*="] if letter != "b" else ["=", "&="])
    w.emit(f"A[{place}] {symbol} V", A=name, V=typed.value(w, given, 1), M=mask)
    return None


def branch(w: Writer) -> None:
    test = typed.value(w, Typed((), "b"), 2)
    kind = Typed((), w.of("ibf"))
    name = w.fresh("number")
    template = w.of(["NAME = A if TEST else B", "if TEST:\n    NAME = A\nelse:\n    NAME = B"])
    one, other = typed.fold(w, kind.letter, 2), typed.fold(w, kind.letter, 2)
    w.emit(template, NAME=name, TEST=test, A=one, B=other)
    w.bind(name, kind)


def total(w: Writer) -> None:
    """A loop that adds up, from a number of Python's or of NumPy's."""
    letter = w.of("iif")
    kind, item, name = Typed((), letter), w.fresh("integer"), w.fresh("number")
    start = typed.leaf(w, kind)
    source = typed.value(w, Typed((LENGTH,), letter), 1)
    w.emit("NAME = START", NAME=name, START=start)
    with w.nested({item: kind, name: kind}):
        added = typed.value(w, kind, 1)
    symbol = w.of(["+", "-", "*"] if letter == "f" else ["+", "-", "*", "^", "|"])
    w.emit(f"for ITEM in A:\n    NAME = NAME {symbol} ADDED", NAME=name, ITEM=item, A=source, ADDED=added)
    w.bind(name, kind)


def elements(w: Writer) -> Any:
    """A loop over places, each of which is written."""
    name = own_array(w)
    if name is None:
        return False
    place, letter = w.fresh("integer"), w.kind(name).letter
    with w.nested({place: Typed((), "i")}):
        value = typed.value(w, Typed((), letter), 1)
    template = w.of(["A[I] = V", "A[I] += V", "A[I] = A[I] * V", "A[I] = A[I - 1] + V"][:1 if letter == "b" else 4])
    w.emit(f"for I in range({w.of(['len(A)', str(LENGTH)])}):\n    {template}", A=name, I=place, V=value)
    return None


def listed(w: Writer) -> None:
    """A list that a loop fills, and an array of it."""
    letter = w.of("iif")
    kind, item = Typed((), letter), w.fresh("integer")
    row, name = w.fresh("other"), w.fresh("vector")
    source = typed.value(w, Typed((LENGTH,), letter), 1)
    with w.nested({item: kind}):
        value = typed.value(w, kind, 1)
    w.emit("R = []\nfor ITEM in A:\n    R.append(V)", R=row, ITEM=item, A=source, V=value)
    if w.chance(60):
        w.emit("NAME = np.array(R)", NAME=name, R=row)
        w.bind(name, Typed((LENGTH,), letter))
    else:
        name = w.fresh("number")
        w.emit(w.of(["NAME = R[1]", "NAME = sum(R)", "NAME = max(R)", "NAME = sorted(R)[1]"]), NAME=name, R=row)
        w.bind(name, kind)


FAMILIES: dict[str, list[tuple[int, str, Any]]] = {
    "values": [(8, "value", assign), (3, "augmented", augment), (2, "number of a branch", branch)],
    "stores": [(4, "store", store), (2, "stores of a loop", elements)],
    "folds": [(3, "total of a loop", total), (3, "list of a loop", listed)],
}


@st.composite
def programs(draw: Draw, families: tuple[str, ...] = tuple(FAMILIES), budget: int = 4) -> Program:
    w = Writer(draw, {name: FAMILIES[name] for name in (*families, "values")}, budget)
    parameters: dict[str, Kind] = {}
    for _ in range(w.between(1, 3)):
        _, kind = w.weighted(PARAMETERS)
        parameters[next(name for _, name, each in PARAMETERS if each is kind)] = kind
    w.used |= set(parameters)
    with w.nested(parameters) as body:
        while w.budget > 0:
            w.statement()
        found = w.variables(lambda kind: isinstance(kind, Typed))          # all of them, so that nothing is dead
        w.emit("return A", A=expression(", ".join(found)))
    seed = w.below(1000)
    definition = statements(f"def program({', '.join(parameters)}):\n    BODY", BODY=body)
    arguments = {name: value_of(kind, np.random.default_rng([seed, k]), w)
                 for k, (name, kind) in enumerate(parameters.items())}
    return Program(text(definition), arguments, w.tags)


def value_of(kind: Any, rng: np.random.Generator, w: Writer) -> Any:
    """Small numbers, or any that the dtype has; a number is Python's or NumPy's."""
    dtype = np.dtype(w.of(DTYPES[kind.letter]))
    drawn = rng.uniform(-3, 3, kind.shape).round(2) if kind.letter == "f" else rng.integers(0, 6, kind.shape)
    if kind.letter == "i" and w.chance(30):
        least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
        drawn = rng.integers(least, most, kind.shape, dtype, endpoint=True)
    if kind.shape:
        return drawn.astype(dtype) if kind.letter != "b" else drawn > 2
    if w.chance(50) and abs(drawn) < 2 ** 63:
        return {"i": int, "f": float, "b": bool}[kind.letter](drawn)
    return dtype.type(drawn)
