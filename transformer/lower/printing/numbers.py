"""Expressions of numbers as Python that numba compiles: typed literals, conversions, loop forms."""

from __future__ import annotations

import ast
import builtins
import cmath
import inspect
import math
from typing import Any

import numpy as np

from ...core.grammar import Atom, Const, Let, type_of
from ...ops import scalars
from ...ops.arithmetic import Cast
from ...ops.loops import OPERATORS, is_of, loop_of
from ...ops.value import Value
from ...write.expressions import BINARY, COMPARE, UNARY, dotted, without_sign
from ...write.numbers import number, number_class
from .. import vecmath
from ..nest.alone import alone
from ..nest.nest_walk import statements
from ..nest.nests import Block
from .functions import Functions

FLOAT64 = np.dtype(float)
WIDER = {np.dtype(narrow): np.dtype(wide)      # integers through which floating-point numbers become others
         for wide, narrow_ones in (("i4", ("i1", "u1", "i2", "u2")), ("i8", ("u4",))) for narrow in narrow_ones}
LEAST = -2 ** 63                       # the least of 64 bits: to numba, what it is the negative of is unsigned
OTHER_SIGN = {"+": "-", "-": "+"}
OF_LAST_BITS = frozenset(("+", "-", "*", "&", "|", "^", "~"))   # of operands as well as of the result
OF_WORDS = OF_LAST_BITS | {"//", "%", "<<", ">>", *COMPARE}
PRINTED_INSIDE = (scalars.same, scalars.chosen, scalars.real_part, scalars.imaginary_part)


def literal(const: Const) -> ast.expr:
    """A constant in its dtype: what has another one than Python's numbers says so."""
    dtype = const.type.dtype
    if const.name is not None and "." in const.name and dtype == FLOAT64:
        return ast.parse(const.name, mode="eval").body
    value = dtype.type(const.value).item()
    if dtype == np.float32 and math.isfinite(value):
        value = float(str(dtype.type(value)))                            # its own shortest digits
    plain = _plain(value)
    is_plain = dtype.name in ("float64", "int64", "bool", "complex128") and value != LEAST
    return plain if is_plain else typed(plain, dtype)


def _plain(value: Any) -> ast.expr:
    if isinstance(value, complex):
        return ast.Call(ast.Name("complex"), [number(value.real), number(value.imag)], [])
    return ast.Constant(value) if isinstance(value, bool) or value is None else number(value)


def dtype_tree(dtype: np.dtype) -> ast.expr:
    """`np.float32`."""
    return dotted("np.bool_") if dtype.kind == "b" else number_class(dtype)


def typed(tree: ast.expr, dtype: np.dtype) -> ast.expr:
    """`np.float32(tree)`."""
    return ast.Call(dtype_tree(dtype), [tree], [])


def converted(tree: ast.expr, source: np.dtype, target: np.dtype) -> ast.expr:
    """A number in another dtype, as NumPy converts it."""
    if source.kind == "c" and target.kind in "iuf":
        tree, source = ast.Attribute(tree, "real"), np.dtype(f"f{source.itemsize // 2}")
    if target.kind == "b":
        return ast.Compare(tree, [ast.NotEq()], [ast.Constant(0)])
    if source == target:
        return tree
    if target == FLOAT64 and source.kind in "iu":                        # of a float32, numba's float is one
        return ast.Call(ast.Name("float"), [tree], [])
    if source.kind == "f" and target in WIDER:                           # by itself numba's would stop at the least
        tree = typed(tree, WIDER[target])                                # and the largest number, where NumPy's wraps
    return typed(tree, target)


