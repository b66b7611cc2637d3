"""Repeated calls of a driver as graphs: the driver runs once more while the GPU notes what it is asked for, and later
calls launch what was noted.

    call 1, 2               the driver runs, which compiles and loads its kernels
    call 3                  its arguments are copied to memory of the graph's own, in which the driver runs and is noted
    call 4, 5, …            arguments are copied to that memory, and the graph is launched, which leaves the results

A driver with many small kernels takes longer to ask for them than the GPU takes to do them. Where it reads a number of
the device, `item_of(number)`, a graph ends, and another one begins: a later call goes on as long as the number is what
it was, and else runs the driver. What is noted are the numbers among the arguments, too: there are graphs for each.

Results lie in memory of the graph's. Whoever has them keeps them: while one is held, by an `Array` or a view, the next
call takes a twin of the graph, which is noted then, and where all twins are held the driver runs. So parameters that
go from step to step of a training take turns between two. Each stream has graphs of its own, as it has memory of its
own in CuPy's pool: what is done with a result in one of them is not waited for by others.
"""

from __future__ import annotations

import re
import sys
import threading
import weakref
from collections import Counter
from functools import cache
from typing import Any

from ... import tree
from ...core.grammar import Effect
from ...lower.expand.checks import CHECK
from ...lower.nest.nest_walk import statements
from ...settings import config
from .copies import copy_all
from .library import is_simulated, library
from .products import forget
from .streams import identity

AFTER = 3                               # calls with the same numbers
LEAST = 4                               # launches for which a graph is made
PER_LAUNCH = 1 << 21                    # bytes of arguments that are copied in less time than a launch takes
MOST_KEYS = 8                           # of a function, for other numbers each
MOST_TWINS = 3
MOST_PARTS = 4                          # of a graph
OF_CUPY = frozenset(("empty", "zeros", "matmul", "cuda"))                # what CuPy does without waiting
HARMLESS = frozenset(("assert", "raise", CHECK))                         # they decide, and tell nothing

_noting = threading.local()


def at_once(entry: Any) -> Any:
    """The function of an entry, as graphs if its driver asks for much, and may be noted."""
    source = entry.source
    count = len(re.findall(r"^ +fill_\w+\[|\bcp\.matmul\(", source, re.MULTILINE))
    if count < LEAST or is_simulated() or "replayed(" in source:
        return entry.function
    lowered = entry.generated.module.kernel.lowered
    effects = {stmt.kind for stmt in statements(lowered.body) if isinstance(stmt, Effect)}
    may_wait = not OF_CUPY.issuperset(re.findall(r"\bcp\.(\w+)", source))
    return entry.function if may_wait or not HARMLESS.issuperset(effects) else Whole(entry.function, count)


def item_of(cell: Any) -> Any:
    """The number in an array of one element, when the device has it."""
    noted = getattr(_noting, "current", None)
    return cell[0].item() if noted is None else noted.item_of(cell)


class Whole:
    """A function of arrays on the current GPU and numbers, which asks for something `count` times. It is called like
    that function."""

    def __init__(self, function: Any, count: int) -> None:
        self.function, self.most_bytes = function, count * PER_LAUNCH
        self.graphs: dict[Any, list[Noted]] = {}
        self.never: set[Any] = set()
        self.seen: Counter[Any] = Counter()
        self.lock = threading.Lock()             # a graph has one memory for all calls

    def __call__(self, *args: Any) -> Any:
        cp = library()
        leaves, structure = tree.flatten(args)
        stream = cp.cuda.get_current_stream()
        if stream.is_capturing() or not self.lock.acquire(blocking=False):
            return self.function(*args)
        try:
            numbers = [repr(leaf) for leaf in leaves if type(leaf) is not cp.ndarray]
            key = cp.cuda.get_device_id(), identity(stream), *numbers
            noted = self._noted(key, leaves, structure)
            found = None if noted is None else noted.replayed([leaf for leaf in leaves if type(leaf) is cp.ndarray])
        finally:
            self.lock.release()
        return self.function(*args) if found is None else found[0]

    def _noted(self, key: Any, leaves: list[Any], structure: Any) -> Noted | None:
        """A graph of calls with these numbers of which nobody has results, once such calls have come often enough."""
        twins = self.graphs.get(key, [])
        for noted in twins:
            if noted.is_free():
                return noted
        if key in self.never or len(twins) >= MOST_TWINS or not self._is_often(key):
            return None
        kept, most = kept_memory(), config.graph_share * memory()
        asked = sum(getattr(leaf, "nbytes", 0) for leaf in leaves)
        if asked <= self.most_bytes and kept + asked < most:
            made = Noted(self.function, leaves, structure)
            if not made.failed and kept + made.pool.total_bytes() < most:
                self.graphs[key] = [*twins, made]
                made.keep()
                return made
        self.never.add(key)
        return None

    def _is_often(self, key: Any) -> bool:
        if key not in self.seen and len(self.seen) >= MOST_KEYS:
            return False
        self.seen[key] += 1
        return self.seen[key] >= AFTER


