"""Clocks: what a program reads of them and does not use is left out, as how long a solver took; the rest is refused.

    started = time.perf_counter()
    x, steps = solve(a, b)
    took = time.perf_counter() - started
    return (x, took) if full else x
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import NotSupported
from ...core.grammar import Function, Let
from ...core.types import INT, ArrayType
from ...core.walk import all_statements, called_in
from ...ops.base import Op
from ...ops.value import emit
from .pure import public_name, why_not

if TYPE_CHECKING:
    from ..reader import Reader

READ = (time.time, time.perf_counter, time.monotonic, time.process_time, time.thread_time)
IN_NANOSECONDS = (time.time_ns, time.perf_counter_ns, time.monotonic_ns, time.process_time_ns)


class Clock(Op):
    """What `read`, a function of `time`, gives at one `moment`, which is no other. No stage after reading has it."""

    def types(read: Any = None, moment: Any = None) -> ArrayType:
        return INT if read in IN_NANOSECONDS else ArrayType(np.dtype(np.float64), (), weak=True)


def _reading(function: Callable[[], Any]) -> Callable[[Reader], Any]:
    return lambda reader: emit(Clock, (), {"read": function, "moment": object()})


def without_clocks(function: Function) -> None:
    """Refuses clocks that something rests on, once everything else is left out."""
    for each in (function, *called_in(function)):
        for stmt in all_statements(each.body):
            if isinstance(stmt, Let) and stmt.op is Clock:
                read = stmt.attrs["read"]
                why, instead = why_not(read)
                raise NotSupported(f"no rule for {public_name(read)}", stmt.origin, why=why, instead=instead)


CALLS: dict[Any, Callable[..., Any]] = {function: _reading(function) for function in (*READ, *IN_NANOSECONDS)}
