"""NumPy's functions over `Array`s: what they make lies on a device, and they take nothing that is no array.

    import transformer.numpy as tnp

    x = tnp.linspace(0, 1, 5, device="cpu:0")
    tnp.sum(tnp.sin(x))                         # an Array

A program that is written with them can be transformed like one that is written with NumPy: there, `tnp.sin` is
`np.sin`. Which names there are is in `names`; what they do is NumPy's page of the same name.
"""

from typing import Any

import numpy as np

from ..core.halves import bfloat16 as _bfloat16
from ..core.halves import finfo
from ..parallel.array import Array
from ..vectorizing import vectorize
from . import fft, linalg, writing
from .functions import Function
from .indexed import Indexed
from .names import CONSTANTS, DTYPES, INDEXED
from .namespace import namespace

ndarray = Array

globals().update({name: getattr(np, name) for name in (*CONSTANTS, *DTYPES)})
globals().update({name: Indexed(getattr(np, name), name) for name in INDEXED})

globals().update({name: Function(getattr(writing, name), name, sequences="all") for name in writing.__all__})

_there, _made = namespace(np, globals())
__all__ = [*_there, *CONSTANTS, *DTYPES, *INDEXED, "bfloat16", "fft", "finfo", "linalg",  # noqa: PLE0604
           "ndarray", "vectorize"]


def __getattr__(name: str) -> Any:
    return _bfloat16().type if name == "bfloat16" else _made(name)


def __dir__() -> list[str]:
    return sorted(__all__)
