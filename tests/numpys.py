"""A program in all its forms beside NumPy: the same numbers in the same types, or an error where NumPy has one."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
from bounds import Raised, outcome
from lowered import generated, printed

from transformer import jit, tree
from transformer.core.errors import TransformError


def assert_numpys(function: Any, *arguments: Any, compiled: bool = True) -> None:
    """Asserts that the source of a program, and what is compiled, give what the program gives."""
    differing = differences(function, *arguments, compiled=compiled)
    assert not differing, f"{function.__name__}{arguments}: " + "; ".join(differing)


def differences(function: Any, *arguments: Any, compiled: bool = True) -> list[str]:
    """What the forms of a program give where it is not what the program gives."""
    expected, found = outcomes(function, *arguments, compiled=compiled)
    return [f"{form} gives {shown(each)} for {shown(expected)}" for form, each in found.items()
            if not is_same(each, expected, classes=form == "compiled")]


def outcomes(function: Any, *arguments: Any, compiled: bool = True) -> tuple[Any, dict[str, Any]]:
    """What a program gives, and what its forms do."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected = outcome(lambda: function(*copy.deepcopy(arguments)))
        found = {"source": outcome(lambda: from_source(function, arguments))}
        if compiled:
            found["compiled"] = outcome(lambda: jit(function)(*copy.deepcopy(arguments)))
        return expected, found


def from_source(function: Any, arguments: tuple[Any, ...]) -> Any:
    """What the NumPy source gives that is printed of a function."""
    return printed(generated(function, function, arguments))(*copy.deepcopy(arguments))


def is_same(found: Any, expected: Any, classes: bool = True) -> bool:
    """Whether two outcomes have equal numbers of the same types, or are both errors of which one is caught as the
    other, or as one of ours that has a place. Without `classes` a number may be one of Python's or of NumPy's, or
    an array of it, as long as it is of the same dtype: source is printed so."""
    if isinstance(found, Raised) or isinstance(expected, Raised):
        return isinstance(found, Raised) and isinstance(expected, Raised) and is_like(found.type, expected.type)
    mine, theirs = tree.leaves(found), tree.leaves(expected)
    return len(mine) == len(theirs) and all(is_same_leaf(*pair, classes) for pair in zip(mine, theirs, strict=True))


def is_like(mine: type[BaseException], theirs: type[BaseException]) -> bool:
    return issubclass(mine, (TransformError, theirs)) or issubclass(theirs, mine)


def is_same_leaf(mine: Any, theirs: Any, classes: bool) -> bool:
    # on another path, it is one of NumPy's, and no array
    meets_numpys = type(theirs) in (bool, int, float, complex, np.ndarray) and isinstance(mine, np.generic)
    if classes and type(mine) is not type(theirs) and not meets_numpys or np.shape(mine) != np.shape(theirs):
        return False
    if np.asarray(mine).dtype != np.asarray(theirs).dtype:
        return False
    rounding = {2: 2e-3, 4: 1e-5}.get(np.asarray(theirs).real.dtype.itemsize, 1e-11)
    if np.asarray(theirs).dtype.kind not in "fc":
        return np.array_equal(mine, theirs)
    return np.allclose(mine, theirs, rtol=rounding, atol=rounding, equal_nan=True)


def shown(given: Any) -> str:
    return tree.map(lambda leaf: f"{np.asarray(leaf).dtype} {leaf!r}", given).__repr__()
