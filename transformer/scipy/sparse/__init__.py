"""`jax.scipy.sparse`: `linalg`, iterative solutions of linear equations."""

import importlib
from typing import Any

MODULES = ("linalg",)


def __getattr__(name: str) -> Any:
    if name in MODULES:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
