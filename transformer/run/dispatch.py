"""Dispatch: from the arguments of a call to the generated function for their types.

A call is looked up by its exact key (types and shapes) first. A new key is described, compared with
the functions generated so far (same types, guards hold), and only then is a new one generated.
"""

from __future__ import annotations

import functools
import os
import threading
import weakref
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import tree
from ..core.errors import TransformError
from ..core.halves import kind_of
from ..core.on_devices import is_on_device
from ..ops.registry import registry
from ..read.varying import Constant, Varying, given
from ..settings import config, followers
from .changing import warn_where_often
from .collecting import uncollected
from .current import unchanged
from .freed import keep_freed_memory
from .nans import call_watching_nans
from .raising import complete
from .sharing import Memory
from .signature import Description, describe, exact_key, hashable
from .static import Fixed, StaticPaths

if TYPE_CHECKING:
    from ..parallel.placing import Placed

MOST_EXACT_KEYS = 4096
MOST_ENTRIES = 64


@dataclass(slots=True)
class Entry:
    """A function to call, with what it rests on. `source` is its text, `generated` is everything known about
    it, `integers` are the integer arguments that guards mention, with their paths, `memory` says which
    arguments are written; `refusal` is why it is not what was asked for."""

    function: Callable[..., Any]
    source: str = ""
    generated: Any = None
    guards: list[Any] = field(default_factory=list)
    hidden: list[Any] = field(default_factory=list)
    watched: list[Any] = field(default_factory=list)
    integers: dict[Any, str] = field(default_factory=dict)
    memory: Memory = field(default_factory=Memory)
    hidden_key: tuple[Hashable, ...] = ()
    refusal: Exception | None = None
    unchanged: Callable[[], bool] | None = None

    def fits(self, hints: dict[Any, int]) -> bool:
        """Whether the guards hold for a call with these sizes, and integers by their paths."""
        values = {**hints, **{unknown: hints[path] for unknown, path in self.integers.items()}}
        return all(guard.holds(values) for guard in self.guards) and self.is_current()

    def is_current(self) -> bool:
        """Whether the globals and closures it was read with are what they were."""
        try:
            return self.test()()
        except (AttributeError, LookupError):  # there is none any more
            return False

    def test(self) -> Callable[[], bool]:
        """What looks whether it is current, and may raise AttributeError or LookupError where it is not."""
        if self.unchanged is None:
            self.unchanged = unchanged(self.watched, self.hidden, self.hidden_key)
        return self.unchanged


@dataclass(slots=True)
class Held:
    """A generated function with all that it takes from outside as it was at one time."""

    entry: Entry
    outside: dict[str, Any]
    dispatcher: Dispatcher

    def __call__(self, *args: Any) -> Any:
        try:
            return run(self.entry, args, self.outside)
        except ZeroDivisionError:
            again = self.dispatcher.with_numpys(args, {})
            if again is None:
                raise
        return run(self.dispatcher.entry(*again), again[0], self.outside)

    def is_current(self) -> bool:
        """Whether what it takes from outside is still the same."""
        return self.entry.is_current() and all(
            np.array_equal(held := np.asarray(self.outside[h.name]), h.fetch(), equal_nan=kind_of(held.dtype) in "fc")
            for h in self.entry.hidden)


