"""From applications of ops to expressions of Python."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ..core.errors import NotSupported
from ..core.grammar import Call, Const, Function, If, Let, Merge, Var, type_of
from ..core.halves import BFLOAT16, is_bfloat16
from ..core.sizes import Size
from ..core.types import BOOL, INT, WEAK_NAMES, ArrayType
from ..ops.arithmetic import has_opposite
from ..ops.regions import Slot
from ..ops.registry import is_defined
from ..ops.table import spelling_of
from ..ops.value import hands_on
from .aliasing import Aliases
from .conjunctions import chosen, conjunction, inverted
from .constants import Constants
from .demand import Demand, printed_attrs
from .fitting import Nesting
from .numbers import number
from .ranges import is_integer
from .sizes import SizePlan
from .special import FORMS
from .stores import Store

BINARY = {
    "+": ast.Add,
    "-": ast.Sub,
    "*": ast.Mult,
    "/": ast.Div,
    "//": ast.FloorDiv,
    "%": ast.Mod,
    "**": ast.Pow,
    "@": ast.MatMult,
    "&": ast.BitAnd,
    "|": ast.BitOr,
    "^": ast.BitXor,
    "<<": ast.LShift,
    ">>": ast.RShift,
}
UNARY = {"-": ast.USub, "+": ast.UAdd, "~": ast.Invert}
COMPARE = {"<": ast.Lt, "<=": ast.LtE, ">": ast.Gt, ">=": ast.GtE, "==": ast.Eq, "!=": ast.NotEq}

POSITIONAL = frozenset(
    {
        "shape",
        "reps",
        "repeats",
        "shift",
        "N",
        "M",
        "axis1",
        "axis2",
        "decimals",
        "ndigits",
        "start",
        "stop",
        "step",
        "num",
        "pad_width",
        "source",
        "destination",
    }
)
SHORTER = {"np.absolute": "np.abs", "np.conjugate": "np.conj"}


class Expressions:
    """Builds expressions. `name` gives the tree of a variable that has a name, `read` that of a row
    of a sequence, `row` that of the place where a value is stored; whoever prints loops sets them."""

    name: Callable[[Var], ast.expr]
    read: Callable[[Any, Any], ast.expr]
    row: Callable[[Store], ast.expr]
    callees: dict[Function, str]

    def __init__(
        self,
        needed: Demand,
        nesting: Nesting,
        sizes: SizePlan,
        constants: Constants,
        aliases: Aliases,
        namespace: dict[str, Any],
    ) -> None:
        self.needed = needed
        self.nesting = nesting
        self.sizes = sizes
        self.constants = constants
        self.aliases = aliases
        self.namespace = namespace

    # -- atoms ------------------------------------------------------------------------------

    def atom(self, atom: Any, among: tuple[Any, ...] = ()) -> ast.expr:
        """An operand; `among` are the operands beside it, which may settle its dtype."""
        if isinstance(atom, Var):
            return self.var(atom)
        if isinstance(atom, Size):
            return self.sizes.tree(atom, self.var)
        return self.constants.tree(atom, any(_settles(other, atom) for other in among if other is not atom))

    def var(self, var: Var) -> ast.expr:
        if var in self.nesting.rows:
            return self.row(self.nesting.rows[var])
        return self.definition(var) if var in self.nesting.values else self.name(var)

    def _leads_with_sign(self, atom: Any) -> bool:
        """Whether the first factor of a product may be negated in place of it: no truth value may, and
        integers of NumPy's wrap around in their own dtype."""
        while (product := self._product(atom)) is not None:
            atom, dtype = product.args[0], product.target.type.dtype             # type: ignore[union-attr]
            if not (type_of(atom) == INT and dtype.kind in "fc" or has_opposite(atom, dtype)):
                return False
        return True

    def definition(self, var: Var) -> ast.expr:
        """What a variable is, as an expression."""
        kind, stmt, item, _ = self.needed.homes[var]
        if kind == "merge":
            return self.conditional(stmt, item)
        if kind == "read":
            return self.read(item.source, stmt)
        return self.called(stmt) if kind == "call" else self.application(stmt)

    def called(self, stmt: Call) -> ast.expr:
        """The call of a function that is printed, too."""
        return ast.Call(ast.Name(self.callees[stmt.function]), [self.atom(atom) for atom in stmt.args], [])

    def test(self, cond: Any) -> ast.expr:
        """A condition, which may be of any kind of truth value."""
        stmt = self.needed.homes[cond].stmt if cond in self.nesting.values else None
        is_not = isinstance(stmt, Let) and stmt.op.name == "logical_not" and "spelling" not in stmt.attrs
        return self.inverted(stmt.args[0]) if is_not else self.atom(cond)         # type: ignore[union-attr]

    def inverted(self, cond: Any) -> ast.expr:
        """`not condition`."""
        stmt = self.needed.homes[cond].stmt if cond in self.nesting.values else None
        types = [type_of(atom) for atom in stmt.args] if isinstance(stmt, Let) else []
        of_integers = all(isinstance(type, ArrayType) and type.dtype.kind in "biu" for type in types)
        return inverted(self.atom(cond), bool(types) and of_integers)

    # -- conditional expressions ------------------------------------------------------------

    def conditional(self, stmt: If, merge: Merge) -> ast.expr:
        """`a if c else b`, or `a and b` and `a or b` where one side is what was tested."""
        test, then, orelse = self.atom(stmt.cond), merge.then, merge.orelse
        if _is(then, True) and _is(orelse, False) and _is_bool(stmt.cond):
            return test if type_of(stmt.cond) == type_of(merge.target) else ast.Call(ast.Name("bool"), [test], [])
        if _is(then, False) and _is(orelse, True) and type_of(merge.target) == BOOL:
            return ast.UnaryOp(ast.Not(), test)
        if orelse is stmt.cond or _is_bool(stmt.cond) and _is_bool(then) and _is(orelse, False):
            return conjunction(test, self.atom(then))
        if then is stmt.cond or _is_bool(stmt.cond) and _is_bool(orelse) and _is(then, True):
            return ast.BoolOp(ast.Or(), [test, self.atom(orelse)])
        sides = self._side(merge, "then"), self._side(merge, "orelse")
        return chosen(self.test(stmt.cond), *sides, merge.target)

    def _side(self, merge: Merge, side: str) -> ast.expr:
        tree = self.atom(getattr(merge, side))
        return copied(tree) if (merge, side) in self.aliases.edges else tree

    # -- applications -----------------------------------------------------------------------

    def application(self, stmt: Let) -> ast.expr:
        """The expression of a statement; a copy where storage has to be its own."""
        tree = self._application(stmt)
        return copied(tree) if stmt.target in self.aliases.views else tree

    def _application(self, stmt: Let) -> ast.expr:
        if stmt.op.source is not None:
            return stmt.op.source(*map(self.atom, stmt.args), **printed_attrs(stmt))
        special = FORMS.get(stmt.op.name)
        tree = special(self, stmt) if special is not None else None
        if tree is not None:
            return tree
        if "spelling" not in stmt.attrs and stmt.op.symbol is not None:
            return self.operator(stmt)
        return self.call(stmt)

    def operator(self, stmt: Let) -> ast.expr:
        symbol = stmt.op.symbol
        if symbol in ("+", "-") and isinstance(stmt.args[-1], Size) and len(stmt.args) == 2 and is_integer(stmt.target):
            return self.moved(stmt)
        operands = [self.atom(atom, stmt.args) for atom in stmt.args]
        if len(operands) == 1:
            if symbol == "-" and self._leads_with_sign(stmt.args[0]):
                return negated(operands[0])
            return ast.UnaryOp(UNARY[symbol](), operands[0])
        left, right = operands
        if symbol in COMPARE:
            return ast.Compare(left, [COMPARE[symbol]()], [right])
        symbol, right = self.turned(symbol, right, stmt.args[1], stmt.target)
        return ast.BinOp(left, BINARY[symbol](), right)

    def moved(self, stmt: Let) -> ast.expr:
        """An integer and a size, term by term: `i + n - 1`."""
        first, size = stmt.args
        assert isinstance(size, Size)
        tree = self.atom(first)
        return self.sizes.added(tree, size, self.var, 1 if stmt.op.symbol == "+" else -1) or tree

    def turned(self, symbol: str, tree: ast.expr, operand: Any, result: Var) -> tuple[str, ast.expr]:
        """An operator and the operand behind it, `tree`: a minus in front of that makes a difference of a sum."""
        positive = without_sign(tree) if symbol in "+-" and self._has_opposite(operand, result) else None
        return (symbol, tree) if positive is None else ("-" if symbol == "+" else "+", positive)

    def _has_opposite(self, operand: Any, result: Var) -> bool:
        """Whether the first factor of an operand may be negated in place of it, as the sign stands there."""
        while has_opposite(operand, result.type.dtype):                          # type: ignore[union-attr]
            product = self._product(operand)
            if product is None:
                return True
            operand, result = product.args[0], product.target
        return False

    def _product(self, atom: Any) -> Let | None:
        """The product or quotient that is printed where an operand stands."""
        if not isinstance(atom, Var) or atom not in self.nesting.values or atom in self.nesting.rows:
            return None
        _, stmt, _, _ = self.needed.homes[atom]
        return stmt if isinstance(stmt, Let) and stmt.op.symbol in ("*", "/") else None

    def call(self, stmt: Let) -> ast.expr:
        """A call, positional for operands and shapes, with keywords for other attributes."""
        among = stmt.args if stmt.op.elementwise and not hands_on(stmt) else ()
        operands = [self.atom(atom, among) for atom in stmt.args]
        spelling, wrap = spelled(stmt)
        args: list[ast.expr] = [ast.List(operands)] if stmt.op.variadic else _without_calls(spelling, operands)
        attrs = {key: item for key, item in printed_attrs(stmt).items() if item is not None}
        keywords: list[ast.keyword] = []
        skipped = False  # behind an attribute left out, the others go by name
        for key, keyword_only in _attributes(stmt.op):
            if key not in attrs:
                skipped = True
            elif key in POSITIONAL and not (keyword_only or skipped or keywords):
                args.append(self.attribute(attrs[key]))
            else:
                keywords.append(ast.keyword(key, self.attribute(attrs[key])))
        if is_defined(stmt.op) and "." not in spelling:
            self.namespace[spelling] = stmt.op.function
        tree: ast.expr = ast.Call(dotted(spelling), args, keywords)
        return tree if wrap is None else ast.Call(ast.Name(wrap), [tree], [])

    def attribute(self, value: Any) -> ast.expr:
        """A static attribute as an expression."""
        if isinstance(value, (Size, Var, Const)):
            return self.atom(value)
        if isinstance(value, tuple):
            if any(isinstance(item, Size) for item in value):
                return self.sizes.shape(value, self.var)
            return ast.Tuple([self.attribute(item) for item in value])
        if isinstance(value, list):
            return ast.List([self.attribute(item) for item in value])
        if isinstance(value, slice):
            return ast.Slice(
                *(None if item is None else self.attribute(item) for item in (value.start, value.stop, value.step))
            )
        if isinstance(value, (np.dtype, type)):
            return dtype_tree(value)
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, (int, float, complex)) and not isinstance(value, bool):
            return number(value)
        if value is None or value is Ellipsis or isinstance(value, (bool, str)):
            return ast.Constant(value)
        kind = type(value)
        raise NotSupported(f"an option of class {kind.__name__} cannot be written as source",
                           instead="Use numbers, strings, None, or tuples of these.")

    # -- indices ----------------------------------------------------------------------------

    def subscript(self, base: ast.expr, index: tuple[Any, ...], slots: tuple[Any, ...]) -> ast.Subscript:
        """`base[index]`, without the whole slices at its end."""
        entries = list(index)
        while len(entries) > 1 and entries[-1] == slice(None) and any(e is not None for e in entries[:-1]):
            entries.pop()
        trees = [self._entry(entry, slots) for entry in entries]
        if not trees:
            return ast.Subscript(base, ast.Tuple([]))
        return ast.Subscript(base, trees[0] if len(trees) == 1 else ast.Tuple(trees))

    def _entry(self, entry: Any, slots: tuple[Any, ...]) -> ast.expr:
        if isinstance(entry, Slot):
            return self.atom(slots[entry.k])
        if isinstance(entry, slice):
            step = None if entry.step == 1 else entry.step
            return ast.Slice(
                *(None if item is None else self._entry(item, slots) for item in (entry.start, entry.stop, step))
            )
        return self.attribute(entry)


