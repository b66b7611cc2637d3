"""What a call saves for its reverse: `Pack` puts values together, `Unpack` takes them apart again.

They are each other's transposes: the cotangent of what was saved is the cotangents of its fields, put
together in turn.
"""

# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core.builder import current
from ..core.grammar import Atom, Var
from ..core.types import SavedType
from .base import Op


@dataclass(frozen=True, slots=True)
class Layout:
    """The fields of what is saved in one place of a function: one number for all places that put the
    same fields together or take them apart; for each field whether it carries derivatives, and the op
    that made it."""

    name: str
    number: int
    carries: tuple[bool, ...]
    makers: tuple[str, ...]

    def without(self, places: set[int]) -> Layout:
        kept = [k for k in range(len(self.carries)) if k not in places]
        return replace(self, carries=tuple(self.carries[k] for k in kept), makers=tuple(self.makers[k] for k in kept))


class Pack(Op):
    """The operands as one value; a single one is that value itself."""

    of_sequences = True
    variadic = True
    linear = "each"

    def types(xs: Sequence[Any], layout: Any = None) -> SavedType:
        return SavedType(layout.name)

    def vjp(dy, i, *xs, layout=None):
        raise AssertionError("transform.saved knows the rule")

    def run(*xs, layout=None):
        return xs if len(xs) != 1 else xs[0]


class Unpack(Op):
    """The fields of what was saved."""

    of_sequences = True
    linear = "saved"

    def types(saved: Any, layout: Any = None) -> Any:
        raise AssertionError("only the place where it was saved knows the types")

    def vjp(dy, saved, layout=None):
        raise AssertionError("transform.saved knows the rule")

    def run(saved, layout=None):
        return saved


class AddSaved(Op):
    """The sum of two cotangents of what was saved, field by field; None stands for zero."""

    name = "add_saved"
    of_sequences = True
    linear = "x", "y"

    def types(x: Any, y: Any) -> Any:
        return x

    vjp = (lambda d, x, y: d, lambda d, x, y: d)

    def run(x, y):
        return add_saved(x, y)


class ZerosLikeSaved(Op):
    """The cotangent of what was saved and not used."""

    name = "zeros_like_saved"
    of_sequences = True
    derivative = None, "zeros do not depend on anything"

    def types(saved: Any) -> Any:
        return saved

    def run(saved):
        return zeros_like_saved(saved)


def packed(layout: Layout, atoms: Sequence[Atom], name: str | None = None) -> Var:
    """Emits the value that the fields make together."""
    target, = current().let(Pack, tuple(atoms), {"layout": layout}, (SavedType(layout.name),))
    target.name = name
    return target


def add_saved(x, y):
    """The sum of two cotangents of what a call saved."""
    if x is None or y is None:
        return x if y is None else y
    if isinstance(x, (tuple, list)):
        return type(x)(map(add_saved, x, y))
    return x + y


def zeros_like_saved(saved):
    """The cotangent of what a call saved and nothing used."""
    if isinstance(saved, (tuple, list)):
        return type(saved)(map(zeros_like_saved, saved))
    return None if saved is None else np.zeros_like(saved)[()]
