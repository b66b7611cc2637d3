"""What calls save for their reverse, as numbers: compiled code keeps it in lists, and hands on which item it is.

    saved: Saved[tree] = pack(a, b, inner)          saved: int = keep a, b, inner
    a, b, inner = unpack(saved)                     a, b, inner = kept saved

In Core it is a tree of tuples, as deep as the recursion, for which compiled code has no type: each call has another
one. The items of one `Layout` are all alike, as what the calls inside saved are numbers in them. They may be looked at
in any order and twice, live as long as the lists, and whatever takes numbers takes them: loops record them, branches
merge them.
"""

from __future__ import annotations

from ..core.grammar import Function, Let, Var
from ..core.types import SeqType
from .nests import Keep, Kept, emit
from .recording import Recording


def kept(stmt: Let, recording: Recording) -> None:
    """Emits that fields become one more item of their list. What a loop recorded is an array there."""
    fields = tuple(recording.array_of(atom) if isinstance(getattr(atom, "type", None), SeqType) else atom
                   for atom in stmt.args)
    emit(Keep(stmt.targets, Function("keep", [], [], []), fields, stmt.origin, stmt.attrs["layout"]))


def looked_up(stmt: Let, recording: Recording) -> list[Var]:
    """Emits that the fields of an item are taken out of it; gives those that were records of a loop."""
    records = {var: recording.as_array(var) for var in stmt.targets if isinstance(var.type, SeqType)}
    targets = tuple(records.get(var, var) for var in stmt.targets)
    emit(Kept(targets, Function("kept", [], [], []), stmt.args, stmt.origin, stmt.attrs["layout"]))
    return list(records.values())
