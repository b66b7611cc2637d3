"""The same programs each time."""

from __future__ import annotations

from typing import Any

from hypothesis.internal.conjecture import providers


def draw_alike() -> None:
    """Has hypothesis draw the same whatever modules are loaded: it would draw numbers that stand in those of this
    project too, and parse them all for that."""
    drawing: Any = providers
    drawing.is_local_module_file = lambda path: False
