"""`numpy.linalg` for `Array`s."""

from typing import Any

import numpy as np

from .namespace import namespace

LinAlgError = np.linalg.LinAlgError

_there, _made = namespace(np.linalg, globals(), "linalg.")
__all__ = [*_there, "LinAlgError"]                          # noqa: PLE0604


def __getattr__(name: str) -> Any:
    return _made(name)


def __dir__() -> list[str]:
    return sorted(__all__)
