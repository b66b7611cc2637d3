"""A call of a function compiled for a GPU, with `Array`s, that is like one before: nothing is looked at that is known
from that one."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from .. import tree
from .dispatch import Entry
from .gpu import is_simulated, library, put
from .gpu_streams import On, mark
from .native import is_on_device

NUMBERS = frozenset((int, float, bool, complex, str, type(None)))


class Again:
    """The calls by position of an entry that writes no arguments, with arrays on one GPU and what is no array."""

    __slots__ = ("entry", "calls", "device", "arrays", "function")

    def __init__(self, entry: Entry, calls: Any, device: Any) -> None:
        self.entry, self.calls, self.device = entry, calls, device
        self.function = entry.function
        self.arrays = None if is_simulated() else library().ndarray

    @staticmethod
    def is_for(entry: Entry, args: tuple[Any, ...]) -> bool:
        """Whether there is such a call of an entry, for arguments like these."""
        return entry.refusal is None and not entry.memory.written and not entry.hidden and all(
            type(leaf) is _of_ours() and leaf.ndim for leaf in tree.leaves(args) if is_on_device(leaf))

    def __call__(self, *args: Any) -> Any:
        if self.entry.watched and not self.entry.is_current():
            return self.calls.call(args, {})
        array, device = _of_ours(), self.device
        with On(device.id) as stream:
            bare = [arg._known() if type(arg) is array and arg.device is device else
                    arg if type(arg) in NUMBERS else tree.map(self._bare, arg) for arg in args]
            result = self.function(*bare)
            done = mark(stream)
        if self.calls.donated:
            self.calls.give_up(args, {})
        return self._placed(result, done)

    def _bare(self, leaf: Any) -> Any:
        if type(leaf) is np.ndarray:
            return put(leaf)
        if type(leaf) is not _of_ours():
            return leaf
        if leaf.device is not self.device:
            raise ValueError(f"an argument is on {leaf.device}, the function runs on {self.device}. Bring it there "
                             f"with device_put(x, {str(self.device)!r})")
        return leaf._known()

    def _placed(self, result: Any, done: Any) -> Any:
        if type(result) is self.arrays:
            return _of_ours()(result, self.device, done)
        if type(result) is tuple and {self.arrays}.issuperset(map(type, result)):
            array, device = _of_ours(), self.device
            return tuple([array(each, device, done) for each in result])
        from ..parallel.array import wrapped
        return wrapped(result, self.device, done=done)


@cache
def _of_ours() -> Any:
    from ..parallel.array import Array
    return Array
