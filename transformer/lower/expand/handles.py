"""What calls save for their reverse, as numbers: compiled code keeps it in lists, and hands on which item it is.

    saved: Saved[tree] = pack(a, b, inner)          saved: int = keep a, b, inner
    a, b, inner = unpack(saved)                     a, b, inner = kept saved

In Core it is a tree of tuples, as deep as the recursion, for which compiled code has no type: each call has another
one. The items of one `Layout` are all alike, as what the calls inside saved are numbers in them. They may be looked at
in any order and twice, live as long as the lists, and whatever takes numbers takes them: loops record them, branches
merge them.

Rows of which nobody knows before how long they are lie in a list, too (`Recording`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...core.builder import current
from ...core.grammar import Atom, Function, Let, Var
from ...core.types import SeqType
from ..nest.nests import Keep, Kept, emit

if TYPE_CHECKING:
    from .recording import Recording

LISTS = Function("lists", [], [], [])   # in place of a function that is called


def packed(stmt: Let, recording: Recording) -> None:
    """Emits that fields become one more item of their list. What a loop recorded is an array there."""
    fields = [recording.array_of(atom) if isinstance(getattr(atom, "type", None), SeqType) else atom
              for atom in stmt.args]
    keep(stmt.target, fields, stmt.attrs["layout"])


def unpacked(stmt: Let, recording: Recording) -> list[Var]:
    """Emits that the fields of an item are taken out of it; gives those that were records of a loop."""
    records = {var: recording.as_array(var) for var in stmt.targets if isinstance(var.type, SeqType)}
    look_up([records.get(var, var) for var in stmt.targets], stmt.args[0], stmt.attrs["layout"])
    return list(records.values())


def keep(item: Var, fields: Sequence[Atom], layout: Any) -> None:
    emit(Keep((item,), LISTS, tuple(fields), current().origin, layout))


def look_up(fields: Sequence[Var], item: Atom, layout: Any) -> None:
    emit(Kept(tuple(fields), LISTS, (item,), current().origin, layout))
