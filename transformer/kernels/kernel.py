"""`kernel`: what it makes of a function, how that is called and how it is read."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import tree
from ..core.errors import BadArgument
from ..core.on_devices import is_on_device
from ..wrapping import is_importable

MOST_AXES = 3                          # of a grid, as on GPUs

Grid = tuple[int, ...] | Callable[..., tuple[int, ...]]


def is_int(size: Any) -> bool:
    """Whether this is an int, of Python or of NumPy."""
    return isinstance(size, (int, np.integer)) and not isinstance(size, bool)


def kernel(grid: Grid, out: Callable[..., Any]) -> Callable[[Callable[..., None]], Kernel]:
    """Makes a function over a grid of blocks from ``body(block, *arguments, *outputs)``, which says what one block
    does.

    Args:
        grid: a tuple of one to three ints, or a function of the arguments that returns one. `block` is an index of
            the grid, a tuple of as many ints.
        out: a function of the arguments that allocates the output, or a tuple of outputs, such as ``np.empty_like``.

    The body loads parts of arguments and stores parts of outputs by indexing. It returns nothing. Every element of an
    output is stored by exactly one block. No block reads what another one stores, and none writes to an argument.

    Called with NumPy arrays, the body runs block by block in Python, and all of this is tested: `BadArgument` has the
    place. Transformed, it is a loop over the grid whose iterations are promised to be independent, and what blocks
    store is not tested. Both raise `BadArgument` for a wrong number of arguments and for an invalid grid.

    >>> import numpy as np
    >>> from transformer import grad, jit, kernels
    >>> @kernels.kernel(grid=lambda x: (kernels.cdiv(len(x), 2),), out=np.empty_like)
    ... def squares(block, x, y):
    ...     i, = block
    ...     y[2 * i:2 * i + 2] = x[2 * i:2 * i + 2] ** 2
    >>> squares(np.array([1.0, 2.0, 3.0]))
    array([1., 4., 9.])
    >>> grad(lambda x: np.sum(squares(x)))(np.array([1.0, 2.0, 3.0]))
    array([2., 4., 6.])
    """
    if not callable(grid) and not is_grid(grid):
        raise _no_grid(grid, None)
    if not callable(out):
        raise BadArgument(f"out is {out!r}, which is not a function of the arguments",
                          instead="Pass out=np.empty_like, or out=lambda x: np.empty(len(x)).")
    return lambda body: Kernel(body, grid, out)


class Kernel:
    """A function over a grid of blocks; see `transformer.kernels.kernel`."""

    __name__: str
    __qualname__: str

    def __init__(self, body: Callable[..., None], grid: Grid, out: Callable[..., Any]) -> None:
        if not isinstance(body, types.FunctionType):
            raise BadArgument(f"kernel expects a Python function, got {body!r}",
                              instead="Write @kernel(grid=..., out=...) above a def.")
        functools.update_wrapper(self, body, updated=())
        self.body, self.grid, self.out = body, grid, out
        self.names = list(inspect.signature(body).parameters)[1:]
        self.inputs = self.names[:_count_of_inputs(body, grid, out)]
        self.outputs = self.names[len(self.inputs):]
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        self.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in self.inputs])

    def __repr__(self) -> str:
        return f"<kernel {self.__qualname__}>"

    def __reduce__(self) -> Any:
        return self.__qualname__ if is_importable(self) else (Kernel, (self.body, self.grid, self.out))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from ..core.builder import current, is_building
        from ..ops.value import Value
        leaves = tree.leaves((args, kwargs))
        if is_building() and any(isinstance(leaf, Value) for leaf in leaves):
            return current().reader.call(self, args, kwargs)          # called by a rule that is not read
        if any(map(is_on_device, leaves)):
            from ..parallel.placing import on_device
            return on_device(self, args, kwargs)
        from .running import run
        return run(self, self.bound(args, kwargs))

    def __transformer_read__(self, reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        from .reading import read
        return read(reader, self, args, kwargs)

    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The arguments by position."""
        from ..core.builder import is_building
        from ..read.places import place_of_call
        try:
            return self.__signature__.bind(*args, **kwargs).args
        except TypeError as error:
            raise BadArgument(f"{self.__name__}() {error}", None if is_building() else place_of_call(),
                              instead=f"Call it with {', '.join(self.inputs) or 'no arguments'}.") from None

    def counted(self, grid: Any, is_int: Callable[[Any], bool] = is_int) -> tuple[Any, ...]:
        """The grid, if it is one."""
        if not is_grid(grid, is_int):
            raise _no_grid(grid, self.grid)
        return tuple(grid)

    def filled(self, made: Any, is_array: Callable[[Any], bool]) -> tuple[Any, ...]:
        """What `out` gave, as one array for each of the outputs."""
        arrays = tuple(made) if isinstance(made, (tuple, list)) else (made,)
        if not all(map(is_array, arrays)):
            raise BadArgument(f"out of {self.__name__} does not return arrays", _place(self.out),
                              instead="Return np.empty_like(x), np.empty((n, m), x.dtype), or a tuple of such arrays.")
        if len(arrays) != len(self.outputs):
            raise BadArgument(f"{self.__name__} has {len(self.outputs)} outputs ({', '.join(self.outputs)}), but out "
                              f"returns {len(arrays)}", _place(self.out),
                              why="The parameters of a kernel are the block, the arguments and the outputs.")
        return arrays

    def returned(self, result: Any) -> None:
        """Raises where the body gives something back."""
        if result is not None:
            from ..read.places import RETURN, place_of
            raise BadArgument(f"the kernel {self.__name__} returns a value", place_of(self.body, RETURN),
                              instead="Store it in an output argument.")


