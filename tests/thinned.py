"""Which programs dear tests take: some of many, or all with TRANSFORMER_TEST_ALL=1 in the environment."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

ALL = os.environ.get("TRANSFORMER_TEST_ALL", "0") != "0"


def some(programs: Sequence[Any], every: int, first: int = 0) -> list[Any]:
    """Every so-many-th program from the first on, or all of them."""
    return list(programs) if ALL else list(programs[first::every])
