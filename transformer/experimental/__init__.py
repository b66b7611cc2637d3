"""What JAX has in `jax.experimental` and programs use: `ode.odeint`."""

import importlib
from typing import Any

MODULES = ("ode",)


def __getattr__(name: str) -> Any:
    if name in MODULES:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
