"""The nest form: Core in which every array operation is an explicit loop nest over numbers.

    Block    = list of Stmt
    Stmt     = Let(targets, op, args, attrs)        an op on numbers, or `Load`: a number of an array
             | Allocate(target, source)             memory for an array, not filled or a copy of `source`
             | Nest(indices, body)                  independent iterations; the body ends with stores
             | Turn(indices, body)                  a nest that copies rows as columns, or back
             | Fold(indices, carries, body)         iterations in order, which hand numbers on
             | Store(array, at, value, adds)        array[at] = value, or += value
             | Product(target, left, right, …)      matrices multiplied by a library
             | Library(targets, op, args, attrs)    arrays and numbers that NumPy computes
             | Task(body, index, cost)         a nest that threads share, with memory of each thread's own
             | Launch(body, form, indices)     what one kernel on a GPU does (`cuda/launches.py`)
             | Invoke(targets, function, args) a call, to which arrays are given
             | Keep, Kept(targets, layout)     what a call saves for its reverse, in a list (`handles.py`)
             | If, Loop, Effect                as in Core, around and inside of nests
    Index    = (var, size)                          runs over 0..size-1

An array is written only by the nests that follow its `Allocate`; from there on it is a value, as in
Core. Places are atoms: integers, or sizes in terms of the variables of indices (``n - i - 1``), so that
a later stage knows what an index reaches. `Load` and `Store` are at places inside of the array.

    y[i] = total of x[i, j] ** 2 over j:

    allocate y
    nest i < n
        fold j < m, total = 0.0
            item = load x, i, j
            square = multiply item, item
            next = add total, square
        store y, i, out
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Union

from ...core import grammar
from ...core.builder import current
from ...core.errors import Origin
from ...core.grammar import Atom, Call, Carry, Var
from ...core.guards import Assumptions
from ...core.sizes import Extent
from ...core.types import INT, ArrayType
from ...ops.base import Op

Block = list[Any]                       # of Stmt, which are more than those of Core
GREATEST = "greatest"                   # how a store adds that leaves the greater one of two numbers
ROOM = "room"                           # the effect that an array has so many rows, and more if it had fewer


class Load(Op):
    """The number at a place of an array."""

    operands = ("x",)
    types = staticmethod(lambda x, *at: ArrayType(x.dtype))
    run: Any = staticmethod(lambda x, *at: x[at])


class Length(Op):
    """How many places an axis of an array has, where nothing else says so."""

    operands = ("x",)
    types = staticmethod(lambda x, axis: INT)
    run: Any = staticmethod(lambda x, axis: x.shape[axis])


class Named(Op):
    """A size under a name."""

    operands = ("size",)
    types = staticmethod(lambda size: INT)
    run: Any = staticmethod(lambda size: size)


@dataclass(slots=True, eq=False)
class Index:
    """A variable that runs over 0..size-1."""

    var: Var
    size: Extent


@dataclass(slots=True, eq=False)
class Allocate:
    """Memory for an array of the target's type; `maker` is the op whose result it will be. With a
    `source` it begins as that array, in the memory of that one if nobody needs it any more."""

    target: Var
    maker: str = ""
    origin: Origin | None = None
    source: Atom | None = None


@dataclass(slots=True, eq=False)
class Nest:
    """`body` for every place of an index space, the first index outermost: in any order, or
    (`ordered`) in C order, as one place may write where another did. What is known to write `apart` does so at each
    place, though its places are computed."""

    indices: list[Index]
    body: Block
    origin: Origin | None = None
    ordered: bool = False
    apart: bool = False


@dataclass(slots=True, eq=False)
class Turn(Nest):
    """A nest that copies rows to the columns of memory that is wide enough for eight more, or back (`turns.py`)."""


@dataclass(slots=True, eq=False)
class Fold:
    """`body` for every place of an index space in C order; numbers go from one to the next."""

    indices: list[Index]
    carries: list[Carry]
    body: Block
    origin: Origin | None = None


@dataclass(slots=True, eq=False)
class Store:
    """`array[at] = value`; with `adds`, `array[at] += value`, or what else adds up in any order."""

    array: Var
    at: tuple[Atom, ...]
    value: Atom
    adds: bool | str = False
    origin: Origin | None = None


@dataclass(slots=True, eq=False)
class Part:
    """A part of an array: what is at places in terms of indices, as `x[b, i, k + 1]`."""

    array: Var
    at: tuple[Atom, ...]


@dataclass(slots=True, eq=False)
class Product:
    """`target[…] = sum of left[…] * right[…]` over `inner`, for all `rows` and `columns`: a product of
    matrices, which a library computes. The rows are those of `left`, the columns those of `right`. With a `factor`,
    it is that times the product; it may be added to what the target holds (`adds`)."""

    target: Part
    left: Part
    right: Part
    rows: list[Index]
    columns: list[Index]
    inner: list[Index]
    origin: Origin | None = None
    factor: Atom | None = None
    adds: bool = False

    @property
    def indices(self) -> list[Index]:
        return [*self.rows, *self.columns, *self.inner]

    @property
    def parts(self) -> tuple[Part, Part, Part]:
        return self.target, self.left, self.right


@dataclass(slots=True, eq=False)
class Library:
    """`targets = op(*args, **attrs)`, computed by NumPy: arrays are filled, which have their memory already,
    numbers are defined, and what is `unread` is dropped."""

    targets: tuple[Var, ...]
    op: Any
    args: tuple[Atom, ...]
    attrs: dict[str, Any] = field(default_factory=dict)
    origin: Origin | None = None
    unread: frozenset[Var] = frozenset()

    def is_array(self, target: Var) -> bool:
        return bool(getattr(target.type, "sizes", ())) and target not in self.unread


@dataclass(slots=True, eq=False)
class Task:
    """A nest that threads share along an index, behind the memory that each of them has for itself. `cost` is what
    one iteration of that index takes, in additions."""

    body: Block
    index: Index
    cost: Extent
    origin: Origin | None = None

    @property
    def nest(self) -> Nest:
        nest: Nest = self.body[-1]
        return nest


@dataclass(slots=True, eq=False)
class Launch:
    """What one kernel on a GPU does. Threads share the places of a nest, which is the last statement, over `indices`
    (`form` is ``"threads"``), or blocks of threads do (``"blocks"``); or one block does everything together
    (``"block"``), or one thread (``"thread"``). Several threads may add to the same element of arrays in `added`."""

    body: Block
    form: str
    indices: list[Index] = field(default_factory=list)
    origin: Origin | None = None
    added: set[Var] = field(default_factory=set)


@dataclass(slots=True, eq=False)
class Invoke(Call):
    """A call of a function, to which the arrays at the places `given` belong from then on. Its results are the
    caller's."""

    given: frozenset[int] = frozenset()


