"""`pmap` as a transformation: the function of one device, cut into phases at its collectives."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from .. import tree
from ..core.builder import Builder
from ..core.errors import BadArgument
from ..core.grammar import Function, Var
from ..ops.collectives import named_axis
from ..read.interface import Interface
from .batching.batched import Batched, leaves_with
from .batching.lane_axes import SHARED, Axes, differs_where_known, spread
from .halves import in_float32
from .modes import Args, Kwargs, Mode
from .phases import in_phases


@dataclass(frozen=True)
class Spread(Mode):
    """What each of `size` devices runs, which `mode` names; its `in_axes` say what they share."""

    mode: Batched
    size: int
    suffix: str = field(default="pmap", init=False)
    extras: int = field(default=0, init=False)
    gives_driver: ClassVar[bool] = True

    def entered(self, args: Args, kwargs: Kwargs, names: Sequence[str], hints: Mapping[Any, int] | None = None
                ) -> tuple[Mode, Args, Kwargs]:
        entries = self.mode.entries(names)
        axes = tuple(map(_spread, entries, args, names))
        named = {name: _spread(self.mode.by_keyword(name), arg, name) for name, arg in kwargs.items()}
        found = dict(_apart([*zip(names, args, axes), *((name, arg, named[name]) for name, arg in kwargs.items())]))
        return _Entered(self.mode, self.size, axes, named, found), args, kwargs


@dataclass(frozen=True, eq=False)
class _Entered(Spread):
    """The same for a call: with the axes of its arguments, and for each one that differs from device to device the
    entry of in_axes that says so."""

    axes: tuple[Any, ...]
    named: dict[str, Any]
    found: dict[str, str]

    def around(self) -> AbstractContextManager[None]:
        name = self.mode.axis_name
        return nullcontext() if name is None else named_axis(name, self.size)

    def refusal(self, known: Collection[str]) -> BadArgument | None:
        return next((differs_where_known(path, self.found[path], self.suffix) for path in known if path in self.found),
                    None)

    def mapped(self) -> Collection[str]:
        return self.found

    def transform(self, function: Function, interface: Interface, builder: Builder) -> tuple[Function, Interface]:
        apart = [leaf for leaf, axis in leaves_with(interface, self.axes, self.named)
                 if isinstance(leaf, Var) and axis is not SHARED]
        in_float32(function, interface, by_entry=False)          # so that nothing is rounded between phases
        driver = in_phases(function)
        interface = replace(interface, name=f"{interface.name}_{self.suffix}",
                            differing=frozenset(apart))
        return driver, interface


def _apart(entries: Sequence[tuple[str, Any, Any]]) -> Iterator[tuple[str, str]]:
    """The paths of leaves that have an axis of devices, with what says so."""
    for name, arg, axes in entries:
        for axis, path in zip(tree.leaves(axes), tree.flatten(arg)[1].paths()):
            if axis is not SHARED:
                yield name + path, axis.whose


def _spread(entry: tuple[Axes, str], arg: Any, name: str) -> Any:
    axes, whose = entry
    return spread(axes, arg, whose, name)
