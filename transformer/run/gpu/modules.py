"""Generated modules for GPUs, loaded: with places of 32 bits, and of 64 where an axis is longer than those count."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ... import tree
from ...pipeline import Looped
from ..files import load_module
from ..raising import note_places
from .kernels import launched_by_us
from .library import is_simulated, library, runnable
from .products import matmul
from .whole import item_of

CUPY = "import cupy as cp\n"
ITEM = re.compile(r"\b(\w+)\[0\]\.item\(\)")
LONG = {"Place": "np.int64", "MOST": "2**62"}


def loaded(looped: Looped, source: str) -> Any:
    """The function of a module with this source, which is called like the user's."""
    printed = looped.module.kernel.printed
    given = {**looped.namespace, **printed.given, "cp": library(), "item_of": item_of, "matmul": matmul}
    source = ITEM.sub(r"item_of(\1)", source.replace(CUPY, "\n", 1))   # for those who note what a driver asks for
    source = source.replace("cp.matmul(", "matmul(")
    namespace = runnable(load_module(source, looped.module.entry.name, given), printed.grids)
    note_places(namespace["__file__"], looped.module.raising)
    if not is_simulated():
        launched_by_us(namespace, printed.tasks, printed.grids, is_kept=not printed.given)
    return namespace[looped.module.entry.name]


def with_long_places(source: str) -> str:
    """The same module, of which the kernels count places in 64 bits."""
    for name, text in LONG.items():
        source = re.sub(rf"^{name} = .*$", f"{name} = {text}", source, count=1, flags=re.MULTILINE)
    return source


def has_long_axis(function: Any, given: Any) -> bool:
    """Whether an array among what such a function is given has an axis with more places than its module counts."""
    most = function.__globals__.get("MOST", np.inf)
    return any(max(getattr(leaf, "shape", ()), default=0) > most for leaf in tree.leaves(given))
