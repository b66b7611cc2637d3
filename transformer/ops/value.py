"""Abstract values: what rules and the reader compute with. Operating on one emits Core.

>>> from ..core.builder import Builder
>>> from ..core.grammar import Var
>>> from ..core.types import FLOAT
>>> import numpy as np
>>> with Builder().active() as builder:
...     x = Value(Var(FLOAT, "x"))
...     y = 2 * np.sin(x)
>>> [stmt.op.name for stmt in builder.block]
['sin', 'multiply']
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ..core.builder import current
from ..core.errors import BadArgument, NotSupported
from ..core.grammar import Atom, Const, Let, Var, type_of
from ..core.sizes import Extent, Size, Unknown, leaves
from ..core.types import BOOL, COMPLEX, FLOAT, INT, ArrayType
from ..core.walk import Copier, atom_of_size
from .registry import how_to_define, is_defined
from .table import lookup, method, spelled

NUMBERS = (bool, int, float, complex, np.generic)


class Value:
    """A dynamic value: an atom of Core. An array that is written in place gets a new `atom`,
    so the identity of a `Value` is the identity of the array that a name refers to.

    `known` is the number it is known to be, when it is a constant that keeps its name.
    """

    __slots__ = ("atom", "known")
    __array_priority__ = 1000.0
    __hash__ = object.__hash__

    def __init__(self, atom: Atom, known: Any = None) -> None:
        self.atom = atom
        self.known = known

    @property
    def type(self) -> Any:
        """An `ArrayType`; a `SeqType` for what a loop recorded."""
        return type_of(self.atom)

    @property
    def shape(self) -> tuple[Extent, ...]:
        normal = current().assumptions.normal
        return tuple(normal(size) for size in self.type.sizes)

    @property
    def dtype(self) -> np.dtype:
        return self.type.dtype

    @property
    def ndim(self) -> int:
        return len(self.type.sizes)

    @property
    def size(self) -> Extent:
        return current().assumptions.normal(self.type.elements)

    def __repr__(self) -> str:
        return f"<{self.type} {self.atom}>"

    def __getattr__(self, name: str) -> Any:
        op = None if name.startswith("_") else method(name)
        if op is None:
            raise AttributeError(f"the attribute {name!r} of an array is not supported here")
        if name in PROPERTIES:
            return apply(op, (self,), {})
        return lambda *args, **kwargs: apply(op, (self, *args), kwargs)

    def __array_ufunc__(self, ufunc: Any, how: str, *inputs: Any, **kwargs: Any) -> Any:
        return call(ufunc if how == "__call__" else getattr(ufunc, how), inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function in STATIC and len(args) == 1 and args[0] is self:
            return getattr(self, function.__name__)
        return call(function, args, kwargs)

    def __bool__(self) -> bool:
        raise NotSupported("the truth value is not known when the function is transformed",
                           instead="Use np.where, or an `if` in a function of your own.")

    def __iter__(self) -> Any:
        length = self.shape[0] if self.ndim else None
        if not isinstance(length, int):
            raise NotSupported("an array cannot be unpacked here, as its length may differ between calls",
                               instead="Pass a list of arrays, or loop over the array with `for`.")
        return iter([self[i] for i in range(length)])

    def __getitem__(self, index: Any) -> Any:
        from .indexing import read
        return read(self, index)


STATIC = {np.shape, np.ndim, np.size}
PROPERTIES = {"T", "real", "imag", "mT"}
Emit = Callable[..., Any]


def _install_operators() -> None:
    """Gives `Value` Python's operators, each the op that the `operator` module's twin resolves to."""
    import operator as op
    binary = {"add": op.add, "sub": op.sub, "mul": op.mul, "truediv": op.truediv, "pow": op.pow,
              "floordiv": op.floordiv, "mod": op.mod, "matmul": op.matmul, "and": op.and_,
              "or": op.or_, "xor": op.xor, "lshift": op.lshift, "rshift": op.rshift}
    compare = {"lt": op.lt, "le": op.le, "gt": op.gt, "ge": op.ge, "eq": op.eq, "ne": op.ne}
    unary = {"neg": op.neg, "pos": op.pos, "abs": op.abs, "invert": op.invert}
    for name, function in {**binary, **compare}.items():
        setattr(Value, f"__{name}__", lambda a, b, f=function: call(f, (a, b), {}))
    for name, function in binary.items():
        setattr(Value, f"__r{name}__", lambda a, b, f=function: call(f, (b, a), {}))
    for name, single in unary.items():
        setattr(Value, f"__{name}__", lambda a, f=single: call(f, (a,), {}))


_install_operators()


def call(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Applies the op that `function` resolves to."""
    found = lookup(function)
    if found is None:
        name = getattr(function, "__name__", repr(function))
        raise NotSupported(f"no rule for {name}", why="Its result types and its derivative are not known.",
                           instead=how_to_define(function))
    op, spelling = found
    return apply(op, args, kwargs, spelling)


