"""A case for a GPU: a program, the same by others, and what is to be reached."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.contest.case import Case, Function
from benchmarks.contest.checking import leaves

Pair = tuple[Any, Any]


@dataclass(frozen=True)
class GpuCase(Case):
    """The program is called with arrays of CuPy as well, and so is `hand`. `sample` takes arguments and the result, as
    arrays of NumPy, and gives a part of the result with what it has to be: where there is none, all of it is compared
    with NumPy. `moves` says that time is to be compared with that of a copy; `goals` has what is to be reached, by the
    table's columns."""

    sample: Callable[[tuple[Any, ...], Any], Pair] | None = None
    moves: bool = False
    goals: tuple[tuple[str, float], ...] = ()

    def at_full_size(self, arguments: tuple[Any, ...], result: Any) -> Pair:
        if self.sample is not None:
            return self.sample(arguments, result)
        return result, self.ours()(*arguments)


def moved(arguments: Any, result: Any) -> int:
    """Bytes that have to be read and written, if everything is touched once."""
    return sum(np.asarray(leaf).nbytes for leaf in leaves((arguments, result)) if leaf.ndim)


def by_part(program: Function, part: Callable[..., tuple[Any, ...]], pick: Callable[[Any], Any]) -> Any:
    """A sample: what a part of the arguments gives is a part of the result. `pick` finds it in both."""
    return lambda arguments, result: (pick(result), pick(program(*part(*arguments))))
