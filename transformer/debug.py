"""The names of `jax.debug`, which are `print` and `breakpoint`: those run in compiled code, too, and in order.

    debug.print("loss {loss:.3f} at {}", step, loss=loss)
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

__all__ = ["breakpoint", "callback", "print"]


def print(fmt: str, *args: Any, ordered: bool = False, **kwargs: Any) -> None:
    """Prints ``fmt.format(*args, **kwargs)``. Prints are always in order; `ordered` changes nothing.

    >>> print("{} and {x:.1f}", 1, x=2.0)
    1 and 2.0
    """
    builtins.print(fmt.format(*args, **kwargs))


def callback(callback: Callable[..., Any], *args: Any, ordered: bool = False, **kwargs: Any) -> None:
    """Calls a function for its effect. In a program that is transformed, that may be prints, warnings and log messages;
    what else outlives the call, such as `append` to a list outside, is refused there.

    >>> callback(lambda x: print("{}", x), 3.0)
    3.0
    """
    callback(*args, **kwargs)


def breakpoint(**options: Any) -> None:
    """Python's `breakpoint()`; options of JAX's debuggers change nothing."""
    builtins.breakpoint()
