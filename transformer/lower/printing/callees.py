"""Functions that are called, as compiled code takes them.

    saved: Saved[tree]                          saved: int: which item of a list it is (`handles`)
    known: f64[?n + 1], without n               known: f64[known.shape[0]], and n is one less
"""

from __future__ import annotations

from typing import Any

from ...core.errors import NotSupported
from ...core.grammar import UNDEFINED, Call, Const, Function, If, Loop, Var
from ...core.sizes import Dim, Extent, Size, Unknown
from ...core.types import INT, SavedType, SeqType, Type
from ...core.walk import Copier, all_definitions, atom_of_size, atom_vars, reachable
from ...write.giving import given_params

Told = tuple[Size, Dim, tuple[Var, int]]
NONE = Const(0)                         # the first item of every list, which no call has made


def prepared(function: Function) -> Function:
    """A function, and so those that it calls; the same one, if it calls none. Raises a located `NotSupported` where
    what a call saved is a parameter or a result of the function itself."""
    functions = reachable(function)
    if len(functions) == 1:
        return function
    if any(isinstance(var, Var) and is_saved(var.type) for var in (*function.params, *function.results)):
        raise NotSupported("the records of a recursive function for its derivative cannot leave compiled code",
                           function.origin, instead="Take the derivative inside the compiled function.")
    twins = {each: Function(each.name, [], [], [], {}, each.guards, each.origin, each.role, each.size_names)
             for each in functions}
    for each, twin in twins.items():
        _fill(twin, each, twins)
    return twins[function]


def _fill(twin: Function, function: Function, twins: dict[Function, Function]) -> None:
    told = _told(function)
    copier = _Prepared(told, twins)
    twin.params = list(map(copier.fresh, function.params))
    twin.body = copier.block(function.body)
    twin.results = list(copier.args(function.results))
    places: dict[Any, Any] = dict(zip(function.params, twin.params))
    dims = {**function.dims, **{dim: place for _, dim, place in told}}
    twin.dims = {dim: (places[param], axis) for dim, (param, axis) in dims.items()}


def _told(function: Function) -> list[Told]:
    """The sizes of parameters that rest on integers which a function is not given, with dimensions of its own in their
    place, and where these are found. What calls need not know for anything else is no argument of theirs."""
    given = {*function.params, *all_definitions(function.body)}
    return [(size, Dim(f"{param.name or 'x'}.shape[{axis}]", inner=True), (param, axis))
            for param in function.params for axis, size in enumerate(getattr(param.type, "sizes", ()))
            if not given.issuperset(atom_vars(size))]


def given_away(function: Function) -> frozenset[Var]:
    """The parameters of functions that are called which every call may give an array that nobody else looks at: it
    is written where it is."""
    functions = reachable(function)
    return given_params(functions) if len(functions) > 1 else frozenset()


def is_saved(type: Type) -> bool:
    """Whether a type is that of what calls saved."""
    return is_saved(type.element) if isinstance(type, SeqType) else isinstance(type, SavedType)


class _Prepared(Copier):
    """Copies statements; variables stay what they are, but for those whose type becomes another one. Of the sizes that
    parameters have told, those that differ by a number are told as well, and the integer itself where one is that and
    a number."""

    def __init__(self, told: list[Told], twins: dict[Function, Function]) -> None:
        super().__init__()
        self.told, self.twins = told, twins
        for size, dim, _ in told:
            for integer in atom_vars(size):
                rest = size - Size.of(Unknown(integer))
                if isinstance(rest, int):
                    self.mapping.setdefault(integer, atom_of_size(Size.of(dim) - rest))

    def size(self, size: Extent) -> Extent:
        for known, dim, _ in self.told if isinstance(size, Size) else ():
            rest = size - known
            if isinstance(rest, int):
                return Size.of(dim) + rest
        return super().size(size)

    def fresh(self, var: Var) -> Var:
        return var if self.type(var.type) == var.type else super().fresh(var)

    def type(self, type: Type) -> Type:
        return INT if isinstance(type, SavedType) else super().type(type)

    def _if(self, stmt: If) -> If:
        made = super()._if(stmt)
        for old, new in zip(stmt.merges, made.merges, strict=True):
            new.then, new.orelse = _or_none(new.then, old.target), _or_none(new.orelse, old.target)
        return made

    def _loop(self, stmt: Loop) -> Loop:
        made = super()._loop(stmt)
        for old, new in zip(stmt.carries, made.carries, strict=True):
            new.init = _or_none(new.init, old.entry)
        return made

    def _call(self, stmt: Call) -> Call:
        made = super()._call(stmt)
        made.function = self.twins[stmt.function]
        return made


def _or_none(value: Any, var: Var) -> Any:
    """What a variable becomes: where a call did not take place, nobody looks at what it saved."""
    return NONE if value is UNDEFINED and isinstance(var.type, SavedType) else value
