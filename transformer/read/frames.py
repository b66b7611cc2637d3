"""Frames: the names of a function that is being read, and how a name is found from it."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from types import CellType
from typing import TYPE_CHECKING, Any

from ..core.errors import NotSupported, Origin, as_raised, suggestion
from ..core.grammar import Var
from ..core.types import INT
from .branches.journal import Name, OwnNames
from .sources.scope import Scope
from .values import ABSENT

if TYPE_CHECKING:
    from .reader import Reader


LIBRARY = f"{__package__}.library"


def stamp() -> int:
    """A point in time, comparable with the serial numbers of variables."""
    return Var(INT).serial


@dataclass(eq=False)
class Frame:
    """The names of one call. `parent` is the frame in which the function was defined, where that
    is being read too; `cells` and `globals` are those of the Python function."""

    scope: Scope
    file: str
    function: str
    globals: dict[str, Any]
    cells: dict[str, CellType] = field(default_factory=dict)
    parent: Frame | None = None
    path: tuple[Any, ...] = ()  # the places of the calls that lead here
    names: dict[str, Any] = field(default_factory=dict)
    pinned: list[Any] = field(default_factory=list)  # values in use without a name
    progress: list[tuple[list[Any], int]] = field(default_factory=list)  # statements being read: block and place
    result: str | None = None  # holds what an early `return` gives; not for the body
    returned: Origin | None = None  # the expression that gives the result
    first: Any = None  # the first argument, for `super()`
    given: dict[str, Any] | None = None  # the arguments, as they were given
    named: list[Any] = field(default_factory=list)  # variables that have got their name from a parameter
    consume: Any = None  # what is done with each item of a generator
    goes_on: Any = None  # tells whether it is asked for further items, where that may end early
    inner: Frame | None = None  # of the body of a class: where its methods are defined, which do not see its names
    site: Origin | None = None  # where a function of the library was called
    source: Any = None  # of a function of a module
    made: int = field(default_factory=stamp)

    def origin(self, node: Any) -> Origin:
        frame: Frame | None = self
        while frame is not None:
            if frame.site is not None:
                return frame.site
            frame = frame.parent
        end = node.end_col_offset if node.end_lineno == node.lineno else None
        return Origin(self.file, node.lineno, node.col_offset, end, self.function)

    def has_code_of(self, other: Frame) -> bool:
        """Whether both are calls of the same function."""
        same = self.scope.node is other.scope.node and self.parent is other.parent
        return same and all(cell is other.cells.get(name) for name, cell in self.cells.items())

    def reset(self) -> None:
        """Holds nothing but the arguments again."""
        self.names.clear()
        self.names.update(self.given or {})

    @contextmanager
    def holding(self, value: Any) -> Iterator[None]:
        """The value is in use although no name may hold it, such as what a loop runs over."""
        self.pinned.append(value)
        try:
            yield
        finally:
            self.pinned.pop()

    def __post_init__(self) -> None:
        if self.globals.get("__name__", "").startswith(LIBRARY):
            self.names = OwnNames(self.names)

    @property
    def is_ours(self) -> bool:
        """Whether the function is one of ours that is read for one of NumPy or SciPy."""
        return isinstance(self.names, OwnNames)

    def lineage(self) -> Iterator[Frame]:
        """This frame and those in which its function was defined."""
        frame: Frame | None = self
        while frame is not None:
            yield frame
            frame = frame.parent


class Unbound(Exception):
    """A name of the function holds nothing yet."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def load(reader: Reader, frame: Frame, name: str) -> Any:
    """What a name stands for in a frame; values from outside are lifted and watched."""
    for scope_frame in frame.lineage():
        if name in scope_frame.scope.bound:
            if name not in scope_frame.names:
                raise Unbound(name)
            return scope_frame.names[name]
        if name in scope_frame.scope.globals:
            return _load_global(reader, frame, name)
        if name in scope_frame.cells:
            return _load_cell(reader, scope_frame.cells[name], name)
    return _load_global(reader, frame, name)


def _load_cell(reader: Reader, cell: CellType, name: str) -> Any:
    try:
        found = cell.cell_contents
    except ValueError:
        raise Unbound(name) from None
    return reader.outside.lift(found, partial(getattr, cell), "cell_contents", name)


def _load_global(reader: Reader, frame: Frame, name: str) -> Any:
    if name in frame.globals:
        return reader.outside.lift(frame.globals[name], frame.globals.get, name, name)
    found = getattr(builtins, name, ABSENT)
    if found is ABSENT:
        names = {*frame.names, *frame.globals, *dir(builtins)}
        raised = NameError(f"name {name!r} is not defined")
        raise as_raised(raised, reader.builder.origin, suggestion(name, sorted(names)))
    return found


def store(reader: Reader, frame: Frame, name: str, value: Any) -> None:
    """Binds a name; refuses names that outlive the call."""
    for scope_frame in frame.lineage():
        if name in scope_frame.scope.bound:
            reader.journal.write(Name(scope_frame.names, name), value)
            return
        if name in scope_frame.scope.globals or name in scope_frame.cells:
            break
    raise NotSupported(
        f"cannot assign to {name!r}, which exists outside the function",
        reader.builder.origin,
        why="A transformed function must not have side effects.",
        instead="Return the new value.",
    )
