"""Common subexpressions: what was computed before, in this block or around it, is used again.

>>> from .examples import shown
>>> shown(cse, '''
... function f(c: bool, a: f64, x: f64[n])
...     s: f64[n] = multiply(a, x)
...     u: f64[n] = zeros(shape=(<n>,))
...     v: f64[n] = zeros(shape=(<n>,))
...     if c
...         then
...             t: f64[n] = multiply(x, a)
...             effect print(t)
...     g: f64 = get(x, index=(0,))
...     y: f64[n] = put(x, a, index=(0,))
...     return s, u, v, g, y
... ''')
function f(c: bool, a: f64, x: f64[n])
    s: f64[n] = multiply(a, x)
    u: f64[n] = zeros(shape=(<n>,))
    v: f64[n] = zeros(shape=(<n>,))
    if c
        then
            effect print(s)
    g: f64 = get(x, index=(0,))
    y: f64[n] = put(x, a, index=(0,))
    return s, u, v, g, y

Arrays made anew are never shared, as each may be written in place, but for tables such as `np.arange(n)` and
`np.eye(n)` that nothing writes to, and copies that nothing writes to and that are no results; nor are parts of an array
once it has been written, as they would have to be copied before that.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from ..core.grammar import Block, Const, Function, If, Let, Loop, Merge, Record, Var, type_of
from ..core.guards import Assumptions
from ..core.types import ArrayType
from ..core.walk import WRITES
from .aliasing import Aliasing
from .rewriter import Rewriter, array_type

# Each application is memory of its own.
FRESH = {"full", "array", "flatten", "empty_like", "zeros_like", "ones_like", "full_like"}
TABLES = {"arange", "eye", "tri"}             # made of sizes alone, and rarely written
COMMUTATIVE = {"add", "multiply"}
PRODUCTS = {"matmul", "dot"}                 # those of two vectors commute, too


def cse(function: Function, assumptions: Assumptions) -> bool:
    """Shares common subexpressions in place; says whether there were any."""
    return CommonSubexpressions(function, assumptions).run()


class CommonSubexpressions(Rewriter):
    """`known` has the results by what they are computed from; `added` is new in this block; `made` has the statements
    that made them."""

    def __init__(self, function: Function, assumptions: Assumptions) -> None:
        super().__init__(function, assumptions)
        self.known: dict[Any, tuple[Var, ...]] = {}
        self.added: list[Any] = []
        self.parts: dict[Var, list[Any]] = defaultdict(list)
        self.made: dict[Var, Let] = {}
        self._aliasing: Aliasing | None = None

    def nested(self, block: Block) -> Block:
        outer, self.added = self.added, []
        done = self.block(block)
        for key in self.added:
            self.known.pop(key, None)
        self.added = outer
        return done

    def let(self, stmt: Let) -> None:
        if stmt.op.name in WRITES:
            self._forget_parts(stmt)
        elif self.is_shared(stmt):
            if self._shared(stmt) or stmt.op.alone and self._widened(stmt):
                return
            self.made.update(dict.fromkeys(stmt.targets, stmt))
        self.out.append(stmt)

    def is_shared(self, stmt: Let) -> bool:
        """Whether a statement with the same key may stand for one of this kind."""
        return stmt.op.name in TABLES or bool(stmt.args) and stmt.op.name not in FRESH and stmt.op.name not in WRITES

    def _widened(self, stmt: Let) -> bool:
        """Where this block has one of the results of a statement already, as the eigenvalues that a derivative wants
        the vectors of, both are computed there."""
        for place, op in stmt.op.alone.items():
            attrs = {name: stmt.attrs[name] for name in op.silent if name in stmt.attrs}
            key = key_of(Let((stmt.targets[place],), op, stmt.args, attrs))
            earlier = self.made.get(self.known[key][0]) if key in self.added else None
            if earlier is None or not self._may_stand(stmt.targets[place], earlier.target):
                continue
            targets = (*stmt.targets[:place], earlier.target, *stmt.targets[place + 1:])
            self.replace(stmt.targets[place], earlier.target)
            earlier.targets, earlier.op, earlier.attrs = targets, stmt.op, stmt.attrs
            self.known[key_of(stmt)] = targets
            return True
        return False

    def _shared(self, stmt: Let) -> bool:
        """Lets earlier results stand for those of a statement; notes them if there are none."""
        key = key_of(stmt)
        if key is None:
            return False
        earlier = self.known.setdefault(key, stmt.targets)
        if earlier is not stmt.targets:
            return self.take(stmt.targets, earlier)
        self.added.append(key)
        if stmt.op.name == "get" and stmt.target.type.sizes:                 # type: ignore[union-attr]
            self.parts[stmt.args[0]].append(key)                             # type: ignore[index]
        return False

    def take(self, targets: tuple[Var, ...], earlier: tuple[Var, ...]) -> bool:
        """Lets earlier results stand for these, if they may; says whether they do."""
        if not all(map(self._may_stand, targets, earlier)):
            return False
        for target, before in zip(targets, earlier, strict=True):
            self.replace(target, before)
        return True

    def _may_stand(self, target: Var, before: Var) -> bool:
        if not self.same_type(target.type, before.type):
            return False
        if not getattr(target.type, "sizes", ()):
            return True
        self._aliasing = self._aliasing or Aliasing(self.function)
        return self._aliasing.may_stand(target, before, moved=False)

    def _forget_parts(self, stmt: Let) -> None:
        for key in self.parts.pop(stmt.args[0], ()):                         # type: ignore[arg-type]
            self.known.pop(key, None)

    def after_branch(self, stmt: If) -> None:
        """Equal merges are one."""
        seen: dict[Any, Merge] = {}
        for merge in list(stmt.merges):
            key = tuple(_frozen(atom) if type(atom) is Const else atom for atom in (merge.then, merge.orelse))
            first = seen.setdefault(key, merge)
            if first is not merge and self._may_stand(merge.target, first.target):
                first.saved = first.saved and merge.saved
                self.replace(merge.target, first.target)
                stmt.merges.remove(merge)
        self.out.append(stmt)

    def before_loop(self, stmt: Loop) -> None:
        """Equal reads are one."""
        seen: dict[Any, Var] = {}
        for read in list(stmt.reads):
            first = seen.setdefault(read.source, read.target)
            if first is not read.target:
                self.replace(read.target, first)
                stmt.reads.remove(read)

    def after_loop(self, stmt: Loop) -> None:
        """Equal records are one."""
        seen: dict[Any, Record] = {}
        for record in list(stmt.records):
            first = seen.setdefault(record.value, record)
            if first is not record and self.same_type(first.target.type, record.target.type):
                first.saved = first.saved and record.saved
                self.replace(record.target, first.target)
                stmt.records.remove(record)
        self.out.append(stmt)


def key_of(stmt: Let) -> Any:
    """What a statement computes; None if its attributes cannot be compared."""
    args = [_frozen(atom) if type(atom) is Const else atom for atom in stmt.args]
    if _commutes(stmt):
        args.sort(key=hash)
    key = stmt.op, tuple(args), _frozen(_that_matter(stmt)) if stmt.attrs else ()
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _commutes(stmt: Let) -> bool:
    of_vectors = stmt.op.name in PRODUCTS and all(array_type(atom).rank == 1 for atom in stmt.args)
    return of_vectors or stmt.op.name in COMMUTATIVE


def _that_matter(stmt: Let) -> dict[str, Any]:
    """The attributes of a statement. How a call is spelled decides how numbers are computed, not what ``x.mean()`` and
    ``np.mean(x)`` of an array are."""
    first = type_of(stmt.args[0]) if stmt.args else None
    of_array = first is None or isinstance(first, ArrayType) and first.sizes
    if stmt.op.elementwise or "spelling" not in stmt.attrs or not of_array:
        return stmt.attrs
    return {name: item for name, item in stmt.attrs.items() if name != "spelling"}


def _frozen(value: Any) -> Any:
    """An attribute or constant as a key. Numbers are told apart by type and sign."""
    if type(value) is str:
        return value
    if isinstance(value, Const):
        return "constant", value.type.dtype, value.type.weak, repr(value.value), value.name
    if isinstance(value, (tuple, list)):
        return type(value), tuple(map(_frozen, value))
    if isinstance(value, dict):
        return tuple([(key, _frozen(value[key])) for key in sorted(value)])
    if isinstance(value, slice):
        return "slice", _frozen((value.start, value.stop, value.step))
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return type(value), repr(value)
    return value


