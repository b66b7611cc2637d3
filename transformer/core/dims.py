"""Named dimensions of functions: where the shapes of parameters tell them, and where they are mentioned."""

from __future__ import annotations

from collections.abc import Iterable

from .grammar import Atom, Stmt, Var
from .sizes import Dim, Extent, Size
from .walk import Copier, renamed


def dims_of(params: Iterable[Var]) -> dict[Dim, tuple[Var, int]]:
    """The dimensions that the shapes of variables tell, and where: (variable, axis).

    >>> import numpy as np
    >>> from .types import ArrayType
    >>> n = Size.of(Dim("n"))
    >>> dims_of([Var(ArrayType(np.dtype(float), (3, n)), "x")])  # doctest: +ELLIPSIS
    {n: (x..., 1)}
    """
    found: dict[Dim, tuple[Var, int]] = {}
    for param in params:
        for axis, size in enumerate(getattr(param.type, "sizes", ())):
            atoms = list(size.atoms()) if isinstance(size, Size) else []
            if len(atoms) == 1 and isinstance(atoms[0], Dim) and size == Size.of(atoms[0]):
                found.setdefault(atoms[0], (param, axis))
    return found


def mentioned_dims(statements: Iterable[Stmt], atoms: Iterable[Atom], params: Iterable[Var] = ()) -> list[Dim]:
    """Every dimension in statements, in atoms, and in the types of both and of parameters."""
    found: dict[Dim, None] = {}

    def note(dim: Dim) -> Extent | None:
        found[dim] = None
        return None

    copier = Copier(dims=note)
    for stmt in statements:
        renamed(stmt, copier)
    copier.args(atoms)
    for param in params:
        copier.type(param.type)
    return list(found)