# -- small trees --------------------------------------------------------------------------------


def copied(tree: ast.expr) -> ast.expr:
    """`tree.copy()`."""
    return ast.Call(ast.Attribute(tree, "copy"), [], [])


def negated(tree: ast.expr) -> ast.expr:
    """`-tree`; of a product or quotient, with the sign at its first factor, as one writes it."""
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, (ast.Mult, ast.Div)):
        return ast.BinOp(negated(tree.left), tree.op, tree.right)
    return ast.UnaryOp(ast.USub(), tree)


def without_sign(tree: ast.expr) -> ast.expr | None:
    """`x` for `-x`, and `a * b` for `-a * b`; None for what has no minus in front."""
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        return tree.operand
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, (ast.Mult, ast.Div)):
        left = without_sign(tree.left)
        return None if left is None else ast.BinOp(left, tree.op, tree.right)
    return None


def dotted(name: str) -> ast.expr:
    """`np.linalg.norm` as a tree."""
    first, *rest = name.split(".")
    tree: ast.expr = ast.Name(first)
    for part in rest:
        tree = ast.Attribute(tree, part)
    return tree


def dtype_tree(dtype: Any) -> ast.expr:
    """A dtype as it is usually written: `int`, `bool`, `np.float32`."""
    if isinstance(dtype, type) and dtype in (float, int, bool, complex):
        return ast.Name(dtype.__name__)
    if dtype is BFLOAT16 or is_bfloat16(np.dtype(dtype)):
        return dotted("ml_dtypes.bfloat16")
    name = np.dtype(dtype).name
    plain = {"int64": "int", "bool": "bool", "complex128": "complex", "float64": "float"}
    return ast.Name(plain[name]) if name in plain else dotted(f"np.{name}")


