"""Before and after: what the examples in the texts of the rewrites are shown with."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..core.builder import Builder
from ..core.check import check
from ..core.grammar import Function, Var
from ..core.guards import Assumptions
from ..core.text import parse, text
from ..core.walk import all_definitions
from ..ops.regions import Slot
from ..ops.table import ops


def shown(rewrite: Callable[[Function, Assumptions], object], before: str) -> None:
    """Prints the text of Core after a rewrite. What is called `dx` is the derivative of something,
    `x_1` beside `x` another value of that name, and `t_1` one without a name."""
    function = parse(before, ops(), {"Slot": Slot})
    for param in function.params:
        param.primal = Var(param.type) if param.name and re.fullmatch("d[a-z]+", param.name) else None
    named = {var.name: var for var in all_definitions(function.body) if var.name}
    for name, var in named.items():
        stem = re.sub(r"_\d+$", "", name)
        var.name = None if stem == "t" != name else stem if stem in named else name
    check(function)
    builder = Builder(Assumptions())
    with builder.active():
        rewrite(function, builder.assumptions)
    check(function)
    print(text(function), end="")
