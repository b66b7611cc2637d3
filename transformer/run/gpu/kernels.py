"""Launches of kernels, without numba's inspection of every argument, which also waits for the GPU.

    fill_y[over_threads(n)](n, x, y)            in a driver: numba compiles, we launch

For the first call with arguments of some kinds numba compiles the kernel. A call writes what the kernel takes into
memory, as numba lays it out, and hands that to the driver of the GPU, for CuPy's current stream:

    an array        two pointers that are 0, its number of elements, the bytes of one, its place, sizes, strides
    a number        itself; a complex one as its two parts
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from struct import Struct
from struct import error as NotWritten
from typing import Any

import numpy as np

from .graphs import replayed
from .library import library

NUMBERS: dict[type, np.dtype[Any]] = {int: np.dtype(np.int64), float: np.dtype(np.float64), bool: np.dtype(np.bool_),
                                      complex: np.dtype(np.complex128)}
PARTS = {"F": "ff", "D": "dd"}          # complex numbers as the module struct writes them
ARRAY = "PPnnP"                         # how an array begins
MOST_AXES = 3                           # of a grid
REMEMBERED = 1024                       # grids
ALIGNED = 16                            # bytes of four elements, at most
FEW = 2**31                             # places that every module counts
LAUNCHES = "over_threads", "over_tiles", "over_pairs", "over_blocks", "one_block", "one_thread"


class Kernel:
    """A kernel of a generated module, launched as numba launches its own: ``kernel[blocks, threads](...)``."""

    __slots__ = ("dispatcher", "forms", "grids", "arrays", "cuda")

    def __init__(self, dispatcher: Any) -> None:
        self.dispatcher = dispatcher
        self.forms, self.grids = Forms(()), dict[Any, Any]()
        self.arrays, self.cuda = library().ndarray, library().cuda

    def __getitem__(self, grid: Any) -> Any:
        return self.grids.get(grid) or self._on(grid)

    def _on(self, grid: Any) -> Any:
        if len(self.grids) >= REMEMBERED:
            self.grids.clear()
        found = self.grids[grid] = partial(self.launch, axes(grid[0], grid[1]))
        return found

    def launch(self, grid: tuple[int, ...], *args: Any) -> None:
        """Has the current GPU run it, in the current stream, with so many blocks and threads along three axes each."""
        device = self.cuda.get_device_id()
        form = self.forms.find(device, args) or self._form(device, args)
        try:
            form.launch(grid, self.cuda.get_current_stream().ptr, args)
        except Exception as error:
            error.add_note(f"when {self.dispatcher.__name__} was launched with {grid[:3]} blocks of {grid[3:]} threads")
            raise

    def _form(self, device: int, args: tuple[Any, ...]) -> Form:
        """The kernel for arguments like these, compiled if it is not yet."""
        arrays = tuple(type(arg) is self.arrays for arg in args)
        kinds = [(arg.dtype, arg.ndim, arg._c_contiguous) if is_array else type(arg)
                 for arg, is_array in zip(args, arrays)]
        handle = compiled(self.dispatcher, tuple(map(numba_type, kinds)), device)
        if self.forms.arrays != arrays:
            self.forms = Forms(arrays)
        form = Form(kinds, handle, self.cuda.driver.launchKernel)
        self.forms.add(device, args, form)
        return form


class Forms:
    """What a kernel was compiled to, for arguments of which the same ones are arrays. They are found by a key that is
    made without looking at what is an array: it is an AttributeError, or has a type that no other key has there."""

    __slots__ = ("arrays", "key", "known")

    def __init__(self, arrays: tuple[bool, ...]) -> None:
        names = [f"a{k}" for k in range(len(arrays))]
        parts = [f"type({name}), {name}.dtype, {name}.ndim, {name}._c_contiguous" if is_array else f"type({name})"
                 for name, is_array in zip(names, arrays)]
        self.arrays, self.known = arrays, dict[Any, Form]()
        self.key = eval(f"lambda {', '.join(['device', *names])}: ({', '.join(['device', *parts])},)")

    def find(self, device: int, args: tuple[Any, ...]) -> Form | None:
        try:
            return self.known.get(self.key(device, *args))
        except (AttributeError, TypeError):      # others are arrays, or there is none yet
            return None

    def add(self, device: int, args: tuple[Any, ...], form: Form) -> None:
        self.known[self.key(device, *args)] = form


class Form:
    """A kernel for arguments of some kinds on one GPU: its handle there, and how they lie in memory."""

    __slots__ = ("values", "handle", "run", "layout", "free")

    def __init__(self, kinds: Sequence[Any], handle: int, run: Any) -> None:
        self.values, self.handle, self.run = writer(kinds), handle, run
        self.layout = "".join(map(layout, kinds))
        self.free: list[Parameters] = []

    def launch(self, grid: tuple[int, ...], stream: int, args: tuple[Any, ...]) -> None:
        try:
            memory = self.free.pop()             # which no other thread writes to meanwhile
        except IndexError:
            memory = Parameters(self.layout)
        try:
            memory.write(*self.values(*args))
        except NotWritten:                       # of an integer of more than 64 bits
            raise OverflowError("Python int too large to convert to C long") from None
        self.run(self.handle, *grid, 0, stream, memory.places, 0)
        self.free.append(memory)


class Parameters:
    """Memory for what a kernel takes; `places` is the address of a table of the addresses of all of it."""

    __slots__ = ("memory", "table", "write", "places")

    def __init__(self, layout: str) -> None:
        whole, ends = Struct(f"@{layout}"), offsets(layout)
        self.memory = ctypes.create_string_buffer(max(whole.size, 1))
        first = ctypes.addressof(self.memory)
        self.table = (ctypes.c_void_p * max(len(ends), 1))(*[first + end for end in ends])
        self.write, self.places = partial(whole.pack_into, self.memory, 0), ctypes.addressof(self.table)


def axes(*counts: Any) -> tuple[int, ...]:
    """Counts of blocks and of threads along three axes each."""
    each = [count if isinstance(count, tuple) else (count,) for count in counts]
    return tuple(number for count in each for number in (*count, *[1] * (MOST_AXES - len(count))))


def writer(kinds: Iterable[Any]) -> Any:
    """A function that gives the numbers that arguments of these kinds are handed over as:

    lambda a0, a1: (a0, 0, 0, a1.size, 4, a1.data.ptr, *a1.shape, *a1.strides)"""
    written = {f"a{k}": kind for k, kind in enumerate(kinds)}
    values = "".join(f"{_written(name, kind)}, " for name, kind in written.items())
    return eval(f"lambda {', '.join(written)}: ({values})")


def _written(name: str, kind: Any) -> str:
    if type(kind) is tuple and kind[1:] == (1, True):
        return f"0, 0, (size := {name}.size), {kind[0].itemsize}, {name}.data.ptr, size, {kind[0].itemsize}"
    if type(kind) is tuple:
        begin, size = f"0, 0, {name}.size, {kind[0].itemsize}, {name}.data.ptr", kind[0].itemsize
        if not kind[2] or not kind[1]:
            return f"{begin}, *{name}.shape, *{name}.strides"
        steps = [" * ".join([str(size), *(f"shape[{axis}]" for axis in range(first, kind[1]))])
                 for first in range(1, kind[1] + 1)]                     # which take CuPy longer to tell
        return f"{begin}, *(shape := {name}.shape), {', '.join(steps)}"
    return f"{name}.real, {name}.imag" if dtype_of(kind).char in PARTS else name


def layout(kind: Any) -> str:
    """How arguments of a kind lie in memory, in the letters of the module struct."""
    if type(kind) is tuple:
        return ARRAY + "n" * (2 * kind[1])
    char = dtype_of(kind).char
    return PARTS.get(char, char)


def offsets(layout: str) -> list[int]:
    """Where each parameter begins: as in C, at a multiple of its size."""
    return [Struct(f"@{layout[:k + 1]}").size - Struct(f"@{layout[k]}").size for k in range(len(layout))]


def dtype_of(kind: type) -> np.dtype[Any]:
    """The dtype of a number. Raises TypeError for what is none."""
    if kind in NUMBERS:
        return NUMBERS[kind]
    if issubclass(kind, np.generic) and np.dtype(kind).kind in "biufc":
        return np.dtype(kind)
    raise TypeError(f"a kernel expects arrays on the GPU and numbers, got {kind.__module__}.{kind.__qualname__}")


def numba_type(kind: Any) -> Any:
    """The type for which numba compiles."""
    from numba import from_dtype, types
    if type(kind) is not tuple:
        return from_dtype(dtype_of(kind))
    dtype, ndim, is_contiguous = kind
    return types.Array(from_dtype(dtype), ndim, "C" if is_contiguous else "A")


def compiled(dispatcher: Any, types: tuple[Any, ...], device: int) -> int:
    """The handle of a kernel that is compiled for types of numba's, on a GPU."""
    from numba import cuda
    with cuda.gpus[device]:
        kernel = dispatcher.compile(types)
        kernel.bind()
        return int(kernel.library.get_cufunc().handle)


