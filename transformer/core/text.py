"""The exact text of Core: every variable under one name, with its type; only origins are left out.

>>> from .types import FLOAT
>>> from .grammar import Const, Effect, Function, Var
>>> x, = params = [Var(FLOAT, "x", is_parameter=True)]
>>> print(text(Function("loss", params, [Effect("print", (x, Const(2)))], [x])), end="")
function loss(x: float)
    effect print(x, 2)
    return x

`parse` (in `parsing`) reads it back; what it gives has the same text. The form, by example::

    function loss(x: f64[n], k: int)                parameters with their types
        dim n = x, 0                                where a named dimension is found
        guard n >= 2
        y: f64[n] = multiply(x, 2.5, spelling='np.multiply')
        q: f64[n, n], r: f64[n, n] = qr(y)
        if c
            then
                ...
            else
                ...
            merge z: f64 = a, undefined             its value after either branch; `saved`, if for the way back
        loop i: int in <n - 1> down                 `in none`: as long as the condition holds
            carry s: f64 = 0.0
            read v: f64 = vs
            test                                    statements that compute the condition
                ...
            while c
            body
                ...
            next s_1: f64 = t                       one for each carry: its value after the loop
            record ws: Seq[f64] = w saved
            count m: int
        h: f64 = call helper(y)                 without targets where it is called for an effect
        effect comment(text='reverse')
        return y, z

Sizes among arguments and attributes stand in angle brackets; `?k` in a size is the integer `k` of
the program. A constant with a name is ``3.14 as 'np.pi'``; one of another type than Python's is
``f32(3.14)``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np

from .errors import Origin
from .grammar import Block, Call, Const, Effect, Function, If, Let, Loop, Stmt, Undefined, Var
from .halves import Bfloat16
from .parsing import parse
from .sizes import Dim, Floor, Least, Size, SizeAtom, Unknown
from .types import SCALAR_NAMES, SHORT_NAMES, WEAK_NAMES, ArrayType, SavedType, SeqType, type_of_number
from .walk import METHODS, reachable

__all__ = ["parse", "statement_text", "text"]

# Words that a line or an atom could be mistaken for.
RESERVED = {"inf", "nan", "undefined", "None", "True", "False", "as", "in", "down", "none", "call"}
INDENT = "    "
PYTHON_TYPES = [bool, int, float, complex]


def text(function: Function) -> str:
    """The text of a function, followed by those of the functions that it calls."""
    functions = reachable(function)
    names = Names()
    for each in functions:
        names(each)
    return "\n".join(Printer(names).function(each) for each in functions)


def statement_text(stmt: Stmt, function: Function) -> str:
    """The text of one statement, with the names that it has within `function`."""
    printer = Printer(Names())
    printer.function(function)
    printer.lines.clear()
    printer.statement(stmt, "")
    return "\n".join(printer.lines)


class Names:
    """A name for each variable (or function): its own where it is the first to have it."""

    def __init__(self) -> None:
        self.given: dict[Any, str] = {}
        self.taken: set[str] = set(RESERVED)
        self.latest: dict[str, int] = {}

    def __call__(self, named: Any) -> str:
        name = self.given.get(named)
        if name is None:
            name = self.given[named] = self._fresh(named.name or "t")
        return name

    def _fresh(self, base: str) -> str:
        name = base
        while name in self.taken:
            number = self.latest[base] = self.latest.get(base, 0) + 1
            name = f"{base}_{number}"
        self.taken.add(name)
        return name


class Printer:
    """Gathers the lines of one function."""

    def __init__(self, functions: Names) -> None:
        self.functions = functions
        self.names = Names()
        self.lines: list[str] = []
        self.types: dict[Any, str] = {}

    # -- functions and statements ------------------------------------------------------------

    def function(self, function: Function) -> str:
        params = ", ".join(map(self.typed, function.params))
        self.lines.append(f"function {self.functions(function)}({params})")
        for dim, (var, axis) in function.dims.items():
            place = f"{self.names(var)}, {axis}"
            self.lines.append(f"{INDENT}dim {self.size_atom(_dim_of(dim))} = {place}")
        for guard in function.guards:
            relation = "==" if guard.kind == "equal" else ">="
            sides = f"{self.size(guard.left)} {relation} {self.size(guard.right)}"
            self.lines.append(f"{INDENT}guard {sides}")
        self.block(function.body, INDENT)
        self.lines.append(f"{INDENT}return {self.atoms(function.results)}".rstrip())
        return "\n".join(self.lines) + "\n"

    def block(self, block: Block, indent: str) -> None:
        for stmt in block:
            self.statement(stmt, indent)

    def statement(self, stmt: Stmt, indent: str) -> None:
        getattr(self, METHODS[type(stmt)])(stmt, indent)

    def _let(self, stmt: Let, indent: str) -> None:
        value = f"{stmt.op.name}({self.arguments(stmt.args, stmt.attrs)})"
        self.lines.append(f"{indent}{self.targets(stmt.targets)} = {value}")

    def _call(self, stmt: Call, indent: str) -> None:
        value = f"call {self.functions(stmt.function)}({self.atoms(stmt.args)})"
        targets = f"{self.targets(stmt.targets)} = " if stmt.targets else ""
        self.lines.append(f"{indent}{targets}{value}")

    def _effect(self, stmt: Effect, indent: str) -> None:
        self.lines.append(f"{indent}effect {stmt.kind}({self.arguments(stmt.args, stmt.attrs)})")

    def _if(self, stmt: If, indent: str) -> None:
        self.lines.append(f"{indent}if {self.atom(stmt.cond)}")
        inner = indent + INDENT
        for word, block in (("then", stmt.then), ("else", stmt.orelse)):
            if block:
                self.lines.append(inner + word)
                self.block(block, inner + INDENT)
        for merge in stmt.merges:
            sides = f"{self.atom(merge.then)}, {self.atom(merge.orelse)}"
            self.equation("merge", merge.target, sides + " saved" * merge.saved, inner)

    def _loop(self, stmt: Loop, indent: str) -> None:
        trips = "none" if stmt.trips is None else self.atom(stmt.trips)
        down = " down" if stmt.down else ""
        kept = "".join(f" blocks {count}" for count in stmt.blocks)
        again = " again" * stmt.again + " independent" * stmt.independent
        self.lines.append(f"{indent}loop {self.typed(stmt.position)} in {trips}{down}{kept}{again}")
        inner = indent + INDENT
        for carry in stmt.carries:
            self.equation("carry", carry.entry, self.atom(carry.init), inner)
        self._reads(stmt, inner)
        if stmt.cond is not None:
            self.lines.append(inner + "test")
            self.block(stmt.test, inner + INDENT)
            self.lines.append(f"{inner}while {self.atom(stmt.cond)}")
        self._body(stmt, inner)
        for carry in stmt.carries:
            self.equation("next", carry.out, self.atom(carry.next), inner)
        self._records(stmt, inner)
        if stmt.count is not None:
            self.lines.append(f"{inner}count {self.typed(stmt.count)}")

    def _reads(self, stmt: Loop, indent: str) -> None:
        for read in stmt.reads:
            self.equation("read", read.target, self.atom(read.source), indent)

    def _body(self, stmt: Loop, indent: str) -> None:
        self.lines.append(indent + "body")
        self.block(stmt.body, indent + INDENT)

    def _records(self, stmt: Loop, indent: str) -> None:
        for record in stmt.records:
            self.equation("record", record.target, self.atom(record.value) + " saved" * record.saved, indent)

    def equation(self, word: str, target: Var, value: str, indent: str) -> None:
        self.lines.append(f"{indent}{word} {self.typed(target)} = {value}")

    def targets(self, targets: Iterable[Var]) -> str:
        return ", ".join(map(self.typed, targets))

    def typed(self, var: Var) -> str:
        return f"{self.names(var)}: {self.type(var.type)}"

    # -- atoms and attributes ----------------------------------------------------------------

    def arguments(self, args: Iterable[Any], attrs: dict[str, Any]) -> str:
        named = (f"{_key(key)}={self.value(value)}" for key, value in attrs.items())
        return ", ".join([*map(self.atom, args), *named])

    def atoms(self, atoms: Iterable[Any]) -> str:
        return ", ".join(map(self.atom, atoms))

    def atom(self, atom: Any) -> str:
        if isinstance(atom, Var):
            return self.names(atom)
        if isinstance(atom, Const):
            return self.constant(atom)
        if isinstance(atom, Size):
            return f"<{self.size(atom)}>"
        assert isinstance(atom, Undefined), atom
        return "undefined"

    def constant(self, const: Const) -> str:
        number = const.value.item() if isinstance(const.value, np.generic) else const.value
        shown = _number(number)
        if const.type != type_of_number(number):
            shown = f"{self.type(const.type)}({shown})"
        return shown if const.name is None else f"{shown} as {const.name!r}"

    def value(self, value: Any) -> str:
        """An attribute."""
        if value is None or value is ... or isinstance(value, (bool, str)):
            return repr(value) if value is not ... else "..."
        if isinstance(value, (Var, Size, Undefined)):
            return self.atom(value)
        if isinstance(value, Const):
            return f"const({self.atom(value)})"
        if isinstance(value, (int, float, complex, np.generic)):
            return self._raw(value)
        return self._structured(value)

    def _raw(self, value: Any) -> str:
        """A number that is no atom; a NumPy one shows its dtype."""
        if isinstance(value, np.generic) and not isinstance(value, np.bool):
            return f"{self.type(ArrayType(value.dtype))}({_number(value.item())})"
        return _number(bool(value) if isinstance(value, np.bool) else value)

    def _structured(self, value: Any) -> str:
        if isinstance(value, tuple):
            inner = ", ".join(map(self.value, value))
            return f"({inner},)" if len(value) == 1 else f"({inner})"
        if isinstance(value, list):
            return f"[{', '.join(map(self.value, value))}]"
        if isinstance(value, dict):
            items = (f"{self.value(key)}: {self.value(item)}" for key, item in value.items())
            return "{" + ", ".join(items) + "}"
        if isinstance(value, slice):
            return f"slice({', '.join(map(self.value, (value.start, value.stop, value.step)))})"
        if isinstance(value, (np.dtype, Bfloat16)):
            return f"dtype({_dtype_name(value)})"
        if isinstance(value, (ArrayType, SeqType)):
            return f"type({self.type(value)})"
        return self._object(value)

    def _object(self, value: Any) -> str:
        if isinstance(value, np.ndarray):
            return f"array({value.tolist()!r}, {_dtype_name(value.dtype)})"
        if value in PYTHON_TYPES or isinstance(value, type) and issubclass(value, np.generic):
            return f"class({value.__name__})"
        if isinstance(value, type):
            return f"class('{value.__module__}.{value.__qualname__}')"
        if isinstance(value, Origin):
            return f"origin({value.file!r}, {value.line})"
        if hasattr(value, "__core_text__"):                 # what has no text of its own, by its name
            return repr(value.__core_text__())
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            names = (field.name for field in dataclasses.fields(value))
            fields = (f"{name}={self.value(getattr(value, name))}" for name in names)
            return f"{type(value).__name__}({', '.join(fields)})"
        raise TypeError(f"an attribute is a {type(value).__name__}, which has no text: {value!r}")

    # -- types and sizes ---------------------------------------------------------------------

    def type(self, type: Any) -> str:
        shown = self.types.get(type)
        if shown is None:
            shown = self.types[type] = self._type(type)
        return shown

    def _type(self, type: Any) -> str:
        if isinstance(type, SavedType):
            return repr(type)
        if isinstance(type, SeqType):
            return f"Seq[{self.type(type.element)}]"
        if type.weak:
            return WEAK_NAMES[type.dtype.kind]
        name = _dtype_name(type.dtype)
        return f"{name}[{', '.join(map(self.size, type.sizes))}]" if type.sizes else SCALAR_NAMES.get(name, name)

    def size(self, size: Any) -> str:
        if not isinstance(size, Size):
            return str(size)
        bodies = [("*".join(sorted(map(self.size_atom, monomial))), count)
                  for monomial, count in size.terms.items()]
        shown = ""
        for body, count in sorted(bodies, key=lambda term: (not term[0], term[1] < 0, term[0])):
            head = "" if abs(count) == 1 and body else str(abs(count)) + ("*" if body else "")
            shown += (" - " if count < 0 else " + ") + head + body
        return shown[3:] if shown.startswith(" + ") else "-" + shown[3:]

    def size_atom(self, atom: SizeAtom) -> str:
        if isinstance(atom, Dim):
            name = repr(atom)                       # with the marks of a twin
            plain = name.isidentifier() and name not in ("min", "max")
            return name if plain else repr(name)
        if isinstance(atom, Unknown):
            return f"?{self.names(atom.var)}"
        if isinstance(atom, Floor):
            return f"({self.size(atom.numerator)})//({self.size(atom.denominator)})"
        name = "min" if isinstance(atom, Least) else "max"
        return f"{name}({self.size(atom.first)}, {self.size(atom.second)})"


def _dim_of(dim: Any) -> SizeAtom:
    return dim if isinstance(dim, (Dim, Unknown)) else Dim(str(dim))


def _key(key: str) -> str:
    return key if key.isidentifier() else repr(key)


def _number(number: Any) -> str:
    if isinstance(number, complex):
        return f"complex({number.real!r}, {number.imag!r})"
    return repr(number)


def _dtype_name(dtype: Any) -> str:
    return SHORT_NAMES.get(dtype.name, dtype.name)


