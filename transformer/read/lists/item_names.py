"""Items of arguments that have nothing but a number are called what the program calls them first:
``w, b = params`` and not ``params_0, params_1``.
"""

from __future__ import annotations

import re
from itertools import count
from typing import TYPE_CHECKING

from ...core.errors import is_library
from ...core.grammar import Var
from ...core.naming import numbered

if TYPE_CHECKING:
    from ..frames import Frame
    from ..reader import Reader

BY_NUMBER = re.compile(r"\[\d+\]$")


def name_item(reader: Reader, var: Var, name: str, frame: Frame) -> None:
    """Notes that the program binds an argument, or an item of one, to a name."""
    if var in reader.arguments.named_items or name == "_" or not BY_NUMBER.search(reader.arguments.paths.get(var, "")):
        return
    if is_library(frame.file) or any(outer.site is not None for outer in frame.lineage()):
        return                                          # whose names are not the program's
    reader.arguments.named_items.add(var)
    taken = {other.name for other in reader.arguments.paths if other is not var} | reader.arguments.names
    own = frame.scope.bound - {name}
    var.name = next(wish for wish in (numbered(name, k) for k in count(1)) if wish not in taken and wish not in own)