# -- spelling -----------------------------------------------------------------------------------


def spelled(stmt: Let) -> tuple[str, str | None]:
    """How the op of a statement is called, and the Python type that its result is converted to: an op
    without a spelling gives a Python number where its operands are Python numbers."""
    spelling = stmt.attrs.get("spelling")
    if spelling is not None:
        return SHORTER.get(spelling, spelling), None
    python, general = _spellings(stmt.op)
    if getattr(stmt.target.type, "weak", False):
        if python is not None or len(stmt.targets) > 1:
            return python or general, None
        return general, WEAK_NAMES[stmt.target.type.dtype.kind]                # type: ignore[union-attr]
    return general, None


@cache
def _spellings(op: Any) -> tuple[str | None, str]:
    """The spelling for Python numbers, and that for everything."""
    if is_defined(op):
        return None, op.spelling
    if op.helper:
        return None, op.name
    found = [call if isinstance(call, str) else spelling_of(call) for call in op.calls]
    known = [SHORTER.get(spelling, spelling) for spelling in found if spelling is not None]
    if not known:
        raise NotSupported(f"{op.name} cannot be written with NumPy", instead="Use NumPy functions.")
    python = next((s for s in known if not s.startswith(("np.", "scipy."))), None)
    return python, known[0]


@cache
def _attributes(op: Any) -> tuple[tuple[str, bool], ...]:
    """The attributes of an op in order, and whether NumPy takes them by keyword only."""
    parameters = inspect.signature(op.types).parameters.values()
    return tuple((p.name, p.kind is p.KEYWORD_ONLY) for p in parameters if p.name not in op.operands)


# -- questions ----------------------------------------------------------------------------------


def _settles(other: Any, atom: Const) -> bool:
    """Whether another operand makes the dtype of a number plain."""
    type = type_of(other)
    return isinstance(type, ArrayType) and not type.weak and type.dtype == atom.type.dtype


def _is(atom: Any, value: bool) -> bool:
    return isinstance(atom, Const) and _is_bool(atom) and bool(atom.value) is value


def _without_calls(spelling: str, operands: list[ast.expr]) -> list[ast.expr]:
    """`a, b, c` of `min(min(a, b), c)`, as Python's `min` and `max` take numbers one after the other."""
    first = operands[0] if spelling in ("min", "max") and len(operands) > 1 else None
    if isinstance(first, ast.Call) and isinstance(first.func, ast.Name) and first.func.id == spelling:
        return [*first.args, *operands[1:]]
    return operands


def _is_bool(atom: Any) -> bool:
    type = type_of(atom)
    return isinstance(type, ArrayType) and type.dtype.kind == "b"