def launched_by_us(namespace: dict[str, Any], names: Iterable[str], grids: Mapping[str, str], is_kept: bool) -> None:
    """Puts kernels of ours in place of those of numba in a module. Its grids are remembered by their sizes, and need no
    stream: a launch looks for it itself. With `is_kept` numba keeps in files what it compiles."""
    for name in names:
        if is_kept:
            kept(namespace[name])
        namespace[name] = Kernel(namespace[name])
    for own, name in grids.items():
        if own in LAUNCHES:
            namespace[name] = lru_cache(REMEMBERED)(namespace[name])
        elif own == "current_stream":
            namespace[name] = lambda: None
        elif own == "in_fours":
            namespace[name] = quickly_in_fours(namespace[name])
        elif own == "replayed":
            namespace[name] = replayed


def quickly_in_fours(in_fours: Any) -> Any:
    """The same for arrays that lie as most do, without asking CuPy for what it takes long to tell."""
    def counted(size: int, *arrays: Any) -> int:
        for array in arrays:
            if array.data.ptr % ALIGNED or not array._c_contiguous or array.ndim > 1 and any(
                    [step % ALIGNED for step in array.strides[:-1]]):
                return int(in_fours(size, *arrays))
        return size // 4 if size <= FEW else int(in_fours(size, *arrays))

    return counted


def kept(dispatcher: Any) -> None:
    try:
        dispatcher.enable_caching()
    except RuntimeError:                         # the module lies in no file
        pass
