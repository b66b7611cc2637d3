"""What names hold while a function is read.

A dynamic value is a `Value`; everything else is static and simply is that Python object, except
for the few classes here that stand for objects which are known in part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from ..core.errors import Origin
from ..core.grammar import Atom, Const, type_of
from ..core.halves import NumpyNumber
from ..core.sizes import Size
from ..core.types import ArrayType
from ..ops.value import Value

if TYPE_CHECKING:
    from .branches.journal import Journal
    from .frames import Frame
    from .reader import Reader


class _Marker:
    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


ABSENT: Any = _Marker("absent")  # what a name holds before it is bound
UNKNOWN: Any = _Marker("unknown")  # the answer where no Python object is known


def known_of(value: Any) -> Any:
    """The Python object that a value certainly is, or UNKNOWN."""
    if isinstance(value, Value):
        if value.known is not None:
            return value.known
        return value.atom.value if not isinstance(value, View) and isinstance(value.atom, Const) else UNKNOWN
    return UNKNOWN if isinstance(value, (Size, Text, OrNone)) else value


def is_array(value: Any) -> bool:
    """Whether a value is an array, which can be written in place; a number cannot."""
    return isinstance(value, Value) and (value.ndim > 0 or isinstance(value, Axisless | View))


def is_axisless(value: Any) -> bool:
    """Whether a value is an array without axes."""
    return is_array(value) and not value.ndim


def may_be_array(value: Any) -> bool:
    """Whether a value is an array on some path."""
    return is_array(value) or isinstance(value, PerhapsAxisless)


def is_number(value: Any) -> bool:
    """Whether a value is a number or a truth value, known or not."""
    if isinstance(value, Value):
        return value.ndim == 0
    return isinstance(value, (bool, int, float, complex, Size)) or isinstance(value, NumpyNumber)


class Axisless(Value):
    """An array without axes (``np.zeros(())``): a number for all but writes in place, which everything
    that refers to it sees."""

    __slots__ = ()


class Lane(Value):
    """What an argument is in one lane of a batch: a parameter of what is read, whatever its dtype."""

    __slots__ = ()


class PerhapsAxisless(Value):
    """An array without axes on some paths and a number on others."""

    __slots__ = ()


class View(Value):
    """A part of the array `base`: reading takes the part of what `base` is by then, writing puts
    the part back. `extract(base) -> part` and `insert(base, part) -> base` emit Core; `by_elements` tells that
    they do the same to single elements, or to any part of both."""

    __slots__ = ("base", "by_elements", "extract", "insert", "journal", "seen")

    def __init__(
        self,
        base: Value,
        extract: Callable[[Value], Value],
        insert: Callable[[Value, Value], Value],
        journal: Journal,
        part: Atom,
        by_elements: bool = False,
    ) -> None:
        self.known = None
        self.by_elements = by_elements
        self.base = base
        self.extract = extract
        self.insert = insert
        self.journal = journal
        self.seen: tuple[Atom, Atom] = (base.atom, part)

    @property
    def atom(self) -> Atom:  # type: ignore[override]
        base = self.base.atom
        if self.seen[0] is not base:
            self.see(base, self.extract(Value(base)).atom)
        return self.seen[1]

    @property
    def type(self) -> ArrayType:
        """The type, which never changes; found without taking the part anew."""
        type = type_of(self.seen[1])
        assert isinstance(type, ArrayType)
        return type

    def see(self, base: Atom, part: Atom) -> None:
        """Notes that of this version of the base, this is the part."""
        self.journal.note_seen(self)
        self.seen = base, part


def cell_of(value: Value) -> Value:
    """The array that a view is a part of in the end."""
    while isinstance(value, View):
        value = value.base
    return value


def whereabouts(value: Value) -> Atom:
    """The array, or the part of it that a view is, taken again: what a view was seen as may be what was put there."""
    return value.extract(Value(whereabouts(value.base))).atom if isinstance(value, View) else value.atom


@dataclass(eq=False)
class Conflict:
    """What a name holds after paths that leave different things in it. Using it is an error, or
    asks for what decides between the paths: `cond`, or the loop with key `loop`, of which it may do to read the first
    iteration by itself (`first_apart`); or for a test of sizes at `place`. Of a dictionary `home` only the keys differ:
    single items can be used. Of a list that differs in length (`by_length`) `sample` is the last item that it may have,
    of which `sampled` is the template, and `list` the list. `mentioned` is the name by which the program reaches it, or
    EVERYWHERE."""

    __tree_leaf__: ClassVar[bool] = True
    message: str
    origin: Origin | None
    cond: Any = None
    loop: Any = None
    first_apart: bool = False
    instead: str | None = None
    place: Any = None
    home: Any = None
    sample: tuple[Any, ...] = ()
    sampled: Any = None
    by_length: bool = False
    list: Any = None
    mentioned: str | None = None


@dataclass(eq=False)
class OrNone:
    """What is `item` where `there` holds, and else None (see `or_none`)."""

    __tree_leaf__: ClassVar[bool] = True
    there: Value
    item: Any


@dataclass(frozen=True, eq=False)
class DynamicRange:
    """A `range` whose bounds, or the step, are not all known."""

    __tree_leaf__: ClassVar[bool] = True
    start: Any
    stop: Any
    step: Any


@dataclass(frozen=True, slots=True)
class Hole:
    """The place of argument `k` of an effect in its template, and how it is formatted."""

    __tree_leaf__: ClassVar[bool] = True
    k: int
    conversion: str = ""
    spec: str = ""


@dataclass(frozen=True, eq=False)
class Text:
    """A string with dynamic parts; `pieces` are strings and values with how they are formatted."""

    __tree_leaf__: ClassVar[bool] = True
    pieces: tuple[Any, ...]

    def __add__(self, other: Any) -> Text:
        return Text((*self.pieces, *(other.pieces if isinstance(other, Text) else (other,))))

    def __radd__(self, other: Any) -> Text:
        return Text((other, *self.pieces))


@dataclass(frozen=True, eq=False)
class Formatted:
    """A dynamic value inside a `Text`."""

    __tree_leaf__: ClassVar[bool] = True
    value: Any
    conversion: str = ""
    spec: str = ""


@dataclass(eq=False)
class Closure:
    """A function or lambda defined by code that is being read, with the frame it was defined in."""

    __tree_leaf__: ClassVar[bool] = True
    node: Any
    frame: Frame
    reader: Reader
    defaults: tuple[Any, ...] = ()
    keyword_defaults: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.__name__ = getattr(self.node, "name", "<lambda>")
        self.__qualname__ = self.__name__
        self.__module__ = self.frame.globals.get("__name__", "")
        self.__doc__ = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.reader.call(self, args, kwargs)


@dataclass(frozen=True, eq=False)
class ArrayMethod:
    """`x.sum` before it is called."""

    __tree_leaf__: ClassVar[bool] = True
    value: Value
    name: str


@dataclass(frozen=True, eq=False)
class ContainerMethod:
    """`xs.append`, `d.get`, … before it is called."""

    __tree_leaf__: ClassVar[bool] = True
    container: Any
    name: str


@dataclass(eq=False)
class Lazy:
    """A generator expression: read where it is consumed. `first` is what its first `for` runs over, which Python
    evaluates at once."""

    __tree_leaf__: ClassVar[bool] = True
    node: Any
    frame: Frame
    first: Any
    begun: bool = False
    listed: Any = None  # the iteration over its items, where they have been computed (see `next_items`)


@dataclass(eq=False)
class Producer:
    """A call of a generator, whose tree is `node`; `body` reads a body, that of its scope, in its frame."""

    __tree_leaf__: ClassVar[bool] = True
    frame: Frame
    node: Any
    body: Callable[[Any], Any]
    begun: bool = False
    listed: Any = None
    steps: Any = None  # the iteration over its items, where they are taken one by one (see `stepping`)


@dataclass(frozen=True, eq=False)
class ExceptionValue:
    """An exception that was made here with these arguments; where its class has an `__init__` of its own, `made` is an
    object that this has been called for."""

    __tree_leaf__: ClassVar[bool] = True
    kind: Any
    args: tuple[Any, ...]
    made: Any = None


def contained(value: Any) -> Iterator[Any]:
    """The values in tuples, lists, sets and dictionaries, nested ones too."""
    if isinstance(value, (tuple, list, set, frozenset)):
        for item in value:
            yield from contained(item)
    elif isinstance(value, dict):
        yield from contained(tuple(value.values()))
    else:
        yield value


def has_dynamic(value: Any) -> bool:
    """Whether anything in a value is not known."""
    return any(isinstance(item, (Value, Size, Text, OrNone)) and known_of(item) is UNKNOWN for item in contained(value))


def stripped(value: Any) -> Any:
    """A static value with every `Value` that is a known number replaced by that number."""
    if isinstance(value, Value):
        return known_of(value)
    if type(value) is tuple or type(value) is list:
        return type(value)(map(stripped, value))
    if type(value) is dict:
        return {key: stripped(item) for key, item in value.items()}
    if isinstance(value, slice):
        return slice(stripped(value.start), stripped(value.stop), stripped(value.step))
    return value
