"""Arrays on devices (`parallel.array`), recognised by their class, so that they can be told from NumPy's without being
imported."""

from __future__ import annotations

from typing import Any

import numpy as np


def is_on_device(leaf: Any) -> bool:
    """Whether a leaf is one of our arrays (`parallel.array`), which may not be computed yet."""
    return getattr(type(leaf), "is_on_device", False)


def on_host(found: Any) -> Any:
    """What NumPy knows, in place of one of our arrays."""
    if not is_on_device(found):
        return found
    return found._here() if hasattr(found, "_here") else np.asarray(found)
