"""Core made by hand for the tests of `write`, and what its source does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from core_runner import run

from transformer.core.builder import Builder
from transformer.core.grammar import Atom, Carry, Const, Effect, Function, If, Loop, Merge, Var
from transformer.core.sizes import Dim, Size
from transformer.core.types import FLOAT, INT, ArrayType, SeqType, Type
from transformer.ops.value import Value
from transformer.read.interface import Interface, Parameter
from transformer.write.writer import Written, write

N, M = Size.of(Dim("n")), Size.of(Dim("m"))
VECTOR = ArrayType(np.dtype(float), (N,))
MATRIX = ArrayType(np.dtype(float), (N, M))


def param(name: str, type: Type) -> Value:
    """A parameter."""
    return Value(Var(type, name, is_parameter=True))


def named(value: Value, name: str) -> Value:
    """A value under a user's name."""
    assert isinstance(value.atom, Var)
    value.atom.name = name
    return value


class Making(Builder):
    """A builder of one function. `build` closes it."""

    def __init__(self, *params: Value) -> None:
        super().__init__()
        self.params: list[Any] = [value.atom for value in params]

    @contextmanager
    def begin(self) -> Iterator[Making]:
        with self.active():
            yield self

    def function(self, *results: Value | Atom) -> Function:
        atoms = [r.atom if isinstance(r, Value) else r for r in results]
        return Function("f", self.params, self.block, atoms)

    def reverse(self) -> None:
        self.emit(Effect("comment", (), {"text": "reverse"}))

    def loop(
        self, trips: Atom | None, inits: dict[str, Value | Atom], body: Callable[..., tuple[Value, ...]], **options: Any
    ) -> list[Value]:
        """A loop with carries by name; `body` gets their entries and the position, gives next values."""
        atoms = [i.atom if isinstance(i, Value) else i for i in inits.values()]
        types = [
            a.type.strong() if isinstance(a, Var) and isinstance(a.type, ArrayType) and a.type.sizes else a.type
            for a in atoms
        ]  # type: ignore[union-attr]
        entries = [Var(type, name) for type, name in zip(types, inits)]
        position = options.pop("position", None) or Var(INT)
        with self.nested() as block:
            following = body(*map(Value, entries), Value(position))
        carries = [Carry(e, i, f.atom, Var(e.type, e.name)) for e, i, f in zip(entries, atoms, following, strict=True)]
        test = options.pop("test", None)
        if test is not None:
            with self.nested() as options["test"]:
                options["cond"] = test(*map(Value, entries)).atom
        self.emit(Loop(position, trips, carries, block, **options))
        return [Value(carry.out) for carry in carries]

    def choose(
        self, condition: Value, then: Callable[[], Value], orelse: Callable[[], Value], name: str | None = None
    ) -> Value:
        """A branch that gives one value."""
        with self.nested() as first:
            one = then()
        with self.nested() as second:
            other = orelse()
        target = Var(one.type, name)
        self.emit(If(condition.atom, first, second, [Merge(target, one.atom, other.atom)]))
        return Value(target)


def interface(function: Function, **options: Any) -> Interface:
    return Interface("f", [Parameter(p.name or "x", p) for p in function.params], **options)


def written(function: Function, **options: Any) -> Written:
    return write(function, options.pop("interface", None) or interface(function), name="f", **options)


def source_of(function: Function, **options: Any) -> str:
    return written(function, **options).source


def body_of(function: Function, **options: Any) -> str:
    """The source without imports and the line of `def`."""
    return source_of(function, **options).partition("def f(")[2].partition("\n")[2]


def load(result: Written) -> Callable[..., Any]:
    names = dict(result.namespace)
    exec(compile(result.source, "<generated>", "exec"), names)
    return names["f"]


def assert_right(function: Function, *args: Any) -> str:
    """Runs the source and compares it with Core; arguments stay, results share no memory. The source."""
    result = written(function)
    kept = [np.copy(a) for a in args]
    expected = run(function, *args)
    found = load(result)(*args)
    found = found if len(expected) > 1 else (found,)
    for one, other in zip(args, kept):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    arrays = [x for x in (*args, *found) if isinstance(x, np.ndarray)]
    for k, array in enumerate(arrays):
        assert not any(np.shares_memory(array, other) for other in arrays[max(k + 1, len(args)) :])
    return result.source


__all__ = [
    "FLOAT",
    "INT",
    "M",
    "MATRIX",
    "N",
    "VECTOR",
    "Const",
    "Making",
    "SeqType",
    "assert_right",
    "body_of",
    "interface",
    "load",
    "named",
    "param",
    "source_of",
    "written",
]
