"""SciPy's functions for `Array`s, by module: `special`, `linalg`, `stats`, `signal`, `fft`, `integrate`.

    from transformer.scipy.special import logsumexp

    logsumexp(x)                                # an Array, on the device of x, if x is one

They are SciPy's functions, which compute with NumPy's arrays; in a program that is read they are what
docs/supported.md says of these. `ndimage`, `interpolate`, `optimize` and `sparse.linalg` have what JAX has of them,
with its arguments.
"""

import importlib
from typing import Any

MODULES = ("fft", "integrate", "interpolate", "linalg", "ndimage", "optimize", "signal", "sparse", "special", "stats")


def __getattr__(name: str) -> Any:
    if name in MODULES:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
