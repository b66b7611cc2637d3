"""Arrays without axes, such as `np.zeros(())`. They are read as numbers, which nobody can tell from
arrays unless one is changed in place while it has two names: that is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..core.errors import NotSupported
from ..core.grammar import Atom, Var
from ..ops.value import Value

if TYPE_CHECKING:
    from .reader import Reader

MAKERS = frozenset({"zeros", "ones", "empty", "full", "array", "copy", "reshape"})


def check_alone(reader: Reader, number: Value) -> None:
    """Raises where `number op= v` would change, in NumPy, what another name sees."""
    before = list(_earlier(reader, number.atom))
    if sum(atom in before for atom in _atoms_of_names(reader)) < 2 or not _is_array(reader, before[-1]):
        return
    raise NotSupported(
        "an array without axes is changed in place while another name has it",
        reader.builder.origin,
        why="NumPy changes the one array that both names have; here it is read as a number.",
        instead="Write `s = s + v`, or give the array an axis: np.zeros(1).",
    )


def _earlier(reader: Reader, atom: Atom) -> Iterator[Atom]:
    """A value and what it was before the loops around."""
    yield atom
    while isinstance(atom, Var) and atom in reader.began_as:
        atom = reader.began_as[atom]
        yield atom


def _atoms_of_names(reader: Reader) -> Iterator[Atom]:
    """What is bound to the names of all calls being read, and held in their containers."""
    frames = dict.fromkeys(frame for each in reader.frames for frame in each.lineage())
    for frame in frames:
        for value in frame.names.values():
            yield from _numbers_in(value)


def _numbers_in(value: Any) -> Iterator[Atom]:
    if isinstance(value, Value):
        if value.ndim == 0:
            yield value.atom
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _numbers_in(item)
    elif isinstance(value, dict):
        yield from _numbers_in(list(value.values()))


def _is_array(reader: Reader, atom: Atom) -> bool:
    """Whether NumPy makes an array, not a number, of what defines this."""
    stmt = reader.builder.numbering.definitions.get(atom) if isinstance(atom, Var) else None
    return stmt is not None and stmt.op.name in MAKERS
