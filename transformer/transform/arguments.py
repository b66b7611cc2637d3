"""The arguments of a transformed function: which are differentiated for, and what follows them.

The arguments that were passed by position stand first, those of ``*args`` one by one, then what the
transformation adds (tangents, a cotangent); everything else is passed by keyword. So the added ones
never fall into the place of a default that was left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from inspect import Parameter as Kinds
from typing import Any

from .. import tree
from ..core.builder import current
from ..core.errors import BadArgument, suggestion
from ..core.grammar import Var
from ..ops.elementwise import shape_text
from ..ops.value import Value, value
from ..read.interface import Interface, Parameter
from .modes import Wrt
from .rules import cast

BY_POSITION = (Kinds.POSITIONAL_ONLY, Kinds.POSITIONAL_OR_KEYWORD)


def passed(interface: Interface) -> list[Parameter]:
    """The arguments that were passed by position, those of ``*args`` one by one."""
    found: list[Parameter] = []
    for parameter in interface.parameters:
        if parameter.kind is Kinds.VAR_POSITIONAL:
            found += [
                Parameter(free_name(f"{parameter.name}_{k}", interface.parameters), child)
                for k, child in enumerate(parameter.tree)
            ]
        elif parameter.kind in BY_POSITION:
            found.append(parameter)
    return found[: interface.positional]


def extended(interface: Interface, extras: Iterable[tuple[str, Any]]) -> Interface:
    """The interface with further arguments (name, tree) after those passed by position."""
    first = passed(interface)
    known = {p.name for p in first}
    later = [
        p
        for p in interface.parameters
        if p.kind is not Kinds.VAR_POSITIONAL and p.name not in known
    ]
    first = [Parameter(p.name, p.tree, p.kind) for p in first]
    for name, added in extras:
        first.append(Parameter(free_name(name, [*first, *later]), added))
    later = [replace(p, kind=Kinds.KEYWORD_ONLY) if p.kind in BY_POSITION else p for p in later]
    return replace(interface, parameters=[*first, *later], positional=len(first))


def free_name(name: str, parameters: Iterable[Parameter]) -> str:
    """`name`, or the first of name2, name3, … that is none of the parameters."""
    taken = {parameter.name for parameter in parameters}
    k, free = 1, name
    while free in taken:
        k, free = k + 1, f"{name}{k + 1}"
    return free


def chosen_parameters(interface: Interface, wrt: Wrt, what: str) -> list[Parameter]:
    """The arguments that `wrt` names, by position or by name."""
    chosen = [
        _parameter(interface, key, what) for key in (wrt if isinstance(wrt, tuple) else (wrt,))
    ]
    if not chosen:
        raise BadArgument(f"argnums is empty: {what} needs an argument of {interface.name}",
                          instead="Pass one or more, as in argnums=0, argnums='w' or argnums=(0, 1).")
    return chosen


def _parameter(interface: Interface, key: int | str, what: str) -> Parameter:
    by_position = passed(interface)
    by_name = {p.name: p for p in (*by_position, *interface.parameters)}
    if isinstance(key, str) and key in by_name:
        return by_name[key]
    if isinstance(key, int) and -len(by_position) <= key < len(by_position):
        return by_position[key]
    names = [p.name for p in interface.parameters]
    has = f"it takes {', '.join(names)}" if names else "it takes none"
    raise BadArgument(
        f"{what}: {interface.name} has no argument {key!r}, {has}",
        why="Positions count the positional arguments from 0." if isinstance(key, int) else None,
        instead=suggestion(str(key), names) or (f"Use one of {', '.join(map(repr, names))}." if names else None),
    )


def all_differentiable(interface: Interface) -> tuple[int, ...]:
    """The positions of the arguments that hold something to differentiate for."""
    return tuple(
        k
        for k, p in enumerate(passed(interface))
        if any(map(is_differentiable, tree.leaves(p.tree)))
    )


def is_differentiable(leaf: Any) -> bool:
    return isinstance(leaf, Var) and leaf.type.is_inexact


def fitted(wanted: Any, given: Any, name: str) -> Any:
    """A tangent or cotangent given while a function is read, checked against its tree and cast."""
    leaves, structure = tree.flatten(wanted)
    try:
        found = structure.leaves_of(given, name)
    except ValueError as error:
        raise BadArgument(str(error),
                          instead=f"{name[:1].upper()}{name[1:]} must have the same structure as the value that it "
                                  "belongs to.") from None
    return tree.unflatten(structure, [_fitted(leaf.type, value(item), f"{name}{path}")
                                      for leaf, item, path in zip(leaves, found, structure.paths())])


def _fitted(wanted: Any, given: Value, name: str) -> Value:
    equal = current().assumptions.equal
    if given.ndim != len(wanted.sizes) or not all(map(equal, given.shape, wanted.sizes)):
        raise BadArgument(f"{name} has shape {shape_text(given.shape)}, but its primal has shape "
                          f"{shape_text(wanted.sizes)}",
                          instead="A tangent or cotangent must have the shape of its primal.")
    if given.dtype.kind == "c" and wanted.dtype.kind != "c":
        raise BadArgument(f"{name} is complex, but its primal is not", instead="Take its real part: np.real.")
    return cast(given, wanted)