class Dispatcher:
    """Finds or generates the function for a call. Safe when first called from several threads.
    `user` is the user's function, whose source errors about arguments show. Arguments in `static_names`, and sizes
    smaller than `below`, are known when it is read."""

    def __init__(self, generate: Callable[..., Entry], names: Callable[[int], list[str]], user: Any,
                 static_names: frozenset[str] = frozenset(), below: int = 2) -> None:
        self.generate = generate
        self.names = functools.lru_cache(names)
        self.user = user
        self.exact: dict[Any, Entry] = {}
        self.by_type: dict[Any, list[Entry]] = {}
        self.static_names = static_names
        self.static = StaticPaths(static_names, below)
        self.newest: Entry | None = None
        self.varying = Varying()
        self.version = registry.version
        self.lock = threading.RLock()
        _all.add(self)

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Runs the function for a call; a derivative at numbers that Python cannot divide, with NumPy's."""
        try:
            return self.called(args, kwargs)
        except ZeroDivisionError:
            again = self.with_numpys(args, kwargs)
            if again is None:
                raise
        return self.called(*again)

    def with_numpys(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        from .zero_divisions import is_derivative, with_numpys
        if not is_derivative(self.whole):
            return None
        return with_numpys(args, kwargs, self.names(len(args)), self.static_names)

    def called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if any(map(is_on_device, tree.leaves((args, kwargs)))):
            return self.placed(args, kwargs)
        entry = self.entry(args, kwargs)
        given = kwargs
        if entry.hidden:
            kwargs = {**kwargs, **{h.name: h.fetch() for h in entry.hidden}}
        if entry.memory.is_checked:
            entry.memory.check(args, given, self.names(len(args)), entry.hidden)
        return run(entry, args, kwargs)

    @functools.cached_property
    def placed(self) -> Placed:
        """Calls with arrays on devices."""
        from ..parallel.placing import Placed
        return Placed(self.plainly, getattr(self.user, "__name__", "the function"), self.note_placed,
                      None if self.whole is None else lambda: self.on_gpu)

    whole: Any = None                            # the function itself, which is compiled for arrays on GPUs

    @functools.cached_property
    def on_gpu(self) -> Callable[..., Any]:
        """The function for calls with arrays on GPUs."""
        return self.for_gpus()

    def for_gpus(self) -> Callable[..., Any]:
        from ..jitting import jit
        compiled: Callable[..., Any] = jit(self.whole, device="cuda", static_argnames=sorted(self.static_names))
        return compiled

    note_placed: Callable[..., None] | None = None           # makes further calls with arrays on devices quick ones

    def plainly(self, *args: Any, **kwargs: Any) -> Any:
        """A call without such arrays."""
        return self.call(args, kwargs)

    def hold(self, args: tuple[Any, ...], places: tuple[Any, ...]) -> Held:
        """What a call with arguments like these runs as of now: what is assigned to globals or captured
        names later, or written to their arrays, does not reach it. `places` are the arrays that the
        arguments were copied from."""
        entry = self.entry(args, {})
        if entry.memory.written:
            entry.memory.check(places, {}, self.names(len(args)), entry.hidden)
        return Held(entry, {h.name: h.held() for h in entry.hidden}, self)

    def entry(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Entry:
        if self.version != registry.version:
            self._forget()
        entry = self.exact.get(self.key(args, kwargs))
        if entry is None or ((entry.watched or entry.hidden) and not entry.is_current()):
            entry = self.find(args, kwargs)
        return entry

    def _forget(self) -> None:
        """Drops what was generated before a user defined an op, whose rule it may not follow."""
        with self.lock:
            self.version = registry.version
            self.exact.clear()
            self.by_type.clear()

    def find(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Entry:
        """The entry of a call whose exact key is new (or whose entry went stale)."""
        try:
            with generating, self.lock:
                return self._found(args, kwargs)
        except TransformError as error:
            from ..read.places import placed
            if not config.internal_frames:
                error.with_traceback(None)
            with placed(self.user):
                raise error

    def _found(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Entry:
        described = describe(args, kwargs, self.names(len(args)), self.static)
        entry = self._known(described)
        if entry is None:
            with uncollected():
                entry = self._generated_for(described, args, kwargs)
            described = describe(args, kwargs, self.names(len(args)), self.static)
            entries = self.by_type.setdefault(type_key(described), [])
            if len(entries) >= MOST_ENTRIES:     # most rest on what a global was once
                entries[:] = [each for each in entries if each.is_current()]
            entries.append(entry)
        if len(self.exact) >= MOST_EXACT_KEYS:
            self.exact.clear()
        self.exact[self.key(args, kwargs)] = self.newest = entry
        return entry

    def key(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Hashable:
        """What a call is looked up by."""
        if not self.static_names:
            return exact_key(args, kwargs)
        names = self.names(len(args))
        fixed = tuple(Fixed(arg, name) if name in self.static_names else arg for name, arg in zip(names, args))
        return exact_key(fixed, {name: Fixed(arg, name) if name in self.static_names else arg
                                 for name, arg in kwargs.items()})

    def _generated_for(self, described: Description, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Entry:
        """A new entry, which takes the numbers from outside that have changed as arguments, where that is possible."""
        keep_freed_memory()
        stale = [each.watched for each in self.by_type.get(type_key(described), []) if not each.is_current()]
        for watched in stale:
            self.varying.note(watched)
        warn_where_often(self.user, stale)
        try:
            with given(self.varying):
                entry = self.generate(described, args, kwargs, self)
            is_refused = entry.refusal is not None
        except TransformError:
            is_refused = True
            if not self.varying.is_used:
                raise
        if is_refused and self.varying.is_used:
            self.varying = Constant()
            entry = self.generate(described, args, kwargs, self)
        return entry

    def _known(self, described: Description) -> Entry | None:
        entries = self.by_type.get(type_key(described), [])
        return next((e for e in entries if e.fits(described.hints)), None)


# One thread generates at a time: Python 3.11 may fail where two make syntax trees at once (SystemError: AST
# constructor recursion depth mismatch). It is always taken before the lock of a dispatcher.
generating = threading.RLock()


def is_generating() -> bool:
    """Whether another thread generates or compiles a function."""
    if generating.acquire(blocking=False):
        generating.release()
        return False
    return True


followers.append(registry.renew)
_all: weakref.WeakSet[Dispatcher] = weakref.WeakSet()


def _renew_locks() -> None:
    """In the child of a fork: whoever held a lock is not there."""
    global generating
    generating = threading.RLock()
    for dispatcher in list(_all):
        dispatcher.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)


def run(entry: Entry, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if config.debug_nans:
        return call_watching_nans(entry, args, kwargs)
    try:
        return entry.function(*args, **kwargs)
    except Exception as error:
        complete(error)
        raise


def type_key(described: Description) -> tuple[Hashable, ...]:
    """Types and static objects of a described call, as a key."""
    leaves, structure = tree.flatten((described.args, described.kwargs))
    return structure, tuple((type(leaf), hashable(leaf)) for leaf in leaves), described.turned