class Numbers:
    """Builds the expressions of ops on numbers; `functions` collects those that are called."""

    def __init__(self, functions: Functions) -> None:
        self.functions = functions
        self.alone: set[int] = set()             # statements, by their identity, that compute a single number

    def collect(self, block: Block) -> None:
        """Names the functions that a block calls, before anything else gets a name."""
        self.alone = set(map(id, alone(block)))
        for stmt in statements(block):
            if isinstance(stmt, Let) and stmt.op.elementwise:
                self.form(stmt)

    def application(self, stmt: Let, args: list[ast.expr]) -> ast.expr:
        """An op on numbers, in the dtype of its result."""
        types: list[Any] = list(map(type_of, stmt.args))
        result: np.dtype = stmt.target.type.dtype                        # type: ignore[union-attr]
        if stmt.op is Cast:
            return converted(args[0], types[0].dtype, result)
        dtype = types[-1].dtype
        form = self.form(stmt)
        if form is scalars.same:
            return converted(args[0], dtype, result)
        if OPERATORS.get(form) in OF_WORDS and is_narrow(dtype) and all(type.dtype == dtype for type in types):
            args = _widened(form, stmt.args, args)
        tree = self._formed(form, args, dtype, stmt.attrs)
        return _wrapped_around(tree, result) if _is_widened(form, result) else tree

    def form(self, stmt: Let) -> Any:
        """The loop form of an op for its operands; one that is copied gets its name."""
        dtype: np.dtype = type_of(stmt.args[-1]).dtype                   # type: ignore[union-attr]
        form = loop_of(stmt.op, dtype.kind)
        if dtype.kind in "iu" and stmt.op.by_operator is not None and stmt.op.by_operator(*map(Value, stmt.args)):
            return next(call for call in stmt.op.calls if call in OPERATORS)
        if self.functions.vectorised and not stmt.target.type.weak and id(stmt) not in self.alone:   # type: ignore[union-attr]
            form = vecmath.FORMS.get(stmt.op.name, {}).get(dtype, form)  # Python's own numbers stay with `math`
        form = self.functions.instead.get((form, dtype.kind), form)
        if inspect.isfunction(form) and form not in PRINTED_INSIDE:
            self.functions.called(form, dtype)
        return form

    def _formed(self, form: Any, args: list[ast.expr], dtype: np.dtype, attrs: dict[str, Any]) -> ast.expr:
        if form in OPERATORS:
            return operation(OPERATORS[form], args)
        if form is scalars.chosen:
            return choice(*args)
        if form in (scalars.real_part, scalars.imaginary_part):
            return ast.Attribute(args[0], "real" if form is scalars.real_part else "imag")
        for module, prefix in ((builtins, ""), (math, "math."), (cmath, "cmath."), (np, "np.")):
            if is_of(module, form):
                assert not attrs, f"{form} does not take {attrs}"
                return ast.Call(dotted(prefix + form.__name__), args, [])
        name = self.functions.called(form, dtype)
        keywords = [ast.keyword(key, _plain(item)) for key, item in attrs.items()]
        return ast.Call(ast.Name(name), args, keywords)


def _wrapped_around(tree: ast.expr, dtype: np.dtype) -> Any:
    """`np.int32(tree)`, of an integer: its last bits, which are marked as such."""
    wrapped: Any = typed(tree, dtype)
    wrapped.last_bits = tree
    return wrapped


def is_narrow(dtype: np.dtype) -> bool:
    """Whether numbers of a dtype are integers that are all among those of 64 bits in which numba computes. Unsigned
    ones are not: of uint64 and the int64 of a literal it makes a float."""
    return dtype.kind == "i" and dtype.itemsize < 8


def _widened(form: Any, atoms: tuple[Atom, ...], trees: list[Any]) -> list[Any]:
    """Operands as they are in 64 bits: literals need no dtype, and what only decides the last bits of a result need not
    be wrapped around by itself."""
    plain = [_plain(int(atom.value)) if isinstance(atom, Const) else tree
             for atom, tree in zip(atoms, trees, strict=True)]
    if OPERATORS[form] not in OF_LAST_BITS:
        return plain
    return [getattr(tree, "last_bits", tree) for tree in plain]


def _is_widened(form: Any, result: np.dtype) -> bool:
    """Whether numba computes in a wider integer than NumPy: the result has to wrap around."""
    compares = OPERATORS.get(form, "") in COMPARE or form in OPERATORS and OPERATORS[form] == "not"
    return not compares and (result.kind == "u" or result.kind == "i" and result.itemsize < 8)


def choice(test: ast.expr, then: ast.expr, orelse: ast.expr) -> ast.expr:
    """`then if test else orelse`; `test and then` where the test is what else there is, `test or orelse` likewise."""
    same = ast.dump(test)
    if ast.dump(orelse) == same:
        return ast.BoolOp(ast.And(), [test, then])
    if ast.dump(then) == same:
        return ast.BoolOp(ast.Or(), [test, orelse])
    return ast.IfExp(test, then, orelse)


def operation(symbol: str, args: list[ast.expr]) -> ast.expr:
    """An operator applied to trees."""
    if symbol == "not":
        return ast.UnaryOp(ast.Not(), args[0])
    if len(args) == 1:
        positive = without_sign(args[0]) if symbol == "-" else None
        return ast.UnaryOp(UNARY[symbol](), args[0]) if positive is None else positive
    if symbol in COMPARE:
        return ast.Compare(args[0], [COMPARE[symbol]()], [args[1]])
    positive = without_sign(args[1]) if symbol in OTHER_SIGN else None
    if positive is not None:
        return ast.BinOp(args[0], BINARY[OTHER_SIGN[symbol]](), positive)            # a + -2 * b is a - 2 * b
    return ast.BinOp(args[0], BINARY[symbol](), args[1])
