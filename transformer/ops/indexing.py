"""Reading, writing and adding at an index: `get`, `put`, `addat`.

An index is normal: the attribute ``index`` is a tuple with one entry per axis of the array, plus one
for every new axis. An entry is

    int                     a fixed position, never out of the range of -n..n-1
    slice(a, b, s)          bounds are int, Size or None; a `Slot` where they are computed
    None                    a new axis
    Slot(k)                 operand k of the index: an integer scalar, an integer array, or a mask

The operands after the array (and after the value, for `put` and `addat`) are the slots' atoms.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of operand `k` in an index."""

    k: int

    def __repr__(self) -> str:
        return f"@{self.k}"
