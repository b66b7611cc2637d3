"""Items that are computed before the loop that uses them, where Python computes them one by one.

    for k, v in enumerate(a * scale for a in x):      the items are computed first, and then the loop runs:
        scale = scale + v                             refused, as Python would compute the next with this

Refused as well is a generator that changes what the code around its loop can see.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from types import MethodType
from typing import TYPE_CHECKING, Any

from ...core.errors import NotSupported
from ...ops.value import Value
from ..sources.scope import names_in, scope_of
from ..values import ArrayMethod, Closure, ContainerMethod, Lazy, Producer, cell_of

if TYPE_CHECKING:
    from ..frames import Frame
    from ..reader import Reader

States = dict[Any, tuple[Any, ...]]


class Ahead:
    """What the items of an iterator were computed from, and the state that it had then."""

    def __init__(self, reader: Reader, sources: Iterable[Any], *, of_items: bool = True) -> None:
        """With `of_items` a change of an item of a list matters as well, otherwise only which items there are."""
        self.reader = reader
        self.sources = tuple(sources)
        self.of_items = of_items
        self.given = [tuple(s.frame.names.values()) if isinstance(s, Producer) else () for s in self.sources]
        self.before = self._states()

    def check_computed(self) -> None:
        """To be called when the items have been computed."""
        if self.has_changed():
            raise self._refusal("an iterator that changes variables used outside it is not supported")
        self.before = self._states()

    def has_changed(self) -> bool:
        """Whether computing the items has changed what the code around can see."""
        now = self._states()
        changed = [key for key, state in self.before.items() if not _same(state, now.get(key, ()))]
        return bool(changed) and not _Reached(self.reader).of_frame(self.reader.frame).keys().isdisjoint(changed)

    def check_unchanged(self) -> None:
        """To be called where the items are used."""
        now = self._states()
        if not all(_same(state, now.get(key, ())) for key, state in self.before.items()):
            raise self._refusal("changing the variables from which the items of an iterator are computed is not "
                                "supported")

    def _states(self) -> States:
        reached = _Reached(self.reader)
        for source, given in zip(self.sources, self.given):
            if self.of_items or isinstance(source, Lazy | Producer | Closure):
                reached.visit(source)
            else:
                reached.note(source)
            for value in given:
                reached.visit(value)
        return reached.states

    def _refusal(self, what: str) -> NotSupported:
        return NotSupported(
            what,
            self.reader.builder.origin,
            why="All items would be computed before the first is used, whereas Python computes each item on demand.",
            instead="Compute the items in a loop over range(n), or build a list first: list(...).",
        )


def _same(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    return len(one) == len(other) and all(a is b for a, b in zip(one, other))


class _Reached:
    """The state of everything that can change and that some values lead to: the version of an array, the items
    of a container, the attributes of an object, what a name holds."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.states: States = {}

    def of_frame(self, frame: Frame) -> States:
        for each in frame.lineage():
            for name, value in each.names.items():
                self._name(each, name, value)
        return self.states

    def note(self, value: Any) -> None:
        """The items of a value, which go on being what they are: rows are seen to change, numbers are not."""
        if isinstance(value, Value):
            if value.ndim == 1:
                self.visit(value)
        else:
            held = self.reader.contents.get(id(value), value)
            self.states[id(value)] = value, held, *self._parts(value)

    def visit(self, value: Any) -> None:
        held = self.reader.contents.get(id(value), value)
        if isinstance(held, Value):
            cell = cell_of(held)
            self.states[id(cell)] = cell, cell.atom
        elif isinstance(held, Lazy):
            inner = set(scope_of(held.node).bound)
            self._free(names_in(held.node) - names_in(held.node.generators[0].iter), held.frame, inner)
            self.visit(held.first)
        elif isinstance(held, Producer | Closure):
            node = held.frame.scope.node if isinstance(held, Producer) else held.node
            outer = held.frame.parent if isinstance(held, Producer) else held.frame
            self._free(names_in(node), outer, set(scope_of(node).bound))
        if id(value) not in self.states:
            parts = self._parts(value)
            self.states[id(value)] = value, held, *parts
            for part in parts:
                self.visit(part)

    def _parts(self, value: Any) -> tuple[Any, ...]:
        from .iteration import Iteration

        if isinstance(value, dict):
            return *value, *value.values()
        if isinstance(value, list | tuple | set | frozenset):
            return tuple(value)
        if isinstance(value, Closure):
            return *value.defaults, *value.keyword_defaults.values()
        if isinstance(value, MethodType):
            return (value.__self__,)
        if isinstance(value, partial):
            return value.func, *value.args, *value.keywords.values()
        if isinstance(value, ArrayMethod | ContainerMethod):
            return (value.value if isinstance(value, ArrayMethod) else value.container,)
        if self.reader.owns(value) and hasattr(value, "__dict__") and not isinstance(value, Lazy | Producer):
            return tuple(vars(value).values())
        return value.held if isinstance(value, Iteration) else ()

    def _free(self, names: Iterable[str], frame: Frame | None, inner: set[str]) -> None:
        for name in set(names) - inner:
            for each in () if frame is None else frame.lineage():
                if name in each.names:
                    self._name(each, name, each.names[name])
                    break

    def _name(self, frame: Frame, name: str, value: Any) -> None:
        key = id(frame), name
        if key not in self.states:
            self.states[key] = frame, value
            self.visit(value)