def is_grid(grid: Any, is_int: Callable[[Any], bool] = is_int) -> bool:
    """Whether this is a tuple of one to three ints."""
    return isinstance(grid, tuple) and 1 <= len(grid) <= MOST_AXES and all(map(is_int, grid))


def _no_grid(grid: Any, made_by: Any) -> BadArgument:
    return BadArgument("the grid of a kernel must be a tuple of one to three ints", _place(made_by),
                       why=f"It is {_described(grid)}.",
                       instead="Write (cdiv(n, 32),), or (cdiv(n, 32), cdiv(m, 32)).")


def _described(grid: Any) -> str:
    from ..read.kinds import described
    if isinstance(grid, tuple):
        return f"a tuple of {len(grid)}: {', '.join(map(described, grid))}" if grid else "an empty tuple"
    return described(grid)


def _place(function: Any) -> Any:
    from ..read.places import RETURN, place_of, place_of_call
    return place_of(function, RETURN) if isinstance(function, types.FunctionType) else place_of_call()


def _count_of_inputs(body: Any, grid: Any, out: Any) -> int:
    """How many arguments there are: as many as `out` or `grid` take. Without either, all but one are arguments."""
    parameters = list(inspect.signature(body).parameters.values())
    for each in parameters:
        if each.kind is not each.POSITIONAL_OR_KEYWORD or each.default is not each.empty:
            raise BadArgument(f"the parameter {each.name!r} of the kernel {body.__name__} is not supported",
                              _place_of(body, each.name),
                              why="A kernel takes the block, the arguments and the outputs by position.",
                              instead="Remove *, ** and defaults.")
    for function in (out, grid):
        if isinstance(function, types.FunctionType):
            count = function.__code__.co_argcount
            if not function.__code__.co_flags & inspect.CO_VARARGS:
                break
    else:
        count = len(parameters) - 2
    if not 0 <= count < len(parameters) - 1:
        raise BadArgument(f"the kernel {body.__name__} has only {len(parameters)} parameters", _place_of(body, None),
                          why=f"It needs parameters for the block, {count} arguments and at least one output.")
    return count


def _place_of(function: Any, name: str | None) -> Any:
    from ..read.places import place_of
    return place_of(function, name)
