"""Generated modules for GPUs, run step by step as plain Python: the threads of a block one after the other, each to its
next barrier.

Two threads that touch the same element, one of them writing, without a barrier between them, are a race and raise; so
do threads of which some wait at a barrier and others have ended, places outside of an array, additions at once beside
other accesses, and kernels of which a block has more memory to share than every device gives it.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator
from functools import wraps
from types import SimpleNamespace
from typing import Any

import numpy as np

from transformer.lower.cuda import grids
from transformer.run.gpu.simulated import four_of, in_fours, set_four
from transformer.run.gpu.simulated import place as signless

BARRIER, SHUFFLE = "barrier", "shuffle"
THREADS, BLOCKS = 4, 2                 # of a block, a power of two; of a grid along each axis
MOST_SHARED = 48 << 10                 # bytes that a block may have without asking for more


class Race(AssertionError):
    """Two threads touch the same element in an order that nobody has decided."""


class Watched:
    """An array in a kernel, which notes who touches what: `reads`, `writes` and `adds` (those at once) have by place
    the (block, thread, phase)."""

    def __init__(self, array: np.ndarray, who: Any) -> None:
        self.array, self.who, self.shape = array, who, array.shape
        self.reads: dict[Any, set[Any]] = {}
        self.writes: dict[Any, Any] = {}
        self.adds: dict[Any, set[Any]] = {}

    def _place(self, at: Any) -> tuple[int, ...]:
        at = tuple(int(k) for k in (at if isinstance(at, tuple) else (at,)))
        assert len(at) == self.array.ndim, (at, self.shape)
        assert all(0 <= k < n for k, n in zip(at, self.shape)), f"{at} in {self.shape}"
        return at

    def _together(self, one: Any, other: Any) -> bool:
        """Whether nothing says which of two accesses comes first."""
        return one[0] != other[0] or one[1] != other[1] and one[2] == other[2]

    def __getitem__(self, at: Any) -> Any:
        if len(at if isinstance(at, tuple) else (at,)) < self.array.ndim:
            return Row(self, at if isinstance(at, tuple) else (at,))
        at, me = self._place(at), self.who()
        self._alone(at, me, self._written(at), self.adds.get(at, ()))
        self.reads.setdefault(at, set()).add(me)
        return self.array[at]

    def __setitem__(self, at: Any, value: Any) -> None:
        at, me = self._place(at), self.who()
        self._alone(at, me, self.reads.get(at, ()), self._written(at), self.adds.get(at, ()))
        self.reads.pop(at, None)
        self.adds.pop(at, None)
        self.writes[at] = me
        self.array[at] = value

    def add(self, at: Any, value: Any) -> None:
        """An addition at once: those of several threads come one after the other, other accesses beside them not."""
        at, me = self._place(at), self.who()
        self._alone(at, me, self.reads.get(at, ()), self._written(at))
        self.adds.setdefault(at, set()).add(me)
        self.array[at] += value

    def _written(self, at: Any) -> list[Any]:
        return [self.writes[at]] if at in self.writes else []

    def _alone(self, at: Any, me: Any, *accesses: Iterable[Any]) -> None:
        """Raises where another thread touches an element at the same time."""
        for others in accesses:
            for other in others:
                if self._together(other, me):
                    raise Race(f"{at} touched by {me} and by {other}")


class Row:
    """What lies along the last axis of an array."""

    def __init__(self, array: Watched, at: tuple[int, ...]) -> None:
        self.array, self.at = array, at

    def __getitem__(self, k: int) -> Any:
        return self.array[*self.at, k]

    def __setitem__(self, k: int, value: Any) -> None:
        self.array[*self.at, k] = value


class Waiting(ast.NodeTransformer):
    """Makes generators of the functions that wait at barriers, and of those that call them."""

    def __init__(self, waiting: set[str]) -> None:
        self.waiting = waiting

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if ast.unparse(node.func) == "cuda.syncthreads":
            return ast.Yield(ast.Constant(BARRIER))
        if ast.unparse(node.func) == "cuda.shfl_xor_sync":
            return ast.YieldFrom(ast.Call(ast.parse("cuda.handed", mode="eval").body, node.args[1:], []))
        return ast.YieldFrom(node) if isinstance(node.func, ast.Name) and node.func.id in self.waiting else node


class Cuda:
    """What `numba.cuda` is to a kernel."""

    def __init__(self) -> None:
        self.local = SimpleNamespace(array=unwritten)
        self.shared = SimpleNamespace(array=self._shared)
        self.atomic = SimpleNamespace(add=self._add, max=self._max, compare_and_swap=self._compare_and_swap)
        self.launches = 0
        self.hands: dict[Any, Any] = {}
        self.is_running = False

    def _shared(self, shape: Any, dtype: Any) -> Any:
        """The same array for all threads of a block: the k-th that each of them asks for."""
        count = self.asked[self.thread] = self.asked.get(self.thread, 0) + 1
        if count > len(self.memory):
            self.memory.append(Watched(unwritten(shape, dtype), self._who))
        return self.memory[count - 1]

    def grid(self, axes: int) -> int:
        return self.blockIdx.x * self.blockDim.x + self.threadIdx.x

    def gridsize(self, axes: int) -> int:
        return self.gridDim.x * self.blockDim.x

    def handed(self, value: Any, other: int) -> Iterator[str]:
        """The number of another thread of the warp, `value` being that of the running one. Others wait for nobody."""
        me = self.thread
        self.hands[me] = value
        yield SHUFFLE
        found = self.hands[*me[:-1], me[-1] ^ other]
        yield SHUFFLE
        return found

    def _compare_and_swap(self, array: Watched, expected: Any, value: Any) -> Any:
        before = array.array[0]
        array.array[0] = value if before == expected else before
        return before

    def _add(self, array: Watched, at: Any, value: Any) -> None:
        array.add(at, value)

    def _max(self, array: Watched, at: Any, value: Any) -> None:
        array.add(at, max(0, value - array.array[array._place(at)]))

    def _who(self) -> tuple[Any, Any, int]:
        return self.block, self.thread, self.phase

    def jit(self, function: Any = None, device: bool = False) -> Any:
        if function is None:
            return self._of_kernels if device else lambda f: f
        return Kernel(self, function)

    def _of_kernels(self, function: Any) -> Any:
        """A function that is compiled for a device: a driver cannot call it."""
        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            assert self.is_running, f"the driver calls {function.__name__}, which is compiled for a device"
            return function(*args, **kwargs)

        return call

    # -- running ------------------------------------------------------------------------------

    def run(self, function: Any, grid: tuple[int, ...], block: tuple[int, ...], args: tuple[Any, ...]) -> None:
        self.is_running = True
        try:
            self._run(function, grid, block, args)
        finally:
            self.is_running = False

    def _run(self, function: Any, grid: tuple[int, ...], block: tuple[int, ...], args: tuple[Any, ...]) -> None:
        self.launches += 1
        self.gridDim, self.blockDim = _axes(grid), _axes(block)
        args = tuple(Watched(arg, self._who) if isinstance(arg, np.ndarray) else arg for arg in args)
        for place in np.ndindex(*grid[::-1]):
            self.block = self.blockIdx = _axes(place[::-1], 0)
            self.block = place
            self._block(function, block, args)

    def _block(self, function: Any, block: tuple[int, ...], args: tuple[Any, ...]) -> None:
        self.memory: list[Watched] = []
        self.asked: dict[Any, int] = {}
        self.phase = 0
        threads: dict[Any, Iterator[str]] = {}
        for place in np.ndindex(*block[::-1]):
            self._enter(place)
            begun = function(*args)
            if begun is not None:
                threads[place] = begun
        while threads:
            reached = {self._step(place, thread) for place, thread in threads.items()}
            assert len(reached) == 1, "some threads wait at a barrier that others never reach"
            self.phase += reached == {BARRIER}
            if None in reached:
                return

    def _enter(self, place: Any) -> None:
        self.thread, self.threadIdx = place, _axes(place[::-1], 0)

    def _step(self, place: Any, thread: Iterator[str]) -> str | None:
        """What a thread comes to next; None at its end."""
        self._enter(place)
        return next(thread, None)


def _axes(counts: tuple[int, ...], missing: int = 1) -> SimpleNamespace:
    x, y, z = (*counts, missing, missing, missing)[:3]
    return SimpleNamespace(x=int(x), y=int(y), z=int(z))


class Kernel:
    def __init__(self, cuda: Cuda, function: Any) -> None:
        self.cuda, self.function = cuda, function

    def __getitem__(self, config: Any) -> Any:
        grid, block = (each if isinstance(each, tuple) else (each,) for each in config[:2])
        return lambda *args: self.cuda.run(self.function, grid, block, args)


def namespace(source: str, given: dict[str, Any]) -> dict[str, Any]:
    """What a generated module defines, with NumPy's arrays in place of those on a device."""
    tree = ast.parse(source)
    tree.body = [stmt for stmt in tree.body if not (isinstance(stmt, (ast.Import, ast.ImportFrom)) and
                 ast.unparse(stmt) in COMPILERS)]
    for stmt in tree.body:
        assert not isinstance(stmt, ast.FunctionDef) or shared_bytes(stmt) <= MOST_SHARED, stmt.name
    functions = {stmt.name: ast.unparse(stmt) for stmt in tree.body if isinstance(stmt, ast.FunctionDef)}
    waiting = {name for name, text in functions.items() if "cuda.syncthreads()" in text}
    waiting |= {name for name, text in functions.items() if any(f"{other}(" in text for other in waiting)
                and "cuda.jit" in text}
    tree.body = [Waiting(waiting).visit(stmt) if isinstance(stmt, ast.FunctionDef) and stmt.name in waiting else stmt
                 for stmt in tree.body]
    made: dict[str, Any] = {"cp": OnHost(), "cuda": Cuda(), "intrinsic": lambda function: function, **given}
    exec(compile(ast.fix_missing_locations(tree), "<gpu>", "exec"), made)
    made.update({name: value for name, value in CONSTANTS.items() if name in made})
    plain = {name: name.rstrip("0123456789") for name in functions}      # a variable may have such a name
    made.update({name: OF_FOURS[form] for name, form in plain.items() if form in OF_FOURS})
    return made


