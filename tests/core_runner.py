"""Core run as it stands: every statement on fresh arrays, nothing in place. The measure for `write`."""

from __future__ import annotations

from typing import Any

import numpy as np

from transformer.core.grammar import (
    UNDEFINED,
    Block,
    Call,
    Const,
    Effect,
    Function,
    If,
    Let,
    Loop,
    Var,
    type_of,
)
from transformer.core.sizes import Dim, Size, Unknown, replaced
from transformer.core.types import BOOL, ArrayType
from transformer.core.walk import atom_vars
from transformer.ops.sequences import Stacked
from transformer.ops.value import is_python

Values = dict[Var, Any]


def run(function: Function, *arguments: Any) -> list[Any]:
    """The results of a Core function for these arguments, none of which is changed."""
    runner = _Runner(function)
    for param, argument in zip(function.params, arguments, strict=True):
        runner.values[param] = _own(argument)
    runner.block(function.body)
    return [runner.atom(result) for result in function.results]


def _own(value: Any) -> Any:
    """An array of its own; what a call saved is a tree of tuples, and stays as it is."""
    if isinstance(value, tuple) or isinstance(value, list) and any(isinstance(item, tuple | None) for item in value):
        return value
    return np.array(value) if np.ndim(value) else value


class _Runner:
    def __init__(self, function: Function) -> None:
        self.function = function
        self.values: Values = {}
        self.dims = dict(function.dims)
        for param in function.params:
            for axis, size in enumerate(getattr(param.type, "sizes", ())):
                for atom in size.atoms() if isinstance(size, Size) else ():
                    if isinstance(atom, Dim) and size == Size.of(atom):
                        self.dims.setdefault(atom, (param, axis))

    def atom(self, atom: Any) -> Any:
        if isinstance(atom, Var):
            return self.values[atom]
        if isinstance(atom, Const):
            return atom.type.dtype.type(atom.value) if not atom.type.weak else atom.value
        return None if atom is UNDEFINED else self.attr(atom)

    def attr(self, value: Any) -> Any:
        """An attribute with every size as a number."""
        if isinstance(value, Size):
            return replaced(value, self._leaf)
        if isinstance(value, tuple):
            return tuple(map(self.attr, value))
        if isinstance(value, slice):
            return slice(*map(self.attr, (value.start, value.stop, value.step)))
        return value

    def _leaf(self, leaf: Any) -> int | None:
        if isinstance(leaf, Unknown):
            return int(self.values[leaf.var])
        if isinstance(leaf, Dim):
            param, axis = self.dims[leaf]
            return int(np.shape(self.values[param])[axis])
        return None

    def block(self, block: Block) -> None:
        for stmt in block:
            getattr(self, "_" + type(stmt).__name__.lower())(stmt)

    def _let(self, stmt: Let) -> None:
        attrs = {key: self.attr(item) for key, item in stmt.attrs.items() if key != "spelling"}
        operands = list(map(self.operand(stmt), stmt.args))
        nothing = stmt.op is Stacked and not len(operands[0])
        result = self._no_rows(stmt.target.type) if nothing else stmt.op.run(*operands, **attrs)
        one = len(stmt.targets) == 1 and not (isinstance(result, tuple) and isinstance(stmt.target.type, ArrayType))
        results = (result,) if one else result                         # np.nonzero gives a tuple, also of a vector
        for target, value in zip(stmt.targets, results, strict=True):
            self.values[target] = _own(value)

    def _no_rows(self, type: Any) -> np.ndarray:
        """What a loop that did not run has recorded; it has not said how long rows are that it computes."""
        rows = [0 if any(atom not in self.values for atom in atom_vars(size)) else self.attr(size)
                for size in type.sizes[1:]]
        return np.zeros((0, *rows), type.dtype)

    def operand(self, stmt: Let) -> Any:
        """What gives the operands: to Python's arithmetic its truth values are integers."""
        counts = stmt.op.elementwise and not stmt.op.keeps_truth and is_python(stmt.attrs.get("spelling"))
        if counts and all(type_of(atom) == BOOL for atom in stmt.args):
            return lambda atom: int(self.atom(atom))
        return self.atom

    def _call(self, stmt: Call) -> None:
        results = run(stmt.function, *map(self.atom, stmt.args))
        self.values.update(zip(stmt.targets, results, strict=True))

    def _effect(self, stmt: Effect) -> None:
        pass

    def _if(self, stmt: If) -> None:
        truth = bool(self.atom(stmt.cond))
        self.block(stmt.then if truth else stmt.orelse)
        self.values.update({m.target: self.atom(m.then if truth else m.orelse) for m in stmt.merges})

    def _loop(self, stmt: Loop) -> None:
        trips = None if stmt.trips is None else int(self.atom(stmt.trips))
        current = [self.atom(carry.init) for carry in stmt.carries]
        recorded: list[dict[int, Any]] = [{} for _ in stmt.records]
        position, count = (trips - 1 if trips is not None and stmt.down else 0), 0
        while trips is None or 0 <= position < trips:
            self.values.update(zip((c.entry for c in stmt.carries), current, strict=True))
            self.values[stmt.position] = position
            self.block(stmt.test)
            if stmt.cond is not None and not self.atom(stmt.cond):
                break
            self._iteration(stmt, position, recorded)
            current = [self.atom(carry.next) for carry in stmt.carries]
            position, count = position + (-1 if stmt.down else 1), count + 1
        self.values.update(zip((c.out for c in stmt.carries), current, strict=True))
        if stmt.count is not None:
            self.values[stmt.count] = count
        self._finish(stmt, recorded)

    def _iteration(self, stmt: Any, position: int, recorded: list[dict[int, Any]]) -> None:
        for read in stmt.reads:
            self.values[read.target] = self.atom(read.source)[position]
        self.block(stmt.body)
        for record, rows in zip(stmt.records, recorded, strict=True):
            rows[position] = self.atom(record.value)

    def _finish(self, stmt: Any, recorded: list[dict[int, Any]]) -> None:
        for record, rows in zip(stmt.records, recorded, strict=True):
            self.values[record.target] = [rows[k] for k in sorted(rows)]
