"""`numpy.fft` for `Array`s."""

from typing import Any

import numpy as np

from .namespace import namespace

_there, _made = namespace(np.fft, globals(), "fft.")
__all__ = _there                          # noqa: PLE0604


def __getattr__(name: str) -> Any:
    return _made(name)


def __dir__() -> list[str]:
    return sorted(__all__)
