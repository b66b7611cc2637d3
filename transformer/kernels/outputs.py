"""Outputs of a kernel while its blocks run in Python: arrays that know which block stored which element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import BadArgument
from ..read.places import place_of, place_of_call

if TYPE_CHECKING:
    from .kernel import Kernel

NOBODY = -1
VIEWS = ("reshape", "ravel", "transpose", "swapaxes", "squeeze")
CHANGING = ("fill", "sort", "partition")
SHAPES_ONLY = (np.empty_like, np.zeros_like, np.ones_like, np.full_like, np.shape, np.ndim, np.size)
INTO = {np.copyto: "dst", np.put: "a", np.place: "arr", np.putmask: "a", np.fill_diagonal: "a"}


class Blocks:
    """The blocks of a kernel by number; the one that runs is the last."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.places: list[tuple[int, ...]] = []

    def begin(self, block: tuple[int, ...]) -> None:
        """Another block runs."""
        self.places.append(block)

    @property
    def running(self) -> int:
        return len(self.places) - 1


class Output(np.ndarray):
    """An array whose elements have owners: the numbers of the blocks that stored them. Parts of it are such arrays."""

    name: str
    owners: Any = None                  # an array of the same shape; None for what is computed
    blocks: Any = None

    @classmethod
    def over(cls, array: np.ndarray, name: str, blocks: Blocks) -> Output:
        """The array, in its own memory, with nothing stored; floating point numbers are nan."""
        if array.dtype.kind in "fc":
            array.fill(np.nan)
        return array.view(cls)._owned(np.full(array.shape, NOBODY), name, blocks)

    def _owned(self, owners: Any, name: str, blocks: Any) -> Output:
        self.owners, self.name, self.blocks = owners, name, blocks
        return self

    # -- tests ----------------------------------------------------------------------------------

    def check_full(self) -> None:
        """Raises for an element that no block stored."""
        if np.any(self.owners == NOBODY):
            at = tuple(int(k) for k in np.argwhere(self.owners == NOBODY)[0])
            raise BadArgument(f"no block of {self._kernel} stores {self._element(at)}",
                              place_of(self.blocks.kernel.body, self.name),
                              why=f"Its shape is {self.shape}, and there are {len(self.blocks.places)} blocks.",
                              instead="Make the grid cover the output: cdiv(n, 32) blocks of 32 for n elements.")

    def _check(self, owners: Any, allowed: tuple[int, ...], what: str, instead: str) -> None:
        wrong = np.array(owners)
        for number in allowed:
            wrong = np.where(wrong == number, self.blocks.running, wrong)
        others = wrong[wrong != self.blocks.running]
        if others.size:
            number = int(others.flat[0])
            other = "no block has stored" if number == NOBODY else f"block {self.blocks.places[number]} has stored"
            raise BadArgument(f"block {self.blocks.places[-1]} of {self._kernel} {what} {self.name} where {other}",
                              place_of_call(), instead=instead)

    def _read(self, owners: Any) -> None:
        self._check(owners, (), "reads", "Read arguments, and what the same block has stored.")

    def _store(self, owners: Any, key: Any = ...) -> None:
        self._check(owners[key], (NOBODY,), "stores to",
                    "Let each element be stored by one block; make sums over blocks a loop inside of one.")
        owners[key] = self.blocks.running

    @property
    def _kernel(self) -> str:
        return str(self.blocks.kernel.__name__)

    def _element(self, at: tuple[int, ...]) -> str:
        return f"{self.name}[{', '.join(map(str, at))}]"

    # -- what NumPy calls ------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        key, array = plain(key), bare(self)
        part = array[key]
        if self.owners is None:
            return part
        owners = self.owners[key]
        if isinstance(part, np.ndarray) and np.may_share_memory(part, array):
            return part.view(Output)._owned(owners, self.name, self.blocks)
        self._read(owners)
        return part

    def __setitem__(self, key: Any, value: Any) -> None:
        key, value = plain(key), plain(value)
        if self.owners is not None:
            self._store(self.owners, key)
        bare(self)[key] = value

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        given = [plain(each) for each in inputs]
        written = inputs[:1] if method == "at" else options.pop("out", ())
        for each in written:
            stored(each)
        if method != "at" and written:
            options["out"] = tuple(map(bare, written))
        result = getattr(ufunc, method)(*given, **{key: bare(each) for key, each in options.items()})
        return result if method == "at" or not written else written[0] if len(written) == 1 else written

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        target = args[0] if func in INTO and args else kwargs.get(INTO.get(func, "out"))
        if target is not None:
            stored(target)
        strip = bare if func in SHAPES_ONLY else plain
        result = func(*map(strip, args), **{key: strip(each) for key, each in kwargs.items()})
        return target if "out" in kwargs else result

    def __repr__(self) -> str:
        return repr(bare(self))

    @property
    def T(self) -> Any:
        return self.transpose()


def _viewing(name: str) -> Any:
    """The method of arrays, where what it gives is a view, as one that has the owners of its elements."""
    method = getattr(np.ndarray, name)

    def called(self: Output, *args: Any) -> Any:
        array = bare(self)
        result = method(array, *args)
        if self.owners is None:
            return result
        if not np.may_share_memory(result, array):
            self._read(self.owners)
            return result
        return result.view(Output)._owned(method(self.owners, *args), self.name, self.blocks)
    called.__name__ = name
    return called


def _changing(name: str) -> Any:
    """The method of arrays, which stores all elements."""
    method = getattr(np.ndarray, name)

    def called(self: Output, *args: Any, **options: Any) -> Any:
        stored(self)
        return method(bare(self), *args, **options)
    called.__name__ = name
    return called


for _name in VIEWS:
    setattr(Output, _name, _viewing(_name))
for _name in CHANGING:
    setattr(Output, _name, _changing(_name))


def plain(value: Any) -> Any:
    """A value as NumPy has it, which is read; containers of values likewise."""
    if isinstance(value, Output):
        if value.owners is not None:
            value._read(value.owners)
        return bare(value)
    if type(value) in (tuple, list):
        return type(value)(map(plain, value))
    return value


def bare(value: Any) -> Any:
    """An output as an array of NumPy, whatever is stored in it."""
    return np.ndarray.view(value, np.ndarray) if isinstance(value, Output) else value


def stored(value: Any) -> None:
    """Notes that the running block stores all elements of an output."""
    if isinstance(value, Output) and value.owners is not None:
        value._store(value.owners)
