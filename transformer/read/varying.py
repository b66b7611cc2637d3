"""Numbers from outside that change while the program runs, as a learning rate does: after they have, they are
arguments of what is generated, instead of constants that each change would have it generated anew for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

import numpy as np

from ..core.types import COMPLEX, FLOAT, INT, ArrayType

PLAIN = {float: FLOAT, complex: COMPLEX, int: INT}
MOST_FLOATS, MOST_INTEGERS = 1, 2                # constants for so many; integers are sizes, and modes, more often


class Varying:
    """What a function was generated for: the numbers that have been in each place outside."""

    is_used = False                              # whether any of them is an argument by now

    def __init__(self) -> None:
        self._seen: dict[tuple[int, Any], dict[int, Any]] = {}

    def note(self, watched: Iterable[Any]) -> None:
        """Notes the numbers among what something was read with."""
        for holder, key, found in watched:
            if type_of(found) is not None:
                self._seen.setdefault((identity_of(holder), key), {})[id(found)] = found

    def type(self, holder: Callable[[Any], Any], key: Any, found: Any) -> ArrayType | None:
        """The type of a number that is to be an argument, None for anything else."""
        type = type_of(found)
        most = MOST_INTEGERS if type is not None and type.dtype.kind in "iu" else MOST_FLOATS
        if len(self._seen.get((identity_of(holder), key), ())) < most:
            return None
        self.is_used = True
        return type


class Constant(Varying):
    """That of a function which cannot be read with numbers as arguments: each change has it generated anew."""

    def note(self, watched: Iterable[Any]) -> None:
        pass


def type_of(found: Any) -> ArrayType | None:
    """The type of a number as an argument, None for anything else."""
    if isinstance(found, np.generic) and found.dtype.kind in "iufc":
        return ArrayType(found.dtype.newbyteorder("="))
    return PLAIN.get(type(found))


def identity_of(holder: Any) -> int:
    """What tells the object apart that a holder takes something from."""
    if isinstance(holder, partial):
        return id(holder.args[0])
    return id(getattr(holder, "__self__", holder))


_varying: ContextVar[Varying | None] = ContextVar("varying", default=None)


def varying_type(holder: Callable[[Any], Any], key: Any, found: Any) -> ArrayType | None:
    """The type of a number if it is to be an argument of what is being read."""
    varying = _varying.get()
    return None if varying is None else varying.type(holder, key, found)


@contextmanager
def given(varying: Varying | None) -> Iterator[None]:
    """What is read inside takes these numbers as arguments."""
    token = _varying.set(varying)
    try:
        yield
    finally:
        _varying.reset(token)
