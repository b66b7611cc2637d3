"""Functions of float16 and bfloat16 computed in float32: the last step before a function is printed or lowered.

    def f(x):  # f16[n]                         def f(x):
        return np.sum(np.exp(x) * 0.5)              x = x.astype(np.float32)
                                                    return np.float16(np.sum(np.exp(x) * 0.5))

Arguments are converted where they come in and results where they go out; between them nothing is rounded but what the
program converts itself (`y.astype(np.float16)`). So a sum is rounded once, and products of matrices are those of
float32. The types of all results were found before, by NumPy's rules for float16.

What is compiled for processors takes and gives float32: its entry converts (`write/entry.py`). GPUs load and store 16
bits, and have units that multiply matrices of them and add up in float32: there products take and give 16 bits.
"""

from __future__ import annotations

from typing import Any, assert_never

import numpy as np

from ..core.errors import NotSupported
from ..core.grammar import (
    Block,
    Call,
    Const,
    Effect,
    Function,
    If,
    Let,
    Loop,
    Stmt,
    Var,
    type_of,
)
from ..core.halves import FLOAT16, FLOAT32, Bfloat16, is_half, of_core
from ..core.types import ArrayType, SeqType
from ..core.walk import all_definitions, blocks_of, reachable, substitute, targets_of
from ..ops.arithmetic import Cast, Ldexp
from ..ops.identity import Same
from ..ops.rounded import ToBfloat16, ToFloat16
from ..ops.value import rule_attrs
from ..read.interface import Interface

FLOAT64, COMPLEX128 = np.dtype(float), np.dtype(complex)
EXACT = frozenset(("zeros", "ones", "empty", "eye", "identity", "tri"))     # of which the elements need no rounding
OF_DIGITS = frozenset(("nextafter", "spacing"))                             # which depend on the dtype


def in_float32(function: Function, interface: Interface, *, by_entry: bool, but_products: bool = False) -> bool:
    """Rewrites a function, and those that it calls, in place; whether there was anything to rewrite. Arguments and
    results are converted in the function, or (`by_entry`) by its caller: then `interface.halves` says which. With
    `but_products` those of matrices stay in 16 bits."""
    functions = reachable(function)
    if not any(map(_mentions_half, functions)):
        return False
    widening = _Widening(functions, by_entry, but_products)
    widening.run()
    if by_entry:
        _noted(function, interface)
    else:
        _converted(function, widening.narrow)
    for each in functions:
        for var in (*each.params, *all_definitions(each.body)):
            if var not in widening.narrow:
                var.type = widened(var.type)
    return True


def widened(type: Any) -> Any:
    """A type with float32 in place of what has 16 bits."""
    if isinstance(type, SeqType):
        return SeqType(widened(type.element))
    return ArrayType(FLOAT32, type.sizes) if _is_half(type) else type


def _is_half(type: Any) -> bool:
    return isinstance(type, ArrayType) and is_half(type.dtype)


def _holds_half(type: Any) -> bool:
    return _holds_half(type.element) if isinstance(type, SeqType) else _is_half(type)


def _mentions_half(function: Function) -> bool:
    variables = (*function.params, *all_definitions(function.body))
    return any(_holds_half(var.type) for var in variables) or any(_is_half(type_of(atom)) for atom in function.results)


# -- arguments and results -------------------------------------------------------------------------


def _noted(function: Function, interface: Interface) -> None:
    interface.halves |= {param: param.type.dtype for param in function.params if _is_half(param.type)}  # type: ignore[union-attr]
    results = enumerate(map(type_of, function.results))
    interface.halves |= {k: type.dtype for k, type in results if _is_half(type)}           # type: ignore[union-attr]
    function.results = list(map(_const, function.results))


def _converted(function: Function, narrow: set[Var]) -> None:
    """Conversions at the start and at the end of a function. `narrow` are the variables that keep 16 bits."""
    wide = {param: Var(widened(param.type), param.name) for param in function.params if _is_half(param.type)}
    narrow.update(wide)
    for stmt in function.body:
        substitute(stmt, wide)
    results = {atom for atom in function.results if isinstance(atom, Var) and _is_half(atom.type) and atom not in wide}
    made: dict[Any, Var] = {atom: Var(atom.type, atom.name) for atom in results}
    narrow.update(made.values())
    body: Block = [_cast(target, param, FLOAT32) for param, target in wide.items()]
    for stmt in function.body:
        body.append(stmt)
        body += [_cast(made[var], var, var.type.dtype) for var in targets_of(stmt) if var in made]    # type: ignore[union-attr]
    function.results = [made.get(atom, atom) for atom in function.results]
    function.body = body


def _cast(target: Var, source: Any, dtype: np.dtype[Any], origin: Any = None) -> Let:
    return Let((target,), Cast, (source,), {"dtype": dtype}, origin)


