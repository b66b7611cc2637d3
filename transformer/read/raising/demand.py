"""What has to be static: asking for parameters, for an unrolled loop, or giving up with an error.

A value is followed back through the statements that made it. If it rests on integer parameters and
dimensions alone, `Demand` asks the caller to read again with them as static objects; if it rests
on the position or a carry of a loop, `Unroll` asks for that loop to be unrolled. What comes out of
an array can be had neither way: a located error.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ...core.errors import NotSupported, TransformError
from ...core.grammar import Const, If, Let, Loop, Var
from ...core.sizes import Dim, Size, leaves
from ...core.types import ArrayType
from ...core.walk import all_statements, targets_of
from ...ops.value import Value
from ..values import UNKNOWN, Text, known_of

if TYPE_CHECKING:
    from ..reader import Reader


class Demand(Exception):
    """These arguments have to be static: `paths` are written as in Python (``n``, ``x.shape[0]``)."""

    def __init__(self, paths: Iterable[str], refusal: TransformError) -> None:
        super().__init__(sorted(paths))
        self.paths = frozenset(paths)
        self.refusal = refusal

    def error(self) -> TransformError:
        """What to raise where the arguments cannot be static."""
        return self.refusal


class Unroll(Exception):
    """The loop with this key has to be unrolled; `first_apart`: or it does to read the first iteration by itself."""

    def __init__(self, loop: Any, refusal: TransformError, first_apart: bool = False) -> None:
        super().__init__(loop)
        self.loop = loop
        self.refusal = refusal
        self.first_apart = first_apart


def static(reader: Reader, value: Any, what: str, instead: str | None = None) -> Any:
    """The Python object that a value is, for a use where it must be known."""
    known = known_of(value)
    return need(reader, value, what, instead) if known is UNKNOWN else known


def need(reader: Reader, value: Any, what: str, instead: str | None = None) -> Any:
    """Raises what makes a dynamic value static, or says why there is no way."""
    roots = Roots(reader)
    roots.follow(value)
    refusal = NotSupported(
        f"{what} must be known when the function is transformed",
        reader.builder.origin,
        why=roots.reason() or "It is computed at run time.",
        instead=instead or "Pass it as an argument that is a Python int, a bool or a string.",
    )
    if roots.loops:
        raise Unroll(roots.loops[-1], refusal)
    if roots.paths and not roots.others:
        raise Demand(roots.paths, refusal)
    raise refusal


class Opens(Exception):
    """The loop with this key has to carry sizes of arrays: it makes a list longer or shorter that is kept in them."""

    def __init__(self, loop: Any) -> None:
        super().__init__(loop)
        self.loop = loop


class Roots:
    """Where a value comes from: paths of static arguments, loops that can be unrolled, other things."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.paths: set[str] = set()
        self.loops: list[Any] = []
        self.of_any_length: list[Any] = []   # those of which the program does not say how often they run
        self.others: list[Any] = []
        self._seen: set[int] = set()
        self._makers: dict[Var, Any] | None = None

    def follow(self, atom: Any) -> None:
        """Notes where an atom, a value or a text comes from."""
        if isinstance(atom, Text):
            for piece in atom.pieces:
                self.follow(getattr(piece, "value", None))
        elif isinstance(atom, Value):
            self.follow(atom.atom)
        elif isinstance(atom, Size):
            for leaf in leaves(atom):
                if isinstance(leaf, Dim):
                    if leaf.inner:
                        self.others.append(leaf)
                    else:
                        self.paths.add(leaf.name)
                else:
                    self.follow(leaf.var)
        elif isinstance(atom, Var) and id(atom) not in self._seen:
            self._seen.add(id(atom))
            self._follow_var(atom)

    def _follow_var(self, var: Var) -> None:
        loop = self.reader.loop_of_var(var)
        if loop is not None:
            self.loops.append(loop)
        elif var.is_parameter or var in self.reader.arguments.paths:
            self._follow_parameter(var)
        else:
            self._follow_statement(self._maker(var), var)

    def _follow_parameter(self, var: Var) -> None:
        path, type = self.reader.arguments.paths.get(var), var.type
        if path is not None and isinstance(type, ArrayType) and not type.sizes and type.dtype.kind in "iub":
            self.paths.add(path)
        else:
            self.others.append(var)

    def _follow_statement(self, stmt: Any, var: Var) -> None:
        match stmt:
            case Let():
                self._follow_let(stmt)
            case If():
                self.follow(stmt.cond)
                for merge in stmt.merges:
                    if merge.target is var:
                        self.follow(merge.then)
                        self.follow(merge.orelse)
            case Loop() if self.reader.loop_of_var(stmt.position) is not None:
                loop = self.reader.loop_of_var(stmt.position)
                self.loops.append(loop)                                           # a list that it made
                if not isinstance(stmt.trips, Const):
                    self.of_any_length.append(loop)
            case _:
                self.others.append(var)

    def _follow_let(self, stmt: Let) -> None:
        if not stmt.args and not stmt.attrs:
            self.others.append(stmt.target)
        picks = stmt.op.of_sequences or stmt.op.name == "get"            # of a list that a loop made
        if not picks and any(getattr(target.type, "sizes", ()) for target in stmt.targets):
            self.others.append(stmt.target)
        for arg in stmt.args:
            self.follow(arg)

    def _maker(self, var: Var) -> Any:
        stmt = self.reader.builder.numbering.definitions.get(var)
        if stmt is not None:
            return stmt
        if self._makers is None:
            builder = self.reader.builder
            self._makers = {
                target: stmt
                for block in (*builder.enclosing, builder.block)
                for stmt in all_statements(block)
                for target in targets_of(stmt)
            }
        return self._makers.get(var)

    def reason(self) -> str | None:
        named = [var.name for var in self.others if isinstance(var, Var) and var.name]
        if not self.others:
            return None
        of = f" (it depends on {', '.join(dict.fromkeys(named))})" if named else ""
        return f"It is computed from values that are known only at run time{of}."