def apply(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], spelling: str | None = None) -> Any:
    """Emits one application of `op`; gives its result as a `Value`, or a tuple of them.

    `spelling` is how the user wrote it where the op has several (``math.sin``); rules leave it out.
    """
    if op.front is not None:
        done = op.front(args, kwargs, spelling)
        if done is not None:
            return done
    operands, attrs = op.bind(args, kwargs)
    return emit(op, tuple(map(atom, operands)), attrs, spelling)


def emit(op: Any, atoms: tuple[Atom, ...], attrs: dict[str, Any], spelling: str | None = None) -> Any:
    """Emits one `Let` of `op` on atoms, with the types that the op says."""
    spelling = spelled(op, atoms, spelling)
    for key, item in attrs.items():
        if isinstance(item, Value):
            raise NotSupported(f"the argument {key!r} of {op.name} must be known when the function is transformed",
                               instead="Pass it as an argument that is a Python int, a bool or a string.")
    results = op.typed([type_of(a) for a in atoms], attrs, spelling)
    if spelling is not None:
        attrs = {**attrs, "spelling": spelling}
    several = isinstance(results, tuple)
    targets = current().let(op, atoms, attrs, results if several else (results,))
    values = tuple(Value(target) for target in targets)
    return values if several else values[0]


def result_types(op: Any, types: list[Any], attrs: dict[str, Any], spelling: str | None) -> Any:
    """The type of what an op gives, or a tuple of them: those of Python's numbers where it is spelled as
    Python's and has such operands."""
    if op.elementwise and not attrs:
        for each in types:
            if type(each) is not ArrayType or each.sizes:
                break
        else:
            return _types_of_numbers(op, tuple(types), spelling)
    return _result_types(op, types, attrs, spelling)


@cache
def _types_of_numbers(op: Any, types: tuple[Any, ...], spelling: str | None) -> Any:
    """The same for numbers, of which no size has to be known: of most statements in loops."""
    return _result_types(op, list(types), {}, spelling)


def _result_types(op: Any, types: list[Any], attrs: dict[str, Any], spelling: str | None) -> Any:
    if not (op.asks_truth or any(map(is_weak, types)) or spelling is not None and spelling.startswith("math.")):
        return op.types(types, **attrs) if op.variadic else op.types(*types, **attrs)
    python = bool(types) and not is_defined(op) and is_python(spelling) and (
        op.asks_truth or all(map(is_weak, types[op.made_of])))
    if python and op.elementwise and not op.keeps_truth:
        types = [INT if t == BOOL else t for t in types]
    result = op.types(types, **attrs) if op.variadic else op.types(*types, **attrs)
    results = result if isinstance(result, tuple) else (result,)
    if spelling is not None and spelling.startswith("math."):
        results = tuple(_of_math(t, types, spelling) for t in results)
    elif python and "dtype" not in attrs:
        results = tuple(ArrayType(t.dtype, (), weak=True) if not t.sizes else t for t in results)
    if _is_pythons(op, types, spelling):
        results = tuple(ArrayType(t.dtype, (), weak=True) for t in results)
    return results if isinstance(result, tuple) else results[0]


