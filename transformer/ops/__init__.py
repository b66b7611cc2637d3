"""The ops: one class for each, with everything there is to know about it, one file per family.

For those who come from JAX, which has them here, it has the functions of `transformer.segments`, too.
"""

import importlib
from typing import Any

SEGMENTS = "segment_sum", "segment_prod", "segment_max", "segment_min"


def __getattr__(name: str) -> Any:
    if name in SEGMENTS:
        return getattr(importlib.import_module("transformer.segments"), name)      # which is built upon the ops
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
