"""A small interpreter of Core on NumPy values: what a Core function computes, by definition.

It runs statements one by one, with the NumPy function of each op, and knows nothing of how
programs are written or compiled.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from transformer import tree
from transformer.api import argument_names
from transformer.containers import LEAVES, kind_of
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
    Undefined,
    Var,
)
from transformer.core.sizes import Dim, Floor, Greatest, Least, Size, Unknown
from transformer.core.types import WEAK_NAMES, SeqType
from transformer.ops.arithmetic import PYTHON_TYPES
from transformer.ops.identity import Same
from transformer.read.entry import Reading, signature_of
from transformer.read.interface import Result
from transformer.read.raising.demand import Demand
from transformer.read.readings import read
from transformer.read.values import Hole
from transformer.run.signature import describe


class Raised(Exception):
    """A `raise` or a failed `assert` of the program."""


class Sequence(dict):
    """What a loop recorded: values by position."""

    def __iter__(self) -> Any:
        return (self[k] for k in sorted(self.keys()))

    def stacked(self) -> list[Any]:
        return [self[k] for k in sorted(self.keys())]


class Evaluator:
    """Values of variables while a function runs."""

    def __init__(self, values: Mapping[Var, Any], dims: Mapping[Any, int]) -> None:
        self.values: dict[Var, Any] = dict(values)
        self.dims = dims
        self.printed: list[str] = []

    def atom(self, atom: Any) -> Any:
        if isinstance(atom, Var):
            return self.values[atom]
        if isinstance(atom, Const):
            return atom.value
        if isinstance(atom, Size):
            return self.size(atom)
        if isinstance(atom, Undefined):
            return UNDEFINED
        return self.attribute(atom)

    def size(self, size: Any) -> int:
        if isinstance(size, int):
            return size
        total = 0
        for monomial, count in size.terms.items():
            for part in monomial:
                count *= self._size_atom(part)
            total += count
        return total

    def _size_atom(self, part: Any) -> int:
        match part:
            case Dim():
                return self.dims[part]
            case Unknown(var):
                return int(self.values[var])
            case Floor(numerator, denominator):
                return self.size(numerator) // self.size(denominator)
            case Least(first, second):
                return min(self.size(first), self.size(second))
            case Greatest(first, second):
                return max(self.size(first), self.size(second))
        raise AssertionError(part)

    def attribute(self, value: Any) -> Any:
        if isinstance(value, (Size, Var, Const)):
            return self.atom(value)
        if isinstance(value, tuple):
            return tuple(self.attribute(item) for item in value)
        if isinstance(value, list):
            return [self.attribute(item) for item in value]
        if isinstance(value, slice):
            return slice(*map(self.attribute, (value.start, value.stop, value.step)))
        return value

    def block(self, block: Block) -> None:
        for stmt in block:
            getattr(self, "_" + type(stmt).__name__.lower())(stmt)

    def _let(self, stmt: Let) -> None:
        args = [self.atom(arg) for arg in stmt.args]
        attrs = {key: self.attribute(value) for key, value in stmt.attrs.items()}
        attrs.pop("spelling", None)
        if stmt.op.name == "stacked" and not args[0]:
            args[0] = np.zeros((0, *map(self.size, stmt.target.type.sizes[1:])), stmt.target.type.dtype)
            attrs, stmt = {}, Let(stmt.targets, Same, stmt.args)
        with np.errstate(all="ignore"):
            result = stmt.op.run(*args, **attrs)
        results = tuple(result) if len(stmt.targets) > 1 else (result,)
        for target, value in zip(stmt.targets, results, strict=True):
            self.values[target] = self.checked(target, value)

    def checked(self, var: Var, value: Any) -> Any:
        """The value, in the class that its type says; its shape and dtype must be those of the type."""
        type = var.type
        if isinstance(type, SeqType) or isinstance(value, Undefined):
            return value
        shape = tuple(self.size(n) for n in type.sizes)
        found = np.asarray(value)
        assert found.shape == shape, f"{var}: {type}, but the value has shape {found.shape}"
        if type.weak:
            assert found.dtype.kind in {"b": "b", "f": "bif", "i": "bi", "c": "bifc"}[type.dtype.kind], (
                f"{var}: {type}, {value!r}"
            )
            return PYTHON_TYPES[WEAK_NAMES[type.dtype.kind]](value)
        given = value.dtype if hasattr(value, "dtype") else None
        assert given is None or given == type.dtype, f"{var}: {type}, but the value has dtype {given}"
        return value if type.sizes else found.astype(type.dtype)[()]

    def _if(self, stmt: If) -> None:
        taken = bool(self.atom(stmt.cond))
        self.block(stmt.then if taken else stmt.orelse)
        values = [self.atom(m.then if taken else m.orelse) for m in stmt.merges]
        for merge, value in zip(stmt.merges, values):
            self.values[merge.target] = self.checked(merge.target, value)

    def _loop(self, stmt: Loop) -> None:
        trips = None if stmt.trips is None else self.atom(stmt.trips)
        state = [self.atom(carry.init) for carry in stmt.carries]
        records = [Sequence() for _ in stmt.records]
        count = 0
        while trips is None or count < trips:
            self.values[stmt.position] = trips - 1 - count if stmt.down else count
            for carry, value in zip(stmt.carries, state):
                self.values[carry.entry] = self.checked(carry.entry, value)
            self.block(stmt.test)
            if stmt.cond is not None and not self.atom(stmt.cond):
                break
            self._reads(stmt)
            self.block(stmt.body)
            for record, made in zip(stmt.records, records):
                made[self.values[stmt.position]] = copy.deepcopy(self.atom(record.value))
            state = [self.atom(carry.next) for carry in stmt.carries]
            count += 1
        for carry, value in zip(stmt.carries, state):
            self.values[carry.out] = self.checked(carry.out, value)
        for record, made in zip(stmt.records, records):
            self.values[record.target] = made.stacked()
        if stmt.count is not None:
            self.values[stmt.count] = count

    def _reads(self, stmt: Loop) -> None:
        for each in stmt.reads:
            self.values[each.target] = self.atom(each.source)[self.values[stmt.position]]

    def _call(self, stmt: Call) -> None:
        results = run(stmt.function, [self.atom(arg) for arg in stmt.args])
        self.values.update(zip(stmt.targets, results, strict=True))

    def _effect(self, stmt: Effect) -> None:
        args = [self.atom(arg) for arg in stmt.args]
        if stmt.kind == "print":
            texts = [self.text(part, args) for part in stmt.attrs["template"]]
            self.printed.append(stmt.attrs["sep"].join(texts) + stmt.attrs["end"])
        elif stmt.kind == "assert":
            if not args[0]:
                parts = stmt.attrs["template"]
                raise Raised(AssertionError, () if parts is None else (self.text(parts, args),))
        elif stmt.kind == "raise":
            parts = stmt.attrs["template"]
            texts = tuple(self.text(p, args) if isinstance(p, tuple) else p for p in parts)
            raise Raised(stmt.attrs["exception"], texts)

    def text(self, pieces: tuple[Any, ...], args: list[Any]) -> str:
        return "".join(_shown(piece, args) for piece in pieces)


def _shown(piece: Any, args: list[Any]) -> str:
    if isinstance(piece, str):
        return piece
    assert isinstance(piece, Hole)
    conversion = f"!{piece.conversion}" if piece.conversion else ""
    return ("{" + conversion + ":" + piece.spec + "}").format(args[piece.k])


def run(function: Function, args: list[Any]) -> list[Any]:
    """The results of a Core function for the values of its parameters."""
    evaluator = evaluated(function, args)
    return [evaluator.atom(atom) for atom in function.results]


def evaluated(function: Function, args: list[Any]) -> Evaluator:
    """The values of all variables after a Core function has run; its guards must hold."""
    values = dict(zip(function.params, args, strict=True))
    dims = {dim: values[var].shape[axis] for dim, (var, axis) in function.dims.items()}
    numbers = {Unknown(var): value for var, value in values.items() if isinstance(value, int)}
    for guard in function.guards:
        assert guard.holds({**dims, **numbers}), f"the guard {guard} does not hold"
    evaluator = Evaluator(values, dims)
    evaluator.block(function.body)
    return evaluator


def read_call(function: Any, *args: Any, **kwargs: Any) -> Reading:
    """Reads a function for a call; what has to be static becomes so, as a dispatcher does it."""
    static: set[str] = set()
    while True:
        names = argument_names(function, len(args))
        described = describe(args, kwargs, names, static)
        try:
            return read(function, described.args, described.kwargs, hints=described.hints, smallest=2)
        except Demand as demand:
            if demand.paths <= static:
                raise demand.error() from None
            static |= demand.paths


@dataclass
class Outcome:
    """What a call did: its result, what it printed, and the arrays it wrote to, by path."""

    result: Any
    printed: str
    written: dict[str, Any]


def evaluate_call(reading: Reading, function: Any, *args: Any, **kwargs: Any) -> Outcome:
    """Calls the Core of a function, on copies of the arguments."""
    bound = signature_of(function).bind(*copy.deepcopy(args), **copy.deepcopy(kwargs)).arguments
    values: dict[Var, Any] = {hidden.var: hidden.fetch() for hidden in reading.interface.hidden}
    for parameter in reading.interface.parameters:
        if parameter.name in bound:
            match(parameter.tree, bound[parameter.name], values)
    evaluator = evaluated(reading.function, [values[param] for param in reading.function.params])
    results = [evaluator.atom(atom) for atom in reading.function.results]
    result = tree.map(lambda leaf: results[leaf.k] if isinstance(leaf, Result) else leaf, reading.interface.result)
    written = {argument.path: evaluator.atom(argument.value) for argument in reading.written}
    return Outcome(result, "".join(evaluator.printed), written)


def match(variables: Any, value: Any, values: dict[Var, Any]) -> None:
    if isinstance(variables, Var):
        values[variables] = value
        return
    kind = kind_of(type(variables))
    if kind is not LEAVES and variables is not None:
        for child, part in zip(kind.split(variables)[1], kind.split(value)[1], strict=True):
            match(child, part, values)
