"""A generated driver, with its phases compiled, that runs for several devices at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from time import perf_counter
from types import CodeType, FunctionType
from typing import Any

from .. import tree
from ..core.errors import TransformError
from ..core.grammar import Block, Call, Function, If, Let, Loop, Var
from ..core.walk import all_statements, all_uses, has_effects
from ..run.dispatch import Entry
from ..run.threads import limit
from ..settings import config
from ..write.prelude import WITH_OPS
from .device import Device
from .exchange import Exchange
from .sharded import NumPyOnEach, Sharded, part_of
from .workers import Part, Pending, failed, known, run_task

SHORT = 200e-6                          # seconds: less is done in the thread that calls
HANDING_OVER = 60e-6                    # seconds that it takes to give a task to a thread, and to have its result


class Program:
    """The driver of an entry, for these devices. Results may take the place of arguments
    that are named in `donated`, where they are free. `hands_on` says whether values may be held by several: results,
    arguments, and other devices."""

    share: Any = None                            # of what other processes run, too
    gpus: Sequence[Device] | None = None         # the devices, where they are GPUs

    def __init__(self, entry: Entry, devices: Sequence[Device], donated: Collection[str] = ()) -> None:
        self.entry, self.devices = entry, devices
        self.exchange = self._exchange()
        function: Any = entry.function
        core, apart = entry.generated.function, entry.generated.interface.differing
        together = entry.generated.interface.together
        self.hands_on = self._may_hand_on(core)
        free = set() if self.hands_on else {
            leaf for parameter in entry.generated.interface.parameters if parameter.name in donated
            for leaf in tree.leaves(parameter.tree) if leaf in apart}
        scope = {**function.__globals__, "np": self._numpy(), "transformer": self.exchange}
        function.__globals__.update({name: op for name, op in WITH_OPS.items() if name in function.__globals__})
        self.has_collectives = any(isinstance(stmt, Let) and stmt.op.over_lanes for stmt in all_statements(core.body))
        for call in all_statements(core.body):
            if isinstance(call, Call) and call.function.role == "phase":
                name = call.function.name
                same = [var in together for var in call.targets]
                scope[name] = self._phase(function.__globals__[name], same, has_effects(call.function),
                                          _last_used(call, core.body, free))
        self.function = FunctionType(self._code(function), scope, function.__name__, function.__defaults__)
        self.function.__kwdefaults__ = function.__kwdefaults__

    def _exchange(self) -> Exchange:
        return Exchange(self.devices)

    def _numpy(self) -> NumPyOnEach:
        return NumPyOnEach(len(self.devices))

    def _phase(self, function: Callable[..., Any], same: list[bool], waits: bool, donated: tuple[int, ...]) -> Phase:
        return Phase(function, same, self.devices, waits, donated)

    def _may_hand_on(self, core: Function) -> bool:
        return _hands_on(core)

    def _code(self, function: FunctionType) -> CodeType:
        return function.__code__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.entry.hidden:
            return self.function(*args, **kwargs)
        hidden = {each.name: each.fetch() for each in self.entry.hidden}
        return self.function(*args, **kwargs, **hidden)


def _hands_on(core: Function) -> bool:
    """Whether a driver may hold a value in several places: it returns an argument, or a value twice, a device gets what
    another one keeps, or it has loops and branches."""
    results = [atom for atom in core.results if isinstance(atom, Var)]
    return any(isinstance(stmt, (If, Loop)) or isinstance(stmt, Let) and stmt.op.shares for stmt in core.body) \
        or not set(results).isdisjoint(core.params) or len(set(results)) < len(results)


def _last_used(call: Call, body: Block, free: set[Any]) -> tuple[int, ...]:
    """Which arguments of a phase are free and used by nothing that follows it."""
    places = [k for k, arg in enumerate(call.args) if arg in free]
    if not places:
        return ()
    later = body[next(k for k, stmt in enumerate(body) if stmt is call) + 1:]
    used = {var for stmt in later for var in all_uses(stmt)}
    return tuple(k for k in places if call.args[k] not in used and call.args.count(call.args[k]) == 1)


class Phase:
    """A phase in a driver: calling it gives tasks to all devices, and waits for none, unless it `waits`: what a
    phase prints and raises comes before what follows. `same` says which of its results are equal on all devices.
    Results may take the place of the arguments at the positions `donated`, where all of those are free.

    What is the same everywhere is computed once. A short phase of the first device runs here, and if the others
    take less than handing them over would, they do, too."""

    def __init__(self, function: Callable[..., Any], same: list[bool], devices: Sequence[Device],
                 waits: bool, donated: tuple[int, ...] = ()) -> None:
        self.name = function.__name__
        self.same, self.devices, self.waits, self.donated = same, devices, waits, donated
        self.keeping = self._compiled(function, ())
        self.writing = self._compiled(function, donated) if donated else self.keeping

    def _compiled(self, function: Callable[..., Any], donated: tuple[int, ...]) -> Compiled:
        return Compiled(function, self.devices, donated)

    def _is_alone(self, args: tuple[Any, ...]) -> bool:
        """Whether one device computes what all of them have."""
        return all(self.same) and not self.waits and all(type(arg) is not Sharded or arg.is_same for arg in args)

    def __call__(self, *args: Any) -> Any:
        alone = self._is_alone(args)
        writes = self.donated and not alone and all(args[k].is_free for k in self.donated)
        compiled = self.writing if writes else self.keeping
        if compiled.seconds * (len(self.devices) - 1) < HANDING_OVER and not self.waits \
                and all(device.worker.is_idle for device in self.devices):
            return self._here(compiled, args, alone)
        tasks = [device.submit(compiled, [part_of(arg, k) for arg in args], self.name)
                 for k, device in enumerate(self.devices) if k and not alone]
        tasks.insert(0, self._first(compiled, [part_of(arg, 0) for arg in args]))
        if self.waits:
            for task in tasks:
                task.wait()
            for task in tasks:
                task.result()
        if alone:
            tasks *= len(self.devices)
        if len(self.same) == 1:
            return Sharded(tasks, self.same[0], maker=None if self.same[0] else compiled)
        return tuple([Sharded([Part(task, k) for task in tasks], same, maker=None if same else compiled)
                      for k, same in enumerate(self.same)]) or None

    def _here(self, compiled: Compiled, args: tuple[Any, ...], alone: bool) -> Any:
        """The results of all devices, from this thread."""
        count = len(self.devices)
        found = [self._value(compiled, args, k) for k in range(1 if alone else count)]
        if alone:
            found *= count
        if len(self.same) == 1:
            return Sharded(found, self.same[0], maker=None if self.same[0] else compiled)
        return tuple([Sharded([Part(each, k) if type(each) is Pending else each[k] for each in found], same,
                              maker=None if same else compiled) for k, same in enumerate(self.same)]) or None

    def _value(self, compiled: Compiled, args: tuple[Any, ...], k: int) -> Any:
        """What a device gives; an error is raised where the value is used."""
        try:
            given = [known(part_of(arg, k)) for arg in args]
        except Exception as error:               # of a phase before
            return failed(self.name, error)
        try:
            with self.devices[k].current():
                return compiled(*given)
        except Exception as error:
            whose = f"{self.name} on {self.devices[k]}"
            error.add_note(f"in {whose}")
            return failed(whose, error)

    def _first(self, compiled: Compiled, args: list[Any]) -> Pending:
        """The task of the first device."""
        device = self.devices[0]
        if compiled.seconds > SHORT or not device.worker.is_idle:
            return device.submit(compiled, args, self.name)
        pending = Pending(f"{self.name} on {device}")
        before = None if device.worker.threads is None else limit(device.worker.threads)
        with device.current():
            run_task(compiled, args, pending)
        if before is not None:
            limit(before)
        return pending


class Compiled:
    """A compiled function, and how long a call takes; without a compiled form, the function itself. `is_compiled` says
    whether all its results are in memory of their own, as those of compiled code are."""

    def __init__(self, plain: Callable[..., Any], devices: Sequence[Device], donated: tuple[int, ...] = ()) -> None:
        self.devices = devices
        self.function, self.plain = self._jitted(plain, donated), plain
        self.seconds = math.inf
        self.is_compiled = True

    def _jitted(self, plain: Callable[..., Any], donated: tuple[int, ...]) -> Callable[..., Any]:
        from ..jitting import jit
        compiled: Callable[..., Any] = jit(plain, donate=donated)
        return compiled

    def __call__(self, *args: Any) -> Any:
        if config.debug_nans:
            self.is_compiled = False
        start = perf_counter()
        try:
            result = self.function(*args)
        except TransformError:
            self.function, self.is_compiled = self.plain, False
            result = self.plain(*args)
        taken = perf_counter() - start
        self.seconds = min(taken, 0.7 * self.seconds + 0.3 * taken)
        return result
