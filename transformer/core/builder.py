"""Building Core: a builder holds the block being written, the assumptions, and the place in the source.

One builder is current in each thread; ops and rules emit statements through it.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from .errors import Origin, TransformError
from .grammar import Atom, Block, Let, Stmt, Var
from .guards import Assumptions
from .naming import FIRST
from .numbering import Numbering
from .types import Type


@dataclass
class Derivatives:
    """What rules ask about the transformation that takes derivatives.

    `pattern` is how derivatives are named (`transform/naming.py`), `family` ``"math"`` while a rule of an op spelled
    `math.…` is expanded, `mixes_widths` whether Python's numbers meet narrower ones. `symmetric` are the statements
    that take a matrix known to be symmetric, with whether it is so only if arguments are (`transform/symmetric.py`).
    With `splits_unasked`, a reverse sweep with large records keeps blocks of iterations without being asked; without
    it, `has_large_records` says that it would have.
    """

    pattern: str = FIRST
    family: str | None = None
    mixes_widths: bool = False
    symmetric: dict[Stmt, bool] = field(default_factory=dict)
    splits_unasked: bool = True
    has_large_records: bool = False


class Builder:
    """Appends statements to the current block, and has what rules ask about: assumptions, places, and `derivatives`."""

    def __init__(self, assumptions: Assumptions | None = None, origin: Origin | None = None) -> None:
        self.assumptions = assumptions or Assumptions()
        self.block: Block = []
        self.enclosing: list[Block] = []                # the blocks around the current one
        self.numbering = Numbering()                    # how variables came about
        self.reader: Any = None                         # reads rules of the user's
        self.origin = origin                            # the user's line being worked on
        self.float_powers: list[Origin | None] = []     # where an int was taken to a power that may be negative
        self.whole_powers: Collection[Any] = ()         # where it has to stay one
        self.derivatives = Derivatives()

    def emit(self, stmt: Stmt) -> None:
        self.block.append(stmt)
        self.numbering.meet(stmt)

    def let(self, op: Any, args: Sequence[Atom], attrs: dict[str, Any], types: Sequence[Type]
            ) -> tuple[Var, ...]:
        """Emits one `Let`; returns its fresh targets."""
        targets = tuple(map(Var, types))
        stmt = Let(targets, op, tuple(args), attrs, self.origin)
        self.block.append(stmt)
        self.numbering.define(stmt)
        return targets

    def earlier(self, op: Any, args: Sequence[Atom], attrs: dict[str, Any]) -> Var | None:
        """A numbered variable in scope that holds what this `Let` would give."""
        return next(filter(self.sees, self.numbering.alike(op, args, attrs)), None)

    def sees(self, var: Var) -> bool:
        """Whether a variable made by `let` is in scope."""
        return self.holds(self.numbering.definitions.get(var))

    def holds(self, stmt: Stmt | None) -> bool:
        """Whether a statement is in this block, or in one around it."""
        return any(stmt is other for block in (self.block, *self.enclosing) for other in block)

    @contextmanager
    def nested(self) -> Iterator[Block]:
        """A new block that receives what is emitted inside the `with`; it is not emitted itself."""
        block: Block = []
        with self.resumed(block):
            yield block

    @contextmanager
    def resumed(self, block: Block) -> Iterator[None]:
        """Statements emitted inside the `with` are appended to an existing block, nested in the current one."""
        outer, self.block = self.block, block
        self.enclosing.append(outer)
        try:
            with self.assumptions.block():
                yield
        except TransformError as error:
            error.on_a_path = True
            raise
        finally:
            self.block = outer
            self.enclosing.pop()

    @contextmanager
    def apart(self) -> Iterator[Block]:
        """A new block that sees nothing of those around it: the body of another function."""
        outer, self.block, self.enclosing = (self.block, self.enclosing), [], []
        try:
            with self.assumptions.block():
                yield self.block
        finally:
            self.block, self.enclosing = outer

    def at(self, origin: Origin | None) -> _At:
        """Statements emitted inside the `with` come from `origin`, and so do its errors."""
        return _At(self, origin)

    @contextmanager
    def active(self) -> Iterator[Builder]:
        """Makes this builder the current one of the thread."""
        stack = _stack()
        stack.append(self)
        try:
            yield self
        finally:
            stack.pop()


class _At:
    """Sets the place of a builder while it is entered. A class and no generator, as one is made for every statement."""

    __slots__ = ("builder", "origin", "outer")

    def __init__(self, builder: Builder, origin: Origin | None) -> None:
        self.builder = builder
        self.origin = origin
        self.outer = builder.origin

    def __enter__(self) -> None:
        self.outer = self.builder.origin
        self.builder.origin = self.origin or self.outer

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, TransformError):
            error.located(self.builder.origin)
        self.builder.origin = self.outer


class _Local(threading.local):
    def __init__(self) -> None:
        self.stack: list[Builder] = []


_local = _Local()


def _stack() -> list[Builder]:
    return _local.stack


def is_building() -> bool:
    """Whether there is a builder in this thread: something is being read or transformed."""
    return bool(_local.stack)


def current() -> Builder:
    """The builder of this thread; there is one whenever rules run."""
    return _local.stack[-1]
