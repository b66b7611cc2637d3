"""`np.r_`, `np.c_`, `np.mgrid` and `np.ogrid`, which make arrays of what stands in brackets."""

from __future__ import annotations

from typing import Any

from .. import tree
from ..parallel.array import unwrapped, wrapped
from ..parallel.device import chosen_device
from ..read.subscripts import subscript
from .functions import device_in, narrowed_value


class Indexed:
    """One of them, of which the arrays are `Array`s. In a program that is read it is NumPy's."""

    def __init__(self, of_numpy: Any, name: str) -> None:
        self.of_numpy, self.name, self.__doc__ = of_numpy, name, of_numpy.__doc__

    def __getitem__(self, key: Any) -> Any:
        parts = key if isinstance(key, tuple) else (key,)
        device = device_in(parts, {}, self.name) or chosen_device()
        return wrapped(self.of_numpy[unwrapped(key)], device, parts)

    def __transformer_item__(self, reader: Any, key: Any) -> Any:
        return tree.map(lambda leaf: narrowed_value(reader, leaf), subscript(reader, self.of_numpy, key))

    def __repr__(self) -> str:
        return f"<transformer.numpy.{self.name}>"

    def __reduce__(self) -> str:
        return self.name
