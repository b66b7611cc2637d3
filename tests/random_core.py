"""Random Core: arrays written in place while views and older versions of them are alive, loops, branches.

The programs keep none of the rules that make Core cheap (a version may be read after it was written),
so that whatever prints them has to find every copy that is needed.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from transformer.core.builder import Builder
from transformer.core.grammar import (
    Carry,
    Const,
    Function,
    If,
    Loop,
    Merge,
    Read,
    Record,
    Var,
)
from transformer.core.types import FLOAT, INT, ArrayType, SeqType
from transformer.ops import indexing
from transformer.ops.arithmetic import Negative
from transformer.ops.value import Value, apply, value

SHAPES = [(4,), (6,), (2, 3), (3, 2)]
NAMES = ["u", "v", "x", "y"]


def array_type(shape: tuple[int, ...]) -> ArrayType:
    return ArrayType(np.dtype(float), shape)


class Generator:
    """Makes one program from a seed."""

    def __init__(self, seed: int, length: int = 14) -> None:
        self.random = random.Random(seed)
        self.length = length
        self.builder = Builder()
        self.scopes: list[list[Var]] = []
        self.depth = 0
        self.names = NAMES + [None] * self.random.choice([1, 3, 20])

    def function(self) -> Function:
        params = [Var(array_type(s), f"p{k}", True) for k, s in enumerate([(6,), (2, 3), (6,)])]
        params += [Var(FLOAT, "a", True), Var(INT, "n", True)]
        self.scopes.append(list(params))
        with self.builder.active(), self.builder.nested() as body:
            self.block(self.length)
            found = [v for v in self.scopes[-1] if isinstance(v.type, ArrayType)]
            results = self.random.choices(found, k=6) + found[-4:]
        return Function("f", params, body, results)

    # -- choosing -------------------------------------------------------------------------

    def variables(self, fits: Callable[[Var], bool]) -> list[Var]:
        return [var for scope in self.scopes for var in scope if fits(var)]

    def pick(self, fits: Callable[[Var], bool]) -> Var | None:
        found = self.variables(fits)
        if not found:
            return None
        recent = found[-6:]
        return self.random.choice(recent if self.random.random() < 0.7 else found)

    def array(self, shape: tuple[int, ...] | None = None) -> Value:
        var = self.pick(lambda v: is_array(v) and (shape is None or v.type.sizes == shape))
        if var is None:
            assert shape is not None
            return self.add(self.made("zeros", shape))
        return Value(var)

    def scalar(self) -> Value:
        var = self.pick(is_float)
        return (
            Value(var)
            if var is not None and self.random.random() < 0.7
            else Value(Const(self.random.choice([0.5, -1.5, 2.0])))
        )

    def add(self, result: Value) -> Value:
        """Makes a result known to what comes after, sometimes under a name."""
        if isinstance(result.atom, Var):
            if result.atom.name is None:
                result.atom.name = self.random.choice(self.names)
            self.scopes[-1].append(result.atom)
        return result

    def made(self, how: str, shape: tuple[int, ...]) -> Value:
        from transformer.ops.value import call

        return call({"zeros": np.zeros, "ones": np.ones}[how], (shape,), {})

    # -- statements -----------------------------------------------------------------------

    def block(self, length: int) -> None:
        for _ in range(length):
            kinds = [self.compute] * 3 + [self.view] * 3 + [self.write] * 5 + [self.number] * 2
            if self.depth < 2:
                kinds += [self.loop] * 2 + [self.branch] * 2
            self.random.choice(kinds)()

    def compute(self) -> None:
        x = self.array()
        y = self.array(x.type.sizes) if self.random.random() < 0.6 else self.scalar()
        self.add(
            self.random.choice(
                [lambda: x + y, lambda: x - y, lambda: x * 0.5 + y, lambda: np.sin(x), lambda: value(x).copy()]
            )()
        )

    def view(self) -> None:
        x = self.array()
        shape = x.type.sizes
        choices = [lambda: x[::-1], lambda: x[:]]
        if shape == (6,):
            choices += [lambda: np.reshape(x, (2, 3)), lambda: x[1:5], lambda: x[:4]]
        if len(shape) == 2:
            choices += [lambda: x.T, lambda: np.ravel(x), lambda: np.reshape(x, shape[::-1])]
        self.add(self.random.choice(choices)())

    def write(self) -> None:
        x = self.array()
        index = self.index(x.type.sizes)
        part = x[index]
        v = (
            self.array(part.type.sizes)
            if part.ndim
            and self.random.random() < 0.6
            and self.variables(lambda w: is_array(w) and w.type.sizes == part.type.sizes)
            else self.scalar()
        )
        if part.ndim and self.random.random() < 0.3:
            v = apply(Negative, (v,), {})
        how = self.random.choice([indexing.write, indexing.add_at, indexing.add_at])
        self.add(how(x, v, index))

    def index(self, shape: tuple[int, ...]) -> Any:
        first = [0, -1, slice(1, None), slice(None, -1), slice(None, None, -1), slice(None)]
        choices: list[Any] = [*first, first[:4] and (slice(None), 1) if len(shape) == 2 else slice(1, 3)]
        if self.random.random() < 0.15:
            return [1, 0, 1]
        return self.random.choice(choices)

    def number(self) -> None:
        x = self.array()
        choices = [
            lambda: np.sum(x),
            lambda: x[(0,) * x.ndim],
            lambda: self.scalar() * 0.5 + self.scalar(),
            lambda: np.max(x) - self.scalar(),
        ]
        self.add(self.random.choice(choices)())

    # -- branches and loops ---------------------------------------------------------------

    def nested(self, length: int) -> tuple[list[Any], list[Var]]:
        self.depth += 1
        self.scopes.append([])
        with self.builder.nested() as block:
            self.block(length)
        self.depth -= 1
        return block, self.scopes.pop()

    def condition(self) -> Any:
        return (self.scalar() > 0.1).atom

    def same_type(self, own: list[Var], type: Any) -> Var | None:
        """A value of a type, from inside a block if there is one, else from outside."""
        inside = [v for v in own if v.type == type]
        if inside and self.random.random() < 0.8:
            return self.random.choice(inside)
        return self.pick(lambda v: v.type == type)

    def branch(self) -> None:
        condition = self.condition()
        (then, own), (orelse, other) = self.nested(3), self.nested(self.random.choice([0, 3]))
        merges = []
        for _ in range(self.random.choice([1, 2, 3])):
            lead = self.random.choice(own) if own else self.array().atom
            if not isinstance(lead.type, ArrayType):
                continue
            partner = self.same_type(other, lead.type)
            if partner is not None:
                name = self.random.choice([lead.name, partner.name, None])
                merges.append(Merge(Var(lead.type, name), lead, partner))
        self.builder.emit(If(condition, then, orelse, merges))
        self.scopes[-1] += [merge.target for merge in merges]

    def loop(self) -> None:
        inits = [self.array().atom for _ in range(self.random.choice([1, 2, 3]))]
        inits += [Const(1.0)] * self.random.choice([0, 1])
        entries = [
            Var(array_type(i.type.sizes) if isinstance(i, Var) else FLOAT, getattr(i, "name", "s")) for i in inits
        ]
        position = Var(INT, self.random.choice(["k", None]))
        reads = self.some_reads()
        self.scopes.append([*entries, *(read.target for read in reads)])
        body, own = self.nested(self.random.choice([2, 4, 6]))
        inside = [*self.scopes.pop(), *own]
        carries = [self.carry(entry, init, inside) for entry, init in zip(entries, inits, strict=True)]
        self.finish_loop(position, carries, body, inside, reads)

    def some_reads(self) -> list[Read]:
        """Rows of what a loop of the same length recorded."""
        source = self.pick(lambda v: isinstance(v.type, SeqType))
        if source is None or self.random.random() < 0.2:
            return []
        return [Read(Var(source.type.element, self.random.choice([None, "r"])), source)]

    def carry(self, entry: Var, init: Any, inside: list[Var]) -> Carry:
        found = [v for v in inside if v.type == entry.type]
        following = self.random.choice(found[-5:])
        if self.random.random() < 0.1:
            following = self.pick(lambda v: v.type == entry.type) or following
        return Carry(entry, init, following, Var(entry.type, entry.name))

    def finish_loop(self, position: Var, carries: list[Carry], body: Any, inside: list[Var], reads: list[Read]) -> None:
        found = self.random.sample(inside, min(len(inside), self.random.choice([0, 1, 2])))
        found += [v for v in inside if isinstance(v.type, SeqType)][-1:]
        records = [Record(Var(SeqType(v.type), None), v) for v in dict.fromkeys(found)]
        down = self.random.random() < 0.4
        trips: Any = self.scopes[0][4]
        test: list[Any] = []
        condition = None
        if not reads and self.random.random() < 0.25:
            test, condition = self.counting(carries, body)
            down, trips = False, self.random.choice([None, trips])
        count = Var(INT, "count") if condition is not None and self.random.random() < 0.5 else None
        self.builder.emit(Loop(position, trips, carries, body, reads, records, down, test, condition, count))
        self.scopes[-1] += [record.target for record in records]
        self.scopes[-1] += [carry.out for carry in carries]

    def counting(self, carries: list[Carry], body: Any) -> tuple[Any, Any]:
        """A condition that lets the loop run three times."""
        counter, out = Var(INT, "step"), Var(INT, "step")
        with self.builder.nested() as test:
            condition = (Value(counter) < 3).atom
        with self.builder.nested() as more:
            following = (Value(counter) + 1).atom
        body += more
        carries.append(Carry(counter, Const(0), following, out))
        return test, condition


def is_array(var: Var) -> bool:
    return isinstance(var.type, ArrayType) and var.type.rank > 0


def is_float(var: Var) -> bool:
    return isinstance(var.type, ArrayType) and not var.type.sizes and var.type.dtype.kind == "f"
