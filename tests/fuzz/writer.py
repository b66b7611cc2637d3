"""The state of a program that is being drawn: choices, names in scope, statements so far."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from hypothesis import strategies as st

from .kinds import NUMBER, Floats, Integer, Kind, Shape
from .templates import Part, expression, statements

T = TypeVar("T")
Draw = Callable[[st.SearchStrategy[Any]], Any]
NAMES = {"number": "abcdepqrst", "vector": "uvwhgzxy", "matrix": "ABMPQW", "integer": "ijklm", "other": "fFGTL"}
MOST_STATEMENTS = 26
CONSTANTS = (0.5, 2.0, 1.5, 0.3, 3, 1, 0.25)


class Writer:
    """Draws one function; statements and names of functions around it are in `outer`."""

    def __init__(self, draw: Draw, families: dict[str, list[tuple[int, str, Any]]], budget: int) -> None:
        self.draw = draw
        self.families = families
        self.budget = budget
        self.scopes: list[dict[str, Kind]] = [{}]
        self.frozen: set[str] = set()             # names that are not assigned: they end loops
        self.captured: set[str] = set()           # names of the function around this one
        self.constants: set[str] = set()          # arrays of the module
        self.module: list[ast.stmt] = []
        self.blocks: list[list[ast.stmt]] = []
        self.tags: Counter[str] = Counter()
        self.results: list[Floats] = []
        self.loops = 0                            # how many loops of this function we are in
        self.used: set[str] = {"np", "math"}

    # -- choices --------------------------------------------------------------------------

    def below(self, count: int) -> int:
        return int(self.draw(st.integers(0, count - 1))) if count > 1 else 0

    def between(self, low: int, high: int) -> int:
        return low + self.below(high - low + 1)

    def of(self, options: Sequence[T]) -> T:
        return options[self.below(len(options))]

    def chance(self, percent: int) -> bool:
        return self.below(100) >= 100 - percent

    def weighted(self, options: Sequence[tuple[int, str, T]]) -> tuple[str, T]:
        place = self.below(sum(weight for weight, _, _ in options))
        for weight, name, option in options:
            if place < weight:
                return name, option
            place -= weight
        raise AssertionError

    # -- names ----------------------------------------------------------------------------

    def variables(self, fits: Callable[[Kind], bool]) -> list[str]:
        """Names in scope, the newest first."""
        found: dict[str, Kind] = {}
        for scope in self.scopes:
            found.update(scope)
        return [name for name, kind in reversed(found.items()) if fits(kind)]

    def kind(self, name: str) -> Any:
        return next(scope[name] for scope in reversed(self.scopes) if name in scope)

    def floats(self, shape: Shape) -> list[str]:
        return self.variables(lambda kind: kind == Floats(shape))

    def arrays(self, ranks: Sequence[int] = (1, 2), smallest: int = 1) -> list[str]:
        return self.variables(lambda kind: isinstance(kind, Floats) and len(kind.shape) in ranks
                              and min(kind.shape) >= smallest)

    def fresh(self, family: str) -> str:
        """A name that nothing in the whole program has."""
        letters = NAMES[family]
        names = [*letters, *(f"{letter}{k}" for k in range(2, 40) for letter in letters)]
        name = next(name for name in names if name not in self.used)
        self.used.add(name)
        return name

    def fresh_for(self, kind: Kind) -> str:
        if isinstance(kind, Floats):
            return self.fresh(("number", "vector", "matrix")[min(2, len(kind.shape))])
        return self.fresh("integer" if isinstance(kind, Integer) else "other")

    def bind(self, name: str, kind: Kind, frozen: bool = False) -> str:
        self.scopes[-1][name] = kind
        if frozen:
            self.frozen.add(name)
        return name

    def target(self, kind: Floats) -> str:
        """A name to assign a value of this kind to: one that has it, or a new one (not bound yet)."""
        old = [name for name in self.floats(kind.shape) if name not in self.frozen | self.captured | self.constants]
        if old and self.chance(45):
            return self.of(old)
        return self.fresh_for(kind)

    # -- statements -----------------------------------------------------------------------

    def emit(self, template: str, **parts: Part) -> None:
        self.blocks[-1] += statements(template, **parts)

    def assign(self, name: str, value: ast.expr, kind: Kind) -> None:
        self.emit("NAME = VALUE", NAME=name, VALUE=value)
        if not any(name in scope for scope in self.scopes):
            self.bind(name, kind)

    @contextmanager
    def nested(self, names: dict[str, Kind] | None = None) -> Iterator[list[ast.stmt]]:
        """A block whose new names end with it."""
        self.scopes.append(dict(names or {}))
        self.blocks.append([])
        yield self.blocks[-1]
        body = self.blocks.pop()
        self.scopes.pop()
        if not body:
            body += statements("pass")

    def block(self, most: int) -> None:
        for _ in range(self.between(1, most)):
            self.statement()

    def statement(self) -> None:
        if self.budget <= 0:
            return
        self.budget -= 1
        deep = len(self.blocks) > 3
        options = [option for name, family in self.families.items() for option in family
                   if not (deep and name in NESTING)]
        name, production = self.weighted(options)
        if production(self) is False:
            self.budget += 1
        else:
            self.tags[name] += 1

    # -- a few leaves ---------------------------------------------------------------------

    def constant(self) -> ast.expr:
        value = self.of(CONSTANTS)
        return expression("-A", A=value) if self.chance(20) else expression("A", A=value)

    def size(self, number: int) -> ast.expr:
        """A length: as a number, or by an array that has it."""
        first = [name for name in self.arrays() if self.kind(name).shape[0] == number]
        if first and self.chance(50):
            return expression(self.of(["len(A)", "A.shape[0]"]), A=self.of(first))
        return expression("A", A=number)

    def shape(self, shape: Shape) -> ast.expr:
        if len(shape) == 1:
            return self.size(shape[0])
        sizes: list[ast.expr] = [self.size(number) for number in shape]
        return ast.Tuple(sizes, ast.Load())


NESTING = ("branches", "loops", "functions")
__all__ = ["NUMBER", "Writer"]