@dataclass(slots=True, eq=False)
class Keep(Call):
    """One more item in the list of a layout; the target is which one it is. As with a call, nobody else may write to
    arrays that are handed over."""

    layout: Any = None


@dataclass(slots=True, eq=False)
class Kept(Call):
    """The fields of an item in the list of a layout."""

    layout: Any = None


Stmt = Union[grammar.Stmt, Allocate, Nest, Fold, Store, Product, Library, Task, Launch]


@dataclass(slots=True, eq=False)
class Lowered:
    """A function in the nest form. `results` are numbers and arrays, those in `outside` in memory
    that the caller allocates and passes in (those in `zeroed` full of zeros), those in `in_place` in that of a
    parameter, which they are. `callees` are the functions that it calls, and those that they call; they return all
    their results. `assumptions` say which sizes are equal. On a GPU, `cells` are the arrays of one element in which
    numbers lie."""

    function: grammar.Function
    body: Block
    results: list[Atom]
    outside: list[Var] = field(default_factory=list)
    callees: list[Lowered] = field(default_factory=list)
    assumptions: Assumptions = field(default_factory=Assumptions)
    in_place: list[Var] = field(default_factory=list)
    cells: set[Var] = field(default_factory=set)
    zeroed: list[Var] = field(default_factory=list)

    @property
    def returned(self) -> list[Atom]:
        """The results that the caller does not have as memory that it passed in."""
        passed = {*self.outside, *self.in_place}
        return [atom for atom in self.results if atom not in passed]


def emit(stmt: Stmt) -> None:
    """Appends a statement to the block that is being made."""
    block: Block = current().block
    block.append(stmt)


def split(stmt: Nest | Fold, depth: int) -> Nest | Fold:
    """A nest or fold over its first `depth` indices, with one over the others inside, if there are more."""
    outer, inner = stmt.indices[:depth], stmt.indices[depth:]
    if not inner:
        return stmt
    if isinstance(stmt, Nest):
        return Nest(outer, [Nest(inner, stmt.body, stmt.origin, stmt.ordered)], stmt.origin, stmt.ordered)
    around = [Carry(Var(c.entry.type, c.entry.name), c.init, Var(c.out.type), c.out) for c in stmt.carries]
    rest = [Carry(c.entry, o.entry, c.next, o.next)                      # type: ignore[arg-type]
            for c, o in zip(stmt.carries, around, strict=True)]
    return Fold(outer, around, [Fold(inner, rest, stmt.body, stmt.origin)], stmt.origin)
