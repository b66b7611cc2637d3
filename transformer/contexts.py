"""Settings for a while, and names of parts of a program, as programs of JAX have them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from .settings import config

__all__ = ["debug_nans", "enable_x64", "named_call", "named_scope"]


class named_scope(contextlib.ContextDecorator):
    """``with named_scope("name"):`` and ``@named_scope("name")`` change nothing: generated code has the names of the
    program. As `jax.named_scope`.

    >>> with named_scope("part"):
    ...     x = 1.0
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, *raised: Any) -> None:
        return None


def named_call(fun: Callable[..., Any], *, name: str | None = None) -> Callable[..., Any]:
    """The function itself: generated code has the names of the program. As `jax.named_call`.

    >>> named_call(abs, name="part") is abs
    True
    """
    return fun


class _Setting(contextlib.ContextDecorator):
    """A setting of the process, for the lines under ``with``."""

    def __init__(self, name: str, value: Any) -> None:
        self.name, self.value = name, value
        self.before: list[Any] = []

    def __enter__(self) -> None:
        self.before.append(getattr(config, self.name))
        setattr(config, self.name, self.value)

    def __exit__(self, *raised: Any) -> None:
        setattr(config, self.name, self.before.pop())


def debug_nans(new_val: bool = True) -> Any:
    """``with debug_nans(True):`` sets `config.debug_nans` for calls under it. As `jax.debug_nans`.

    >>> with debug_nans(True):
    ...     config.debug_nans
    True
    """
    return _Setting("debug_nans", bool(new_val))


def enable_x64(new_val: bool = True) -> Any:
    """``with enable_x64(False):`` sets `config.enable_x64` for calls under it. As `jax.enable_x64`.

    >>> with enable_x64(False):
    ...     config.enable_x64
    False
    """
    return _Setting("enable_x64", bool(new_val))
