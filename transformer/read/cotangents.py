"""Lines of the user's for the reverse sweep: `with grad_of(x) as dx:`.

The lines become a function of dx and of the variables that they use, which gives dx as it is after
them. The variable becomes `x = marked(x)`, a `ruled` statement whose rule is that function.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import gast

from ..core.errors import NotSupported
from ..ops.value import Value
from .calls.ruled import Leaves, Use, frozen, through
from .frames import Unbound, load, store
from .interface import Result
from .sources.scope import Writes, loads_in
from .values import Closure

if TYPE_CHECKING:
    from .reader import Reader


def read_block(reader: Reader, node: Any, x: Any, marked: Callable[[str, Any], Any]) -> None:
    """Reads ``with grad_of(x) as dx:``: nothing happens but that x is `marked` with the function."""
    variable, cotangent = _names(reader, node)
    _check_names(reader, node, cotangent)
    x = reader.usable(x)
    if not isinstance(x, Value) or not x.type.is_inexact:
        if isinstance(x, (Value, int, float, complex, str)) or x is None:
            return
        raise NotSupported("grad_of needs an array or a number", reader.builder.origin,
                           instead="Assign the array in the container to a variable first.")
    around = {name: value for name in _used(node) if name != cotangent and (value := _found(reader, name)) is not None}
    function = frozen(reader, Closure(_as_function(node, cotangent, tuple(around)), reader.frame, reader))
    operands = Leaves(reader)
    trees = tuple(operands.tree(value) for value in (x, *around.values()))
    use = Use(marked(variable, function), None, reader, trees, Result(0))
    store(reader, reader.frame, variable, through(reader, Result(0), [x], operands.atoms, use))


def _names(reader: Reader, node: Any) -> tuple[str, str]:
    """The names of the variable and of its cotangent."""
    item = node.items[0]
    args = list(getattr(item.context_expr, "args", ()))
    target = item.optional_vars
    if len(node.items) > 1 or len(args) != 1 or not isinstance(args[0], gast.Name) or not (
            target is None or isinstance(target, gast.Name)):
        raise NotSupported("this form of grad_of is not supported", reader.builder.origin,
                           why="It applies to one variable.",
                           instead="Assign the value to a variable first, and write `with grad_of(x) as dx`.")
    return args[0].id, f"d{args[0].id}" if target is None else target.id


def _check_names(reader: Reader, node: Any, cotangent: str) -> None:
    """Raises where the lines jump, or bind a name that is used elsewhere."""
    way_out = getattr(node, "way_out", None)
    if way_out is not None:
        raise NotSupported("the block under grad_of cannot be left early", reader.frame.origin(way_out),
                           why="It runs in the reverse sweep.", instead="Move the statement above or below the block.")
    inside: Counter[str] = sum((loads_in(statement) for statement in node.body), Counter())
    outside = loads_in(reader.frame.scope.node) - inside
    writes = Writes(node.body)
    for name in sorted((writes.assigned | writes.augmented) - {cotangent}):
        if outside[name]:
            raise NotSupported(f"the block under grad_of assigns {name!r}, which is used elsewhere",
                               reader.builder.origin,
                               why="It runs in the reverse sweep, so the code below does not see the assignment.",
                               instead="Use a name that is used nowhere else.")


def _used(node: Any) -> list[str]:
    """The names that the lines load, in order."""
    return list(dict.fromkeys(name for statement in node.body for name in loads_in(statement)))


def _found(reader: Reader, name: str) -> Any:
    """What a variable of the functions being read holds; None for others."""
    if not any(name in frame.names for frame in reader.frame.lineage()):
        return None
    try:
        return reader.usable(load(reader, reader.frame, name))
    except Unbound:
        return None


@lru_cache(maxsize=256)
def _as_function(node: Any, cotangent: str, names: tuple[str, ...]) -> Any:
    """The lines as a function that gives the cotangent back."""
    def located(made: Any) -> Any:
        return gast.fix_missing_locations(gast.copy_location(made, node.items[0].context_expr))
    parameters = [located(gast.Name(name, gast.Param(), None, None)) for name in (cotangent, *names)]
    arguments = gast.arguments(parameters, [], None, [], [], None, [])
    given = located(gast.Return(located(gast.Name(cotangent, gast.Load(), None, None))))
    return located(gast.FunctionDef("grad_of", arguments, [*node.body, given], [], None, None, []))