def _const(atom: Any) -> Any:
    """A constant of 16 bits as one of float32."""
    if isinstance(atom, Const) and _is_half(atom.type):
        return Const(np.float32(atom.value), ArrayType(FLOAT32), atom.name)
    return atom


# -- statements ------------------------------------------------------------------------------------


class _Widening:
    """Rewrites the statements of functions; types are still what they were."""

    def __init__(self, functions: list[Function], by_entry: bool, but_products: bool) -> None:
        self.functions, self.by_entry, self.but_products = functions, by_entry, but_products
        self.narrow: set[Var] = set()            # variables that keep their 16 bits
        self.views: dict[Any, Let] = {}          # what moves the numbers of one array, and computes nothing

    def run(self) -> None:
        for k, function in enumerate(self.functions):
            function.body[:] = self.block(function.body)
            if k:
                function.results = list(map(_const, function.results))

    def block(self, block: Block) -> Block:
        found: Block = []
        for stmt in block:
            found += self.stmt(stmt)
        return found

    def stmt(self, stmt: Stmt) -> Block:
        match stmt:
            case Let():
                return self.let(stmt)
            case Call() | Effect():
                stmt.args = tuple(map(_const, stmt.args))
            case If():
                for merge in stmt.merges:
                    merge.then, merge.orelse = _const(merge.then), _const(merge.orelse)
            case Loop():
                for carry in stmt.carries:
                    carry.init, carry.next = _const(carry.init), _const(carry.next)
                for record in stmt.records:
                    record.value = _const(record.value)
            case _:
                assert_never(stmt)
        for block in blocks_of(stmt):
            block[:] = self.block(block)
        return [stmt]

    def let(self, stmt: Let) -> Block:
        types = [type_of(atom) for atom in stmt.args]
        if _is_view(stmt) and _is_half(types[0]):
            self.views[stmt.target] = stmt
        gives, takes = any(_holds_half(each.type) for each in stmt.targets), any(map(_holds_half, types))
        if not (gives or takes):
            return [stmt]
        if stmt.op.name in OF_DIGITS:
            return self.of_digits(stmt)
        if self.but_products and _is_of_matrices(stmt):
            return self.in_own_dtype(stmt)
        named = _named(stmt.attrs)
        stmt.args, stmt.attrs = tuple(map(_const, stmt.args)), _attrs(stmt.attrs)
        if stmt.op is Cast and gives and types[0].dtype == named:                          # type: ignore[union-attr]
            if stmt.target.type.sizes:                                   # type: ignore[union-attr]
                return [_cast(stmt.target, stmt.args[0], FLOAT32, stmt.origin)]            # a copy
            return [Let(stmt.targets, Same, stmt.args, {}, stmt.origin)]
        if _is_of_transformation(stmt, types):
            return [stmt]
        if named is not None and (not takes or stmt.op is Cast) and stmt.op.name not in EXACT:
            return self.rounded(stmt, named)
        if not stmt.op.elementwise or gives == takes:
            return [stmt]
        if gives:                                # np.sin of small integers is a float16, but computed in float32
            return [*self.in_dtype(stmt, FLOAT32), stmt]
        return [*(self.in_dtype(stmt, FLOAT64) if self.is_double(stmt, types) else ()), stmt]

    def is_double(self, stmt: Let, types: list[Any]) -> bool:
        """Whether an op takes float16 for float64, as those of `scipy.special` do."""
        found: list[Any] = [each.type for each in stmt.targets]
        return any(each.dtype in (FLOAT64, COMPLEX128) for each in found) and \
            all(each.weak or is_half(each.dtype) for each in types)

    def rounded(self, stmt: Let, dtype: np.dtype[Any]) -> Block:
        """What the program asks for in 16 bits: computed in float32, and rounded."""
        before: Block = []
        if stmt.op is Cast:
            source: Any = stmt.args[0]
        else:
            source = Var(widened(stmt.target.type), stmt.target.name)
            before = [Let((source,), stmt.op, stmt.args, stmt.attrs, stmt.origin)]
        rounded = self.by_rounding if self.by_entry else self.by_conversion
        return [*before, *rounded(stmt.target, source, dtype, stmt.origin)]

    def by_conversion(self, target: Var, source: Any, dtype: np.dtype[Any], origin: Any) -> Block:
        """`x.astype(np.float16).astype(np.float32)`."""
        narrow = self.kept(target)
        return [_cast(narrow, source, dtype, origin), _cast(target, narrow, FLOAT32, origin)]

    def by_rounding(self, target: Var, source: Any, dtype: np.dtype[Any], origin: Any) -> Block:
        """The same by an op of its own, from the precision that the number has."""
        sizes, own = type_of(source).sizes, type_of(source).dtype                          # type: ignore[union-attr]
        precise = FLOAT32 if own == FLOAT32 or is_half(own) or dtype != FLOAT16 else FLOAT64   # as NumPy converts
        wide, found = Var(ArrayType(precise, sizes)), Var(ArrayType(precise, sizes))
        op = ToFloat16 if dtype == FLOAT16 else ToBfloat16
        return [_cast(wide, source, precise, origin), Let((found,), op, (wide,), {}, origin),
                _cast(target, found, FLOAT32, origin)]

    def in_dtype(self, stmt: Let, dtype: np.dtype[Any]) -> Block:
        """Conversions of the operands of a statement, which takes them then."""
        casts: list[Let] = []
        exponent = stmt.args[1] if stmt.op is Ldexp else None            # which stays an integer

        def wide(atom: Any) -> Any:
            if atom is exponent:
                return atom
            if isinstance(atom, Const):
                return Const(dtype.type(atom.value), ArrayType(dtype))
            casts.append(_cast(Var(ArrayType(dtype, type_of(atom).sizes)), atom, dtype, stmt.origin))  # type: ignore[union-attr]
            return casts[-1].target

        stmt.args = tuple(map(wide, stmt.args))
        return [*casts]

    def of_digits(self, stmt: Let) -> Block:
        """An op that looks at the last digit of a number, in the dtype that the program has."""
        if self.by_entry:
            raise NotSupported(f"{stmt.op.name} of {stmt.target.type} cannot be compiled", stmt.origin,
                               why="Compiled code computes in float32, which has different neighbouring numbers.",
                               instead="Run it without jit, or with fallback=True.")
        return self.in_own_dtype(stmt)

    def in_own_dtype(self, stmt: Let) -> Block:
        """A statement in 16 bits between conversions."""
        before: Block = []
        args = tuple(self.narrowed(atom, before, stmt.origin) for atom in stmt.args)
        narrow = self.kept(stmt.target)
        return [*before, Let((narrow,), stmt.op, args, stmt.attrs, stmt.origin),
                _cast(stmt.target, narrow, FLOAT32, stmt.origin)]

    def narrowed(self, atom: Any, block: Block, origin: Any) -> Any:
        """A twin of 16 bits, which the block makes; a view is one of what it is a view of."""
        if not isinstance(atom, Var) or not _is_half(atom.type):
            return atom
        twin, view = self.kept(atom), self.views.get(atom)
        if view is None:
            block.append(_cast(twin, atom, atom.type.dtype, origin))                       # type: ignore[union-attr]
        else:
            base = self.narrowed(view.args[0], block, origin)
            block.append(Let((twin,), view.op, (base, *view.args[1:]), view.attrs, origin))
        return twin

    def kept(self, var: Var) -> Var:
        """A twin of a variable that keeps its 16 bits."""
        twin = Var(var.type, var.name)
        self.narrow.add(twin)
        return twin


