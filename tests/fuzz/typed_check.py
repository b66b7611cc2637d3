"""What is checked of programs of several dtypes: their source and what is compiled of them, beside NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from bounds import Raised
from numpys import is_same, outcomes, shown

from transformer import tree
from transformer.core.errors import TransformError

from .program import Program
from .reference import Rejected
from .verdicts import Failure, Refused


def check_types(program: Program) -> None:
    """Raises `Rejected` where NumPy raises, `Refused` where we do, and `Failure` for anything but NumPy's numbers."""
    expected, found = outcomes(program.function, *program.values())
    if not isinstance(expected, Raised) and any(np.asarray(leaf).dtype.kind in "Oc" for leaf in tree.leaves(expected)):
        raise Rejected("more than 64 bits, or complex")
    for form, each in found.items():
        if not is_same(each, expected, classes=form == "compiled"):
            if isinstance(each, Raised) and issubclass(each.type, TransformError):
                raise Refused(each.text)
            raise Failure(f"{form}: {difference(each, expected)}", f"{shown(each)}, by NumPy {shown(expected)}")
    if isinstance(expected, Raised):
        raise Rejected(expected.type.__name__)


def difference(found: Any, expected: Any) -> str:
    """What is not NumPy's."""
    if isinstance(found, Raised):
        return found.type.__name__
    if isinstance(expected, Raised):
        return f"no {expected.type.__name__}"
    dtypes = [[np.asarray(leaf).dtype for leaf in tree.leaves(each)] for each in (found, expected)]
    pairs = [f"{mine} for {theirs}" for mine, theirs in zip(*dtypes, strict=False) if mine != theirs]
    return pairs[0] if pairs else "number or class"
