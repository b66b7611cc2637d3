"""What a name of `transformer.numpy` is: a function of NumPy whose arrays are `Array`s.

    sin = Function(np.sin, "sin")
    sin(x)                                      # an Array, on the device of x

In a program that is read it is NumPy's function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import tree
from ..core.errors import BadArgument
from ..ops.value import Value
from ..parallel.array import Array, on_arrays, unwrapped, wrapped
from ..parallel.array import device_among as device_of_arrays
from ..parallel.device import Device, chosen_device, device_of
from ..precision import canonical, names_dtype, requested
from ..read.raising.errors import as_user_error
from .sequences import refuse_sequences

METHODS = "reduce", "accumulate", "reduceat", "outer"


class Function:
    """A function of NumPy for `Array`s. Its arguments may be NumPy's arrays and numbers, too; its results are `Array`s
    on the device of its arguments, or on `device`, which functions that make arrays take. Lists and tuples in place of
    arrays are a TypeError, but for arguments at the places and with the names in `sequences`, or for ``"all"``."""

    def __init__(self, of_numpy: Callable[..., Any], name: str, makes: bool = False, sequences: Any = ()) -> None:
        self.of_numpy, self.name, self.makes, self.sequences = of_numpy, name, makes, sequences
        self.__name__ = self.__qualname__ = name
        self.__module__ = __package__ or ""
        self.__doc__ = of_numpy.__doc__
        if isinstance(of_numpy, np.ufunc) and of_numpy.nin == 2 and of_numpy.nout == 1:
            for method in METHODS:
                setattr(self, method, Function(getattr(of_numpy, method), f"{name}.{method}"))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("out") is not None:
            raise TypeError(f"an Array cannot be modified by {self.name}; use its result")
        wanted = self._device(kwargs)
        self._check(args, kwargs)
        device = device_in(args, kwargs, self.name) or wanted or chosen_device()
        found = wrapped(on_arrays(self.of_numpy, *unwrapped(args), **unwrapped(kwargs)), device, (args, kwargs))
        return found if wanted is None or wanted is device else tree.map(lambda leaf: _moved(leaf, wanted), found)

    def _device(self, kwargs: dict[str, Any]) -> Device | None:
        """The device that is asked for, taken out of the arguments."""
        if not self.makes or "device" not in kwargs:
            return None
        device = kwargs.pop("device")
        return None if device is None else device_of(device)

    def _check(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self.sequences != ALL:
            refuse_sequences(self.of_numpy, self.name, args, kwargs, self.sequences)
        for dtype in (kwargs.get("dtype"), *filter(names_dtype, args)):
            requested(dtype, stacklevel=4)

    def __transformer_read__(self, reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """In a program that is read it is NumPy's function, with results of dtypes that an `Array` may have."""
        if self.makes and kwargs.get("device") is not None:
            raise BadArgument(f"{self.name} with a device inside a transformed function is not supported",
                              reader.builder.origin, why="The function runs on the device of its arguments.",
                              instead="Omit the device.")
        given = {key: item for key, item in kwargs.items() if key != "device" or not self.makes}
        with as_user_error(reader):
            self._check(args, given)
        found = reader.call(self.of_numpy, args, given)
        return tree.map(lambda leaf: narrowed_value(reader, leaf), found)

    def __repr__(self) -> str:
        return f"<function {self.__module__}.{self.name}>"

    def __reduce__(self) -> Any:
        return _named, (self.name,)


ALL = "all"                             # of `sequences`: whatever NumPy takes


def _named(name: str) -> Any:
    from .. import numpy as names
    found: Any = names
    for part in name.split("."):
        found = getattr(found, part)
    return found


def device_in(args: Any, kwargs: Any, name: str) -> Device | None:
    """The device of the arrays among arguments, if there is one."""
    found = [leaf for leaf in tree.leaves((args, kwargs)) if type(leaf) is Array]
    return device_of_arrays(found, {}, name) if found else None


def _moved(leaf: Any, device: Device) -> Any:
    return Array(leaf._value, device) if type(leaf) is Array else leaf


def narrowed_value(reader: Any, leaf: Any) -> Any:
    """A value in a program that is read, in a dtype that an `Array` may have."""
    if not isinstance(leaf, Value) or leaf.type.weak or canonical(leaf.dtype) == leaf.dtype:
        return leaf
    return reader.call(np.astype, (leaf, canonical(leaf.dtype)), {})
