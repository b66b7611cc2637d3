"""Names of derivatives: those of `x` are called `dx`."""

from __future__ import annotations

from ..core.grammar import Atom, Var


def derivative_name(atom: Atom) -> str | None:
    """What the tangent or cotangent of a variable is called; nothing, where that has no name.

    >>> from ..core.types import FLOAT
    >>> derivative_name(Var(FLOAT, "x"))
    'dx'
    """
    return f"d{atom.name}" if isinstance(atom, Var) and atom.name else None