@cache
def memory() -> int:
    """Bytes of the current GPU, as all GPUs of a computer are taken to have."""
    return int(library().cuda.runtime.memGetInfo()[1])


_kept: weakref.WeakSet[Noted] = weakref.WeakSet()
_counting = threading.RLock()


def kept_memory() -> int:
    """Bytes that graphs have of the current GPU, whichever functions they are of."""
    device = library().cuda.get_device_id()
    with _counting:
        return sum(noted.pool.total_bytes() for noted in _kept if noted.device == device)


class Noted:
    """What a function asked for, with arguments and results in memory of their own."""

    def __init__(self, function: Any, leaves: list[Any], structure: Any) -> None:
        cuda = library().cuda
        self.kind, self.device, self.failed = library().ndarray, cuda.get_device_id(), False
        self.parts: list[tuple[Any, Any, Any]] = []                      # graphs, what they leave, and what that was
        self.own: list[Any] = []
        self.is_open = False                     # while the stream is noted
        self.asked = cuda.get_current_stream()   # which may not end: another one could have its handle, and this graph
        self.pool = cuda.MemoryPool()
        self.products: Any = None                # in whose memory it works
        self.stream = cuda.Stream(non_blocking=True)
        forget(self.device, self.stream.ptr)     # of a stream before: its memory is not of this pool
        with cuda.using_allocator(self.pool.malloc):
            self._note(function, leaves, structure)
        self.products = forget(self.device, self.stream.ptr)
        self.counts = self._held()

    def keep(self) -> None:
        """Makes its memory count."""
        with _counting:
            _kept.add(self)

    def _note(self, function: Any, leaves: list[Any], structure: Any) -> None:
        try:
            given = [leaf.copy() if type(leaf) is self.kind else leaf for leaf in leaves]
            self.own = [leaf for leaf in given if type(leaf) is self.kind]
            library().cuda.get_current_stream().synchronize()
            with self.stream:
                self.results, self.structure = tree.flatten(self._result(function, tree.unflatten(structure, given)))
        except Exception:                        # memory is short, it cannot be noted, or it raises: it runs as ever
            self.failed, (self.results, self.structure) = True, tree.flatten(None)
        self.given = [self._place(leaf) for leaf in self.results]
        memory = [own.data.mem for own in self.own]
        self.failed |= any(place is None and type(leaf) is self.kind and leaf.data.mem in memory
                           for leaf, place in zip(self.results, self.given))

    def _result(self, function: Any, args: tuple[Any, ...]) -> Any:
        """The result of a call that is noted. One before it brings all memory that it needs."""
        function(*args)
        self.stream.synchronize()
        self._begin()
        _noting.current = self
        try:
            return function(*args)
        finally:
            _noting.current = None
            if self.is_open:
                self._end(None, None)

    def item_of(self, cell: Any) -> Any:
        """A number that the function asks for, in the memory of the graph."""
        self._end(cell, None)
        if len(self.parts) >= MOST_PARTS:
            raise ValueError("a graph has too many parts")
        graph, *_ = self.parts[-1]
        graph.launch(self.stream)
        number = cell[0].item()
        self.parts[-1] = graph, cell, repr(number)                       # which tells -0.0 from 0.0
        self._begin()
        return number

    def _begin(self) -> None:
        self.stream.begin_capture()
        self.is_open = True

    def _end(self, cell: Any, number: Any) -> None:
        """Ends what is noted, also where an error has made it invalid: a stream is of no use before."""
        self.is_open = False
        self.parts.append((self.stream.end_capture(), cell, number))

    def _place(self, leaf: Any) -> int | None:
        """Which argument a result is, if it is one."""
        return next((k for k, own in enumerate(self.own) if own is leaf), None)

    def is_free(self) -> bool:
        """Whether nobody else has results."""
        return self._held() == self.counts

    def _held(self) -> list[int]:
        """How many hold each result, where it begins (as views from there do), and its memory (as other views do)."""
        arrays = [leaf for leaf, place in zip(self.results, self.given) if place is None and type(leaf) is self.kind]
        return [sys.getrefcount(each) for array in arrays for each in (array, array.data, array.data.mem)]

    def replayed(self, arrays: list[Any]) -> tuple[Any] | None:
        """The result for other arrays; None where the function would take another way."""
        stream = library().cuda.get_current_stream()
        copy_all(self.own, arrays)
        for graph, cell, number in self.parts:
            graph.launch(stream)
            if cell is not None and repr(cell[0].item()) != number:
                return None
        return tree.unflatten(self.structure, [
            _alike(leaf) if place is None else arrays[place] for leaf, place in zip(self.results, self.given)]),


def _alike(leaf: Any) -> Any:
    """A result as another array in the same memory, of which the program may change the shape."""
    return leaf.view() if type(leaf) is library().ndarray else leaf
