"""Before and after: what the examples in the texts of the rewrites are shown with."""

from __future__ import annotations

from collections.abc import Callable

from ..core.builder import Builder
from ..core.check import check
from ..core.grammar import Function
from ..core.guards import Assumptions
from ..core.text import parse, text
from ..ops.regions import Slot
from ..ops.table import ops


def shown(rewrite: Callable[[Function, Assumptions], object], before: str) -> None:
    """Prints the text of Core after a rewrite."""
    function = parse(before, ops(), {"Slot": Slot})
    check(function)
    builder = Builder(Assumptions())
    with builder.active():
        rewrite(function, builder.assumptions)
    check(function)
    print(text(function), end="")
