"""Reading atoms, attributes, types and sizes from a line of the exact text of Core."""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from .errors import Origin
from .grammar import UNDEFINED, Const, Var
from .lines import Line
from .sizes import Dim, Extent, Floor, Greatest, Least, Size, Unknown
from .types import BOOL, COMPLEX, FLOAT, INT, ArrayType, SavedType, SeqType, Type, dtype_of_name

WORDS = {"None": None, "True": True, "False": False, "inf": float("inf"), "nan": float("nan")}
WEAK = {"int": INT, "float": FLOAT, "complex": COMPLEX, "bool": BOOL}
CLASSES: dict[str, Any] = {"bool": bool, "int": int, "float": float, "complex": complex}


def imported(path: str) -> Any:
    """What a dotted path names, in a module that has been imported."""
    home = path
    while home and home not in sys.modules:
        home = home.rpartition(".")[0]
    found: Any = sys.modules.get(home)
    for name in path.removeprefix(home + ".").split("."):
        if not hasattr(found, name):
            raise ValueError(f"there is no {path}")
        found = getattr(found, name)
    return found


class Literals:
    """Reads at `line`; `vars` are the variables so far, `classes` dataclasses among attributes."""

    line: Line

    def __init__(self, classes: Mapping[str, Any]) -> None:
        self.classes = classes
        self.vars: dict[str, Var] = {}

    def typed(self) -> Var:
        """A definition: ``name: type``."""
        var = self.var()
        if getattr(var, "type", None) is not None:
            raise self.line.error(f"{var.name} to be defined once, not again,")
        self.line.expect(":")
        var.type = self.type()
        return var

    def var(self) -> Var:
        name = self.line.name()
        if name not in self.vars:
            self.vars[name] = Var(None, name)                       # type: ignore[arg-type]
        return self.vars[name]

    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        args: list[Any] = []
        attrs: dict[str, Any] = {}

        def argument() -> None:
            if self.line.peek("=", ahead=1):
                key = self.line.string() if self.line.kind() == "string" else self.line.name()
                self.line.expect("=")
                attrs[key] = self.value()
            else:
                args.append(self.atom())

        self.line.expect("(")
        self.line.listed(argument, ")")
        return tuple(args), attrs

    def atom(self) -> Any:
        if self.line.accept("undefined"):
            return UNDEFINED
        if self.line.accept("<"):
            return self.bracketed()
        if self.is_number():
            value, type = self.number()
            name = self.line.string() if self.line.accept("as") else None
            return Const(value, type, name)
        return self.var()

    def bracketed(self) -> Extent:
        size = self.size()
        self.line.expect(">")
        return size

    def is_number(self) -> bool:
        return (self.line.kind() == "number" or self.line.peek("-", "inf", "nan", "True", "False")
                or self.line.kind() == "name" and self.line.peek("(", ahead=1))

    def number(self) -> tuple[Any, ArrayType | None]:
        """A number, and its type if written: ``2.5``, ``f32(2.5)``, ``complex(0.0, 1.0)``."""
        if not (self.line.kind() == "name" and self.line.peek("(", ahead=1)):
            return self.plain(), None
        type = self.scalar_type()
        self.line.expect("(")
        value, _ = self.number()
        if self.line.accept(","):
            value, type = complex(value, self.plain()), COMPLEX
        self.line.expect(")")
        return (value if type.weak else type.dtype.type(value)), type

    def plain(self) -> Any:
        if self.line.accept("-"):
            return -self.plain()
        token = self.line.next()
        return WORDS[token] if token in WORDS else ast.literal_eval(token)

    def value(self) -> Any:
        """An attribute."""
        line = self.line
        if line.kind() == "string":
            return line.string()
        if line.accept("None"):
            return None
        if line.accept("..."):
            return ...
        if line.accept("("):
            return tuple(line.listed(self.value, ")"))
        if line.accept("["):
            return line.listed(self.value, "]")
        if line.accept("{"):
            return dict(line.listed(self.item, "}"))
        if line.kind() == "name" and line.peek("(", ahead=1):
            return self.constructed()
        return self.number()[0] if self.is_number() else self.atom()

    def item(self) -> tuple[Any, Any]:
        key = self.value()
        self.line.expect(":")
        return key, self.value()

    def constructed(self) -> Any:
        """``slice(...)``, ``dtype(...)`` and the like, a number with its dtype, or a dataclass."""
        name = self.line.tokens[self.line.at][1]
        special = {"slice": self.slice, "type": self.enclosed_type, "dtype": self.dtype,
                   "class": self.scalar_class, "array": self.array, "origin": self.origin,
                   "const": self.enclosed_atom}
        if name not in special and name not in self.classes:
            return self.number()[0]
        self.line.next()
        if name in self.classes:
            return self.classes[name](**self.arguments()[1])
        self.line.expect("(")
        return special[name]()

    def slice(self) -> Any:
        return slice(*self.line.listed(self.value, ")"))

    def enclosed_type(self) -> Type:
        type = self.type()
        self.line.expect(")")
        return type

    def enclosed_atom(self) -> Any:
        atom = self.atom()
        self.line.expect(")")
        return atom

    def dtype(self) -> np.dtype:
        name = self.line.name()
        self.line.expect(")")
        return dtype_of_name(name)

    def scalar_class(self) -> Any:
        """``float``, ``float32``, or another class by the module it is in and its name there."""
        if self.line.kind() == "string":
            found = imported(self.line.string())
        else:
            name = self.line.name()
            found = CLASSES.get(name) or getattr(np, name)
        self.line.expect(")")
        return found

    def array(self) -> np.ndarray:
        values = self.value()
        self.line.expect(",")
        return np.array(values, self.dtype())

    def origin(self) -> Origin:
        file = self.line.string()
        self.line.expect(",")
        line = int(self.line.next())
        self.line.expect(")")
        return Origin(file, line)

    # -- types and sizes ---------------------------------------------------------------------

    def type(self) -> Type:
        if self.line.accept("Saved"):
            self.line.expect("[")
            saved = SavedType(self.line.name())
            self.line.expect("]")
            return saved
        if self.line.accept("Seq"):
            self.line.expect("[")
            element = self.type()
            self.line.expect("]")
            return SeqType(element)
        scalar = self.scalar_type()
        if not self.line.accept("["):
            return scalar
        return ArrayType(scalar.dtype, tuple(self.line.listed(self.size, "]")))

    def scalar_type(self) -> ArrayType:
        name = self.line.name()
        return WEAK.get(name) or ArrayType(dtype_of_name(name))

    def size(self) -> Extent:
        total: Extent = -self.term() if self.line.accept("-") else self.term()
        while self.line.peek("+", "-"):
            minus = self.line.next() == "-"
            total = total - self.term() if minus else total + self.term()
        return total

    def term(self) -> Extent:
        term = self.factor()
        while self.line.accept("*"):
            term = term * self.factor()
        return term

    def factor(self) -> Extent:
        line = self.line
        if line.kind() == "number":
            return int(line.next())
        if line.kind() == "string":
            return Size.of(Dim(line.string()))
        if line.accept("?"):
            return Size.of(Unknown(self.var()))
        if line.peek("min", "max") and line.peek("(", ahead=1):
            return self.extreme()
        if line.accept("("):
            return self.floor()
        return Size.of(Dim(line.name()))

    def extreme(self) -> Extent:
        made = Least if self.line.next() == "min" else Greatest
        self.line.expect("(")
        return Size.of(made(*self.line.listed(self.size, ")")))

    def floor(self) -> Extent:
        numerator = self.size()
        self.line.expect(")", "//", "(")
        denominator = self.size()
        self.line.expect(")")
        return Size.of(Floor(numerator, denominator))