def unwritten(shape: Any, dtype: Any) -> np.ndarray:
    """Memory filled with what nobody should read."""
    made = np.empty(shape, dtype)
    made.fill(math.nan if made.dtype.kind in "fc" else 99)
    return made


def shared_bytes(kernel: ast.FunctionDef) -> int:
    """How much memory the threads of a block share in a kernel, with as many threads as on a device."""
    calls = [node for node in ast.walk(kernel) if isinstance(node, ast.Call)
             and ast.unparse(node.func) == "cuda.shared.array"]
    sizes = {"np": np, **{name: getattr(grids, name) for name in grids.NAMES}}
    return sum(np.empty(*(eval(ast.unparse(arg), sizes) for arg in call.args)).nbytes for call in calls)


COMPILERS = {"import cupy as cp", "from llvmlite import ir", "from numba import cuda", "from numba import cuda, types",
             "from numba.cuda.extending import intrinsic"}
CONSTANTS: dict[str, Any] = {
    "THREADS": THREADS, "most_blocks": lambda: BLOCKS, "current_stream": lambda: 0, "WARP": 2, "TILE": 2, "PADDED": 3,
    "ROWS": 2, "Place": signless}
OF_FOURS = {"in_fours": in_fours, "four_of": four_of, "set_four": set_four}


class OnHost:
    """NumPy in place of CuPy; memory is filled with what nobody should read."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def empty(self, shape: Any, dtype: Any = float) -> np.ndarray:
        return unwritten(shape, dtype)

    def asnumpy(self, array: Any) -> Any:
        return array
