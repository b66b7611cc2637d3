"""A generated driver, with its phases compiled, that runs for several devices at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from ..core.errors import TransformError
from ..core.grammar import Call, Let
from ..core.walk import all_statements, has_effects
from ..run.dispatch import Entry
from .device import Device
from .exchange import Exchange
from .sharded import NumPyOnEach, Sharded, part_of
from .workers import Part


class Program:
    """The driver of an entry, for these devices."""

    def __init__(self, entry: Entry, devices: Sequence[Device]) -> None:
        self.entry = entry
        function: Any = entry.function
        core, differing = entry.generated.function, entry.generated.interface.differing
        scope = {**function.__globals__, "np": NumPyOnEach(len(devices)), "transformer": Exchange(devices)}
        self.has_collectives = any(isinstance(stmt, Let) and stmt.op.over_lanes for stmt in all_statements(core.body))
        for call in all_statements(core.body):
            if isinstance(call, Call) and call.function.role == "phase":
                name = call.function.name
                same = [var not in differing for var in call.targets]
                waits = has_effects(call.function)
                scope[name] = Phase(function.__globals__[name], same, devices, waits)
        self.function = FunctionType(function.__code__, scope, function.__name__, function.__defaults__)
        self.function.__kwdefaults__ = function.__kwdefaults__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        hidden = {each.name: each.fetch() for each in self.entry.hidden}
        return self.function(*args, **kwargs, **hidden)


class Phase:
    """A phase in a driver: calling it gives tasks to all devices, and waits for none, unless it `waits`: what a
    phase prints and raises comes before what follows. `same` says which of its results are equal on all devices."""

    def __init__(self, function: Callable[..., Any], same: list[bool], devices: Sequence[Device],
                 waits: bool) -> None:
        from ..jitting import jit
        self.name = function.__name__
        self.compiled = _Compiled(jit(function), function)
        self.same, self.devices, self.waits = same, devices, waits

    def __call__(self, *args: Any) -> Any:
        tasks = [device.submit(self.compiled, [part_of(arg, k) for arg in args], self.name)
                 for k, device in enumerate(self.devices)]
        if self.waits:
            for task in tasks:
                task.wait()
            for task in tasks:
                task.result()
        if len(self.same) == 1:
            return Sharded(tasks, self.same[0])
        return tuple(Sharded([Part(task, k) for task in tasks], same) for k, same in enumerate(self.same)) or None


class _Compiled:
    """A compiled function; what has no compiled form runs as it is."""

    def __init__(self, compiled: Callable[..., Any], plain: Callable[..., Any]) -> None:
        self.compiled, self.plain = compiled, plain

    def __call__(self, *args: Any) -> Any:
        try:
            return self.compiled(*args)
        except TransformError:
            self.compiled = self.plain
            return self.plain(*args)
