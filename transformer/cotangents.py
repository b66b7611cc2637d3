"""What a user does to a cotangent where the reverse sweep has it: `grad_of`."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

__all__ = ["grad_of"]


class grad_of:
    """``with grad_of(x) as dx:`` runs the lines under it in the reverse sweep, where the cotangent of x is complete.

    There, dx is the sum of the contributions of everything computed from x below. The lines may print, assert, raise,
    call ``breakpoint()``, use variables of the function, and bind names of their own. If they change or rebind dx,
    that replaces the cotangent. They appear in the generated source at that place. They run once in the reverse
    sweep, and not at all outside of a derivative. Raises `NotSupported` if x is not one variable.

    >>> import numpy as np
    >>> from transformer import grad
    >>> def loss(x):
    ...     y = x * x
    ...     with grad_of(y) as dy:
    ...         print("dy =", dy)
    ...         dy = np.clip(dy, -1, 1)
    ...     return 5 * y
    >>> loss(2.0)
    20.0
    >>> float(grad(loss)(2.0))
    dy = 5.0
    4.0
    """

    def __init__(self, variable: Any) -> None:
        self.variable = variable

    def __enter__(self) -> grad_of:
        """Outside of a derivative the lines are passed over: the next thing that Python does in them is
        to raise `_Over`."""
        frame = sys._getframe(1)
        self._before = sys.gettrace(), frame.f_trace, frame.f_trace_opcodes, frame
        sys.settrace(lambda *_: None)
        frame.f_trace_opcodes, frame.f_trace = True, _stop
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        trace, frame_trace, opcodes, frame = self._before
        frame.f_trace, frame.f_trace_opcodes = frame_trace, opcodes
        sys.settrace(trace)
        return kind is _Over

    @staticmethod
    def __transformer_read__(reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> grad_of:
        return grad_of(*args, **kwargs)

    def __transformer_block__(self, reader: Any, node: Any) -> None:
        from .read.cotangents import read_block
        from .transform.custom.cotangents import Marked
        read_block(reader, node, self.variable, Marked)


class _Over(BaseException):
    """The lines are passed over."""


def _stop(frame: FrameType, event: str, arg: Any) -> Any:
    raise _Over
