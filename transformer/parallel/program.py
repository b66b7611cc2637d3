"""A generated driver, with its phases compiled, that runs for several devices at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from time import perf_counter
from types import FunctionType
from typing import Any

from ..core.errors import TransformError
from ..core.grammar import Call, Let
from ..core.walk import all_statements, has_effects
from ..run.dispatch import Entry
from ..transform.differing import differing_vars
from .device import Device
from .exchange import Exchange
from .sharded import NumPyOnEach, Sharded, part_of
from .workers import Part, Pending, run_task

SHORT = 200e-6                          # seconds


class Program:
    """The driver of an entry, for these devices, which `axis_name` numbers."""

    def __init__(self, entry: Entry, devices: Sequence[Device], axis_name: Any) -> None:
        self.entry, self.devices = entry, devices
        self.exchange = self._exchange()
        function: Any = entry.function
        core, apart = entry.generated.function, entry.generated.interface.differing
        differing = differing_vars(core.body, [param for param in core.params if param in apart], axis_name)
        scope = {**function.__globals__, "np": NumPyOnEach(len(devices)), "transformer": self.exchange}
        self.has_collectives = any(isinstance(stmt, Let) and stmt.op.over_lanes for stmt in all_statements(core.body))
        for call in all_statements(core.body):
            if isinstance(call, Call) and call.function.role == "phase":
                name = call.function.name
                same = [var not in differing for var in call.targets]
                waits = has_effects(call.function)
                scope[name] = Phase(function.__globals__[name], same, devices, waits)
        self.function = FunctionType(function.__code__, scope, function.__name__, function.__defaults__)
        self.function.__kwdefaults__ = function.__kwdefaults__

    def _exchange(self) -> Exchange:
        return Exchange(self.devices)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        hidden = {each.name: each.fetch() for each in self.entry.hidden}
        return self.function(*args, **kwargs, **hidden)


class Phase:
    """A phase in a driver: calling it gives tasks to all devices, and waits for none, unless it `waits`: what a
    phase prints and raises comes before what follows. `same` says which of its results are equal on all devices.

    What is the same everywhere is computed once. A short phase of the first device runs here, as handing it to
    another thread would take longer."""

    def __init__(self, function: Callable[..., Any], same: list[bool], devices: Sequence[Device],
                 waits: bool) -> None:
        self.name = function.__name__
        self.compiled = _Compiled(function)
        self.same, self.devices, self.waits = same, devices, waits

    def __call__(self, *args: Any) -> Any:
        alone = all(self.same) and not self.waits and all(type(arg) is not Sharded or arg.is_same for arg in args)
        tasks = [device.submit(self.compiled, [part_of(arg, k) for arg in args], self.name)
                 for k, device in enumerate(self.devices) if k and not alone]
        tasks.insert(0, self._first([part_of(arg, 0) for arg in args]))
        if self.waits:
            for task in tasks:
                task.wait()
            for task in tasks:
                task.result()
        if alone:
            tasks *= len(self.devices)
        if len(self.same) == 1:
            return Sharded(tasks, self.same[0])
        return tuple(Sharded([Part(task, k) for task in tasks], same) for k, same in enumerate(self.same)) or None

    def _first(self, args: list[Any]) -> Pending:
        """The task of the first device."""
        device = self.devices[0]
        if self.compiled.seconds > SHORT or not device.worker.is_idle:
            return device.submit(self.compiled, args, self.name)
        pending = Pending(f"{self.name} on {device}")
        run_task(self.compiled, args, pending)
        return pending


class _Compiled:
    """A compiled function, and how long a call takes; what has no compiled form runs as it is."""

    def __init__(self, plain: Callable[..., Any]) -> None:
        from ..jitting import jit
        self.function, self.plain = jit(plain), plain
        self.seconds = math.inf

    def __call__(self, *args: Any) -> Any:
        start = perf_counter()
        try:
            result = self.function(*args)
        except TransformError:
            self.function = self.plain
            result = self.plain(*args)
        taken = perf_counter() - start
        self.seconds = min(taken, 0.7 * self.seconds + 0.3 * taken)
        return result
