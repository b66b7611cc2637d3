"""Before and after: what the examples in the texts of the rewrites are shown with."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..core.builder import Builder
from ..core.check import check
from ..core.grammar import Function, Var
from ..core.guards import Assumptions
from ..core.text import parse, text
from ..ops.regions import Slot
from ..ops.table import ops


def shown(rewrite: Callable[[Function, Assumptions], object], before: str) -> None:
    """Prints the text of Core after a rewrite. What is called `dx` is the derivative of something."""
    function = parse(before, ops(), {"Slot": Slot})
    for param in function.params:
        param.primal = Var(param.type) if param.name and re.fullmatch("d[a-z]+", param.name) else None
    check(function)
    builder = Builder(Assumptions())
    with builder.active():
        rewrite(function, builder.assumptions)
    check(function)
    print(text(function), end="")
