"""`np.shares_memory`: whether two arrays are one in part.

A function is read as if its arguments shared no memory, so the answer is no. Where a function asks,
as emitted files do, each call is tested for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import NotSupported
from ..core.grammar import Var
from .calls.applying import prepared
from .values import cell_of, may_be_array

if TYPE_CHECKING:
    from .reader import Reader


def share_memory(reader: Reader, a: Any, b: Any, max_work: Any = None) -> bool:
    """`np.shares_memory`, `np.may_share_memory`."""
    one, other = (cell_of(prepared(reader, array)) for array in (a, b))
    if not may_be_array(one) or not may_be_array(other):
        return False
    if one is other or reader.aliases.are_related(one, other):
        raise NotSupported(
            "whether two arrays share memory is not known when the function is transformed",
            why="They may be views of the same array.",
            instead="Remove the test, or make a copy: x.copy().",
        )
    reader.arguments.asked_apart.append((one, other))
    return False


def apart_arguments(reader: Reader, variables: list[Var]) -> list[tuple[Var, Var]]:
    """Pairs of arguments, and arrays from outside, that the function was read to share no memory;
    `variables` are those of the arguments."""
    known = {id(value): var for value, var in zip(reader.arguments.values, variables, strict=False)}
    outside: dict[Any, Var] = {hidden.var: hidden.var for hidden in reader.outside.hidden}
    found = [[known.get(id(cell), outside.get(cell.atom)) for cell in pair] for pair in reader.arguments.asked_apart]
    pairs = [(one, other) for one, other in found]
    return [(one, other) for one, other in dict.fromkeys(pairs) if one is not None and other is not None]
