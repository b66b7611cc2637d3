"""The grammar of Core, the language between the stages: first-order, typed, functional.

    Function = name, params, body, results, origin
    Stmt     = Let(targets, op, args, attrs)                       one op on atoms
             | If(cond, then, orelse, merges)
             | Loop(position, trips, cond, down, carries, reads, records, body)
             | Call(targets, function, args)                       a Function of its own
             | Effect(kind, args, attrs)                           print, assert, raise
    Atom     = Var | Const | Size | UNDEFINED

Every variable is assigned once. Nodes hold no facts about themselves; what a stage finds out is
kept in tables of its own. Statements are compared by identity.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeGuard, Union

from .errors import Origin
from .naming import FIRST
from .sizes import Extent, Size
from .types import INT, ArrayType, Type, plain_number, type_of_number

_serial = count()


class Var:
    """A variable. `name` is what a person called it (or None); identity is what tells it apart. `primal` is
    the variable of which this one is the tangent or cotangent, as far as that is known: it may be named after it, as
    `pattern` says."""

    __slots__ = ("name", "type", "serial", "is_parameter", "primal", "pattern")

    def __init__(self, type: Type, name: str | None = None, is_parameter: bool = False) -> None:
        self.type = type
        self.name = name
        self.is_parameter = is_parameter
        self.primal: Var | None = None
        self.pattern = FIRST
        self.serial = next(_serial)

    def __repr__(self) -> str:
        return f"{self.name or 't'}.{self.serial}"


class Const:
    """A number known when the function is read; `name` keeps a spelling such as ``np.pi`` or ``LR``."""

    __slots__ = ("value", "type", "name")

    def __init__(self, value: Any, type: ArrayType | None = None, name: str | None = None) -> None:
        self.value = plain_number(value)
        self.type = type or type_of_number(self.value)
        self.name = name

    def __repr__(self) -> str:
        return self.name or repr(self.value)


class Undefined:
    """What a name holds on a path that never bound it. Carries no cotangent; printed as nothing."""

    type = INT

    def __repr__(self) -> str:
        return "undefined"


UNDEFINED = Undefined()
Atom = Union[Var, Const, Size, Undefined]
Block = list["Stmt"]


def type_of(atom: Any) -> Type:
    """The type of an atom; sizes are Python integers."""
    return INT if isinstance(atom, Size) else atom.type


def is_array(atom: Any) -> TypeGuard[Var]:
    """Whether an atom is an array of at least one axis, which has memory of its own."""
    return isinstance(atom, Var) and isinstance(atom.type, ArrayType) and atom.type.rank > 0


@dataclass(slots=True, eq=False)
class Let:
    """`targets = op(*args, **attrs)`. Attributes are static; sizes may occur inside them."""

    targets: tuple[Var, ...]
    op: Any
    args: tuple[Atom, ...]
    attrs: dict[str, Any] = field(default_factory=dict)
    origin: Origin | None = None

    @property
    def target(self) -> Var:
        return self.targets[0]


@dataclass(slots=True, eq=False)
class Merge:
    """`target` is `then` after the first branch of an `If` and `orelse` after the second. With `saved`, it is kept for
    the reverse sweep, which uses it only where it is defined."""

    target: Var
    then: Atom
    orelse: Atom
    saved: bool = field(default=False, kw_only=True)


@dataclass(slots=True, eq=False)
class If:
    """Two branches on a scalar condition; nothing leaves a branch but through a merge."""

    cond: Atom
    then: Block
    orelse: Block
    merges: list[Merge]
    origin: Origin | None = None


@dataclass(slots=True, eq=False)
class Carry:
    """A value handed from iteration to iteration: `entry` is `init` at first and `next` later;
    `out` is what it is after the loop."""

    entry: Var
    init: Atom
    next: Atom
    out: Var


@dataclass(slots=True, eq=False)
class Read:
    """`target = source[position]` at the start of an iteration; `source` is a Seq or an array."""

    target: Var
    source: Atom


@dataclass(slots=True, eq=False)
class Record:
    """`target[position] = value` where `value` is defined; `target` is a Seq known after the loop. With `saved`, it is
    kept for the reverse sweep, which reads it only for iterations that used it; saving a name that is not bound does
    not count as a use of it."""

    target: Var
    value: Atom
    saved: bool = field(default=False, kw_only=True)


@dataclass(slots=True, eq=False)
class Loop:
    """Positions 0..trips-1, upwards or (`down`) downwards.

    With `cond`, the loop ends as soon as `cond` is false; it is computed before each iteration by
    the statements of `test` from the entries of the carries. `trips` may then be None (`while`).
    `count` is, after the loop, how many iterations there were. A loop with a condition runs
    upwards and has no reads.

    `blocks` and `again` say what a reverse sweep keeps of it: with `blocks`, the carries at the start of each of that
    many blocks of iterations (0: about the square root of the number of trips), which may be split in turn; with
    `again`, nothing, because the loop is rerun there.

    With `independent`, the program promises that no iteration reads or writes what another one writes, except for sums.
    """

    position: Var
    trips: Atom | None
    carries: list[Carry]
    body: Block
    reads: list[Read] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    down: bool = False
    test: Block = field(default_factory=list)
    cond: Atom | None = None
    count: Var | None = None
    origin: Origin | None = None
    blocks: tuple[int, ...] = ()
    again: bool = False
    independent: bool = False


@dataclass(slots=True, eq=False)
class Call:
    """A call of another Core function that keeps its own name in the output."""

    targets: tuple[Var, ...]
    function: Function
    args: tuple[Atom, ...]
    origin: Origin | None = None


@dataclass(slots=True, eq=False)
class Effect:
    """Something done for its effect. `kind` is ``"print"``, ``"assert"``, ``"raise"``, ``"forget"`` (a record that is
    no longer needed), ``"name"`` (a name that the program asks for and that may be unbound), …; `attrs` holds the
    static template into which `args` are put."""

    kind: str
    args: tuple[Atom, ...]
    attrs: dict[str, Any] = field(default_factory=dict)
    origin: Origin | None = None


def raising(exception: type[BaseException], message: str, origin: Origin | None) -> Effect:
    """What raises an exception with a message that holds no values."""
    return Effect("raise", (), {"exception": exception, "template": ((message,),)}, origin)


Stmt = Union[Let, If, Loop, Call, Effect]


@dataclass(slots=True, eq=False)
class Function:
    """A Core function. `dims` says where each named dimension is found: (parameter, axis). `role` is what a
    transformation made it for: ``"jvp"``, ``"forward"`` or ``"reverse"``; ``"called"`` for one that was read to be
    called; empty for the function itself. `size_names` are what the user calls sizes. With `again`, reverse mode
    repeats calls of it and keeps nothing of them, as they take little time. `source` has the user's comments. `equal`
    are pairs of sizes that are the same in all calls, as the function whose reverse it is has tested."""

    name: str
    params: list[Var]
    body: Block
    results: list[Atom]
    dims: dict[Any, tuple[Var, int]] = field(default_factory=dict)
    guards: list[Any] = field(default_factory=list)
    origin: Origin | None = None
    role: str = ""
    size_names: dict[Size, str] = field(default_factory=dict)
    again: bool = False
    source: Any = None
    equal: tuple[tuple[Extent, Extent], ...] = ()
