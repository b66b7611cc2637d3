"""A module for GPUs: what kernels call, the kernels, the grids, and the driver.

    import math

    import cupy as cp
    import numpy as np
    from numba import cuda

    THREADS = 256
    BLOCKS = 4096
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterable

from ...write.header import LIBRARIES, STANDARD
from ...write.layout import lines_of
from ..functions import IMPORTS, Functions
from ..nests import Lowered
from ..source import Printed, raised_by
from . import elementary, grids
from .driver import Driver
from .hosts import divided

ARRAYS = "import cupy as cp"
NUMPY = LIBRARIES["np"]


def print_module(lowered: Lowered, name: str, taken: Iterable[str] = ()) -> Printed:
    """The source of a function for GPUs, its driver called `name`."""
    functions = Functions({name, *taken, "THREADS", "BLOCKS", "cp", "cuda"}, vectorised=False)
    functions.instead = elementary.FORMS
    printer = Driver(lowered, functions, {lowered.function: name})
    driver = printer.function(name)
    functions.trees = divided(functions.trees, functions.tasks.values(), driver)
    parts = functions.lines()
    parts += [_copied(grid) for grid in sorted(functions.grids, key=lambda grid: grid.__name__)]
    parts += [[text for text, _ in lines_of([tree], 0)] for tree in functions.tasks.values()]
    lines = list(lines_of([driver], 0))
    source = _headed([*parts, [text for text, _ in lines]])
    raising = raised_by(lines, source.count("\n") - len(lines))
    return Printed(source, name, [], set(), set(), functions.given, raising=raising, tasks=set(functions.tasks),
                   tree=driver, items=printer.items)


def _headed(parts: list[list[str]]) -> str:
    body = "\n\n\n".join("\n".join(part) for part in parts)
    imports = [line for line, use in IMPORTS.items() if re.search(rf"\b{re.escape(use)}", body)
               and line.startswith("import ")]
    standard = [line for line in imports if line.split()[-1] in STANDARD]
    others = [line for line in imports if line not in (*standard, NUMPY)]
    standard = [*["import cmath"] * ("cmath." in body), *standard]
    heads = [*standard, *([""] if standard else []), ARRAYS, NUMPY, *others, "from numba import cuda", ""]
    named = [f"{name} = {getattr(grids, name)}" for name in ("THREADS", "BLOCKS", "WARP") if name in body]
    return "\n".join([*heads, *named]) + "\n\n\n" + body + "\n"


def _copied(function: object) -> list[str]:
    """The text of a grid, without its types."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]   # type: ignore[arg-type]
    assert isinstance(tree, ast.FunctionDef)
    tree.returns = None
    for arg in (*tree.args.args, *([tree.args.vararg] if tree.args.vararg else [])):
        arg.annotation = None
    return ast.unparse(tree).split("\n")
