"""A module for GPUs: what kernels call, the kernels, the grids, and the driver.

    import math

    import cupy as cp
    import numpy as np
    from numba import cuda

    THREADS = 256
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ...core.builder import Builder
from ...core.errors import Origin
from ...write.header import LIBRARIES, STANDARD
from ...write.layout import Group, Item, lines_of
from ..nest.nests import Lowered
from ..printing.functions import Functions, imports_of
from ..printing.source import Printed, raised_by
from . import elementary, grids, intrinsics, reserved
from .driver import Driver
from .hosts import divided
from .places import PLACE

ARRAYS = "import cupy as cp"
NUMPY, BFLOAT16 = LIBRARIES["np"], LIBRARIES["ml_dtypes"]


def print_module(lowered: Lowered, name: str, taken: Iterable[str]) -> Printed:
    """The source of a function for GPUs, its driver called `name`."""
    functions = Functions({name, *taken, *reserved.NAMES}, vectorised=False)
    functions.instead = elementary.FORMS
    printer = Driver(lowered, functions, {lowered.function: name})
    with Builder(lowered.assumptions).active():
        driver = printer.function(name)
    functions.trees = divided(functions.trees, functions.tasks.values(), driver)
    lines = list(lines_of([driver], 0))
    parts = functions.lines(re.findall(r"\w+", "\n".join(text for text, _ in lines)))
    parts += [intrinsics.OF_FOURS.strip().split("\n")] if functions.intrinsics else []
    parts += functions.grid_lines()
    parts += [[text for text, _ in lines_of([tree], 0)] for tree in functions.tasks.values()]
    source = _headed([*parts, [text for text, _ in lines]])
    raising = raised_by(lines, source.count("\n") - len(lines))
    return Printed(source, name, [], set(), set(), functions.given, raising=raising, tasks=set(functions.tasks),
                   tree=driver, items=printer.items,
                   grids={grid.__name__: given for grid, given in functions.grids.items()},
                   origins={name: list(_origins(task)) for name, task in functions.tasks.items()})


def _origins(item: Item) -> Iterator[Origin]:
    """Where in the program the statements of a kernel come from."""
    if item.origin is not None:
        yield item.origin
    for inner in (*item.body, *item.orelse) if isinstance(item, Group) else ():
        yield from _origins(inner)


def _headed(parts: list[list[str]]) -> str:
    body = "\n\n\n".join("\n".join(part) for part in parts)
    imports = [line for line in imports_of(body) if line.startswith("import ")]
    standard = [line for line in imports if line.split()[-1] in STANDARD]
    others = [line for line in imports if line not in (*standard, NUMPY, BFLOAT16)]
    compilers = intrinsics.IMPORTS if "@intrinsic" in body else ["from numba import cuda"]
    arrays = [ARRAYS, *[BFLOAT16] * (BFLOAT16 in imports), NUMPY]
    heads = [*standard, *([""] if standard else []), *arrays, *others, *compilers, ""]
    used = body + "".join(f" {text}" for name, text in grids.NAMES.items() if re.search(rf"\b{name}\b", body))
    named = [f"{name} = {text}" for name, text in grids.NAMES.items() if re.search(rf"\b{name}\b", used)]
    named += [f"{PLACE} = np.uint32"] * (f"{PLACE}(" in body)
    return "\n".join([*heads, *named]) + "\n\n\n" + body + "\n"