def _is_of_transformation(stmt: Let, types: list[Any]) -> bool:
    """Whether a statement brings a number of Python's to the dtype of what it meets, as derivatives do (1 / n in that
    of a mean). A program spells it."""
    return stmt.op is Cast and types[0].weak and "spelling" not in stmt.attrs


def _is_view(stmt: Let) -> bool:
    """Whether NumPy gives a view of the first operand."""
    view = stmt.op.view
    return bool(view(*map(type_of, stmt.args), **rule_attrs(stmt)) if callable(view) else view)


def _is_of_matrices(stmt: Let) -> bool:
    """Whether a statement multiplies two matrices, or stacks of them, of one dtype of 16 bits."""
    types: list[Any] = [stmt.target.type, *map(type_of, stmt.args)]
    return (stmt.op.contraction is not None and len(types) == 3 and all(map(_is_half, types))
            and len({type.dtype for type in types}) == 1 and all(type.rank > 1 for type in types))


def _named(attrs: dict[str, Any]) -> np.dtype[Any] | None:
    """The dtype of 16 bits that a statement asks for."""
    return next((of_core(item) for item in attrs.values() if _names_half(item)), None)


def _names_half(item: Any) -> bool:
    return isinstance(item, np.dtype | Bfloat16) and is_half(item)


def _attrs(attrs: Any) -> Any:
    """Attributes with float32 in place of dtypes of 16 bits, and no spelling that names one."""
    if isinstance(attrs, dict):
        named = _named(attrs) is not None
        return {key: _attrs(item) for key, item in attrs.items()
                if not (named and key == "spelling" and item.endswith("float16"))}
    if isinstance(attrs, tuple):
        return tuple(map(_attrs, attrs)) if any(item is not _attrs(item) for item in attrs) else attrs
    if isinstance(attrs, ArrayType | SeqType):
        return widened(attrs)
    return FLOAT32 if _names_half(attrs) else _const(attrs)