def _is_pythons(op: Any, types: list[Any], spelling: str | None) -> bool:
    """Whether a Python complex meets a float64, which it takes for one of Python's floats."""
    if op.symbol in (None, "<", "<=", ">", ">=") or len(types) != 2 or not is_python(spelling):
        return False
    return is_weak(types[0]) and types[0] == COMPLEX and types[1] == ArrayType(FLOAT.dtype)


def is_weak(type: Any) -> bool:
    """Whether values of a type are Python numbers."""
    return isinstance(type, ArrayType) and type.weak


def is_inexact(x: Any) -> bool:
    """Whether something is a floating point or complex value that the program computes."""
    return isinstance(x, Value) and x.type.is_inexact


def rule_attrs(stmt: Let) -> dict[str, Any]:
    """The attributes that rules see: all but how the user spelled the op."""
    return {key: item for key, item in stmt.attrs.items() if key != "spelling"}


def hands_on(stmt: Let) -> bool:
    """Whether a statement gives one of its operands as it is, whatever the type of the others."""
    return stmt.op.hands_on and is_python(stmt.attrs.get("spelling"))


def is_python(spelling: str | None) -> bool:
    """Whether this spelling of an op gives Python numbers for Python numbers: operators, math, abs."""
    return spelling is None or not spelling.startswith(("np.", "scipy."))


def _of_math(result: ArrayType, operands: list[Any], spelling: str) -> ArrayType:
    """`math` takes any real numbers and gives Python's: an int where the op says so, a bool, a float."""
    if any(t.sizes for t in operands):
        name = NUMPYS_NAME.get(spelling[5:], spelling[5:])
        raise BadArgument(f"{spelling} accepts numbers, not arrays",
                          instead=f"Write np.{name}, which works on arrays." if hasattr(np, name) else None)
    if any(t.dtype.kind == "c" for t in operands):
        raise BadArgument(f"{spelling} accepts real numbers, not complex numbers",
                          instead="Take the real part: x.real.")
    if result.dtype.kind == "b":
        return BOOL
    return result if result.weak else FLOAT


NUMPYS_NAME = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "asinh": "arcsinh",
               "acosh": "arccosh", "atanh": "arctanh", "fabs": "abs", "pow": "power", "fsum": "sum"}


_named: dict[int, tuple[float, str]] = {}


def named(number: float, name: str) -> float:
    """A number for rules that is printed as `name`, told from equal ones by its identity.

    >>> atom(named(np.pi, "np.pi")), atom(3.141592653589793)
    (np.pi, 3.141592653589793)
    """
    own = number * 1.0
    _named[id(own)] = own, name
    return own


def atom(operand: Any) -> Atom:
    """An operand as an atom: values and numbers as they are, nested lists as an array literal."""
    if isinstance(operand, Value):
        return operand.atom
    if isinstance(operand, Size):
        return _number_of(operand)
    if isinstance(operand, NUMBERS):
        return Const(operand, name=_named.get(id(operand), (0.0, None))[1])
    if isinstance(operand, (list, tuple)):
        return call(np.array, (operand,), {}).atom
    if isinstance(operand, (Var, Const)):
        return operand
    shown = repr(operand) if operand is None or isinstance(operand, (str, bool)) else f"a {type(operand).__name__}"
    raise BadArgument(f"{shown} is not an array or a number", instead="Pass an array, a number, or a list of them.")


def _number_of(size: Size) -> Atom:
    """A size as a number, which is Python's also where integers of NumPy's decide it."""
    numpys = {leaf.var for leaf in leaves(size) if isinstance(leaf, Unknown) and not leaf.var.type.weak}
    made = Copier({var: call(int, (Value(var),), {}).atom for var in numpys})
    return made.atom(atom_of_size(size)) if numpys else atom_of_size(size)


def value(operand: Any) -> Value:
    """An operand as a `Value`."""
    return operand if isinstance(operand, Value) else Value(atom(operand))


