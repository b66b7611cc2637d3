"""A call of a function compiled for a GPU, with arrays that lie there, that is like one before: what is known from that
one is not looked at again."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ... import tree
from ...core.on_devices import is_on_device
from ..dispatch import Entry
from .devices import count, launching
from .library import brought, is_simulated, library, put
from .modules import has_long_axis
from .streams import DEFAULT, Alone, Beside, On, mark
from .whole import at_once

NUMBERS = frozenset((int, float, bool, complex, str, type(None)))


class Again:
    """The calls by position of an entry that writes no arguments. They run on the GPU of an array among `args`, which
    all arrays of ours have to be on."""

    __slots__ = ("entry", "calls", "first", "arrays", "alone", "function")

    def __init__(self, entry: Entry, calls: Any, args: tuple[Any, ...]) -> None:
        self.entry, self.calls = entry, calls
        self.first = next(k for k, arg in enumerate(args) if type(arg) is _of_ours())
        self.arrays = None if is_simulated() else library().ndarray
        self.alone = Alone(args[self.first].device.id) if not is_simulated() and count() == 1 else None
        self.function = _simulated(entry.function) if is_simulated() else at_once(entry)

    @staticmethod
    def is_for(entry: Entry, args: tuple[Any, ...]) -> bool:
        """Whether there is such a call of an entry, for arguments like these."""
        return (entry.refusal is None and not entry.memory.written and not entry.hidden
                and any(type(arg) is _of_ours() for arg in args)
                and all(type(leaf) is _of_ours() and leaf.ndim for leaf in tree.leaves(args) if is_on_device(leaf)))

    def __call__(self, *args: Any) -> Any:
        device = args[self.first].device
        if not self._is_right(device):
            return self.calls.call(args, {})
        array = _of_ours()
        try:
            with self.alone or On(device.id) as stream:
                bare = [arg._known() if type(arg) is array and arg.device is device else
                        arg if type(arg) in NUMBERS else _bare(arg, device) for arg in args]
                result = self.function(*bare)
                done = mark(stream)
        except _Elsewhere:
            return self.calls.call(args, {})
        except OverflowError:
            if not has_long_axis(self.entry.function, args):
                raise
            return self.calls.call(args, {})
        if self.calls.donated:
            self.calls.give_up(args, {})
        return self._placed(result, device, done)

    def _is_right(self, device: Any) -> bool:
        """Whether a call on a device runs this function."""
        compiled = self.calls.target
        return (device.kind == "cuda" and (device is compiled.device or not compiled.is_bound)
                and (not self.entry.watched or self.entry.is_current()))

    def _placed(self, result: Any, device: Any, done: Any) -> Any:
        if type(result) is self.arrays:
            return _of_ours()(result, device, done)
        if type(result) is tuple and {self.arrays}.issuperset(map(type, result)):
            array = _of_ours()
            return tuple([array(each, device, done) for each in result])
        from ...parallel.array import wrapped
        return wrapped(result, device, done=done)


class There:
    """The same with arrays of CuPy's, in its current stream; results are such arrays."""

    __slots__ = ("entry", "calls", "device", "arrays", "alone", "stream", "function")

    def __init__(self, entry: Entry, calls: Any, device: Any) -> None:
        self.entry, self.calls, self.device = entry, calls, device
        self.arrays, self.alone = library().ndarray, library().cuda.Device(device.id) if count() == 1 else None
        self.stream = library().cuda.get_current_stream                  # which is looked up once
        self.function = at_once(entry)

    @staticmethod
    def is_for(entry: Entry, args: tuple[Any, ...]) -> bool:
        """Whether there is such a call of an entry, for arguments like these."""
        arrays = library().ndarray
        return (not is_simulated() and entry.refusal is None and not entry.memory.written and not entry.hidden
                and any(type(arg) is arrays for arg in args)
                and all(type(leaf) in NUMBERS or type(leaf) is arrays and leaf.ndim for leaf in tree.leaves(args)))

    def __call__(self, *args: Any) -> Any:
        device = self.device.id
        if not self._is_right(device, args):
            return self.calls.call(args, {})
        try:
            if self.alone is not None and self.stream().ptr in DEFAULT:
                self.alone.use()                 # in a thread that has done nothing yet, too
                return self.function(*args)      # which is in order with our stream
            with Beside(device):
                return self.function(*args)
        except OverflowError:
            if not has_long_axis(self.entry.function, args):
                raise
            return self.calls.call(args, {})

    def _is_right(self, device: int, args: tuple[Any, ...]) -> bool:
        if self.entry.watched and not self.entry.is_current():
            return False
        if self.alone is not None:
            return True
        return all(leaf.data.device_id == device for leaf in tree.leaves(args) if type(leaf) is self.arrays)


class _Elsewhere(Exception):
    """An array of ours is not where the call runs."""


def _bare(arg: Any, device: Any) -> Any:
    """An argument with the arrays that lie on a GPU, and copies there of NumPy's."""
    def leaf(each: Any) -> Any:
        if type(each) is np.ndarray:
            return put(each)
        if type(each) is not _of_ours():
            return each
        if each.device is not device:
            raise _Elsewhere
        return each._known()

    return tree.map(leaf, arg)


def _simulated(function: Any) -> Any:
    """A function whose kernels run as Python: one at a time, and with arrays that may be written to."""
    def called(*args: Any) -> Any:
        with launching():
            return function(*tree.map(brought, args))
    return called


@cache
def _of_ours() -> Any:
    from ...parallel.array import Array
    return Array
