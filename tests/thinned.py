"""Which programs and arguments dear tests take: some of many, or all with TRANSFORMER_TEST_ALL=1 in the environment."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any
from zlib import crc32

ALL = os.environ.get("TRANSFORMER_TEST_ALL", "0") != "0"


def some(programs: Sequence[Any], every: int, part: int = 0) -> list[Any]:
    """One part of so many, or all. Names decide, so that a new program does not change which others are taken."""
    return [program for program in programs if ALL or crc32(program.name.encode()) % every == part]


def pairs(one: Sequence[Any], other: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Every other pair of two lists, as the white squares of a board, so that each item is in some; or all."""
    return [(a, b) for i, a in enumerate(one) for j, b in enumerate(other) if ALL or (i + j) % 2 == 0]
