"""Settings that hold for the whole process.

>>> import transformer
>>> transformer.config.debug_nans
False
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path


def _default_cache() -> Path:
    if chosen := os.environ.get("TRANSFORMER_CACHE"):
        return Path(chosen)
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base) / "transformer"
    try:
        return Path.home() / ".cache" / "transformer"
    except RuntimeError:                        # a process without a home
        return Path(tempfile.gettempdir()) / "transformer"


@dataclass
class Config:
    """``debug_nans``: report the first NaN of a generated function with the user's line.
    ``cache``: the folder of generated source files (environment: ``TRANSFORMER_CACHE``).
    ``check``: run the checker of Core between all stages (environment: ``TRANSFORMER_CHECK``)."""

    debug_nans: bool = False
    cache: Path = field(default_factory=_default_cache)
    check: bool = field(default_factory=lambda: bool(os.environ.get("TRANSFORMER_CHECK")))


config = Config()
