"""Ops that users define for functions of other libraries; see `transformer.define_op`."""

from __future__ import annotations

import inspect
import threading
from typing import Any

import numpy as np

from .base import Op


class Defined(Op):
    """Base of the ops that users define. `spelling` is how a call is printed; `function` what is called."""

    spelling = ""
    function: Any = None


class Registry:
    """The ops defined so far, by the functions that they stand for. `version` grows with every change, so
    that what was generated before can be told from what comes after."""

    def __init__(self) -> None:
        self.by_function: dict[Any, type[Defined]] = {}
        self.version = 0
        self.lock = threading.Lock()

    def add(self, function: Any, op: type[Defined]) -> None:
        with self.lock:
            self.by_function = {**self.by_function, function: op}
            self.version += 1

    def renew(self, setting: str, before: int, now: int) -> None:
        """Code for several threads is not that for one, and dtypes depend on `enable_x64`."""
        if setting != "threads" or (before > 1) != (now > 1):
            with self.lock:
                self.version += 1

    def modules(self) -> set[str]:
        """The modules that calls of these ops name."""
        return {op.spelling.rpartition(".")[0] for op in self.by_function.values()} - {""}

    def names(self) -> set[str]:
        """The first words of the calls of these ops, which no variable may hide."""
        return {op.spelling.partition(".")[0] for op in self.by_function.values()}


registry = Registry()


def how_to_define(function: Any) -> str:
    """What to do about a function without a rule, with the line that would define one."""
    return f"Write it with supported functions, or give it a rule: {definition_of(function)}."


def definition_of(function: Any) -> str:
    """A call of `define_op` for a function, to be filled in.

    >>> import numpy as np, scipy.special
    >>> definition_of(scipy.special.spence)
    'define_op(scipy.special.spence, partials=lambda t, x, y: t * ...)'
    >>> definition_of(np.unwrap)
    "define_op(np.unwrap, types='like p', jvp=lambda t, p, y: ..., vjp=lambda dy, p, y: ...)"
    """
    operands = _operands(function)
    result = next(name for name in ("y", "result", "y_") if name not in operands)
    names = ", ".join([*operands, result])
    if isinstance(function, np.ufunc) or getattr(function, "__module__", None) == "math":
        return f"define_op({full_name(function)}, partials={_each(operands, f'lambda t, {names}: t * ...')})"
    jvp, vjp = (_each(operands, f"lambda {first}, {names}: ...") for first in ("t", "dy"))
    return f"define_op({full_name(function)}, types='like {operands[0]}', jvp={jvp}, vjp={vjp})"


def _each(operands: list[str], rule: str) -> str:
    return rule if len(operands) == 1 else f"({rule}, ...)"


def full_name(function: Any) -> str:
    """A function by its module, without the private parts of it."""
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None) or repr(function)
    if isinstance(function, np.ufunc):
        return f"np.{name}" if hasattr(np, name) else f"scipy.special.{name}"
    parts = [part for part in (getattr(function, "__module__", None) or "").split(".") if not part.startswith("_")]
    parts = ["np" if part == "numpy" else part for part in parts if part != "builtins"]
    short = [part for part in parts if part != "lib"]
    is_there = short[:1] == ["np"] and _reached(np, [*short[1:], name]) is function
    return ".".join([*(short if is_there else parts), name])


def _reached(owner: Any, names: list[str]) -> Any:
    """What a chain of attributes leads to; None where it breaks off."""
    for name in names:
        owner = getattr(owner, name, None)
    return owner


def _operands(function: Any) -> list[str]:
    if isinstance(function, np.ufunc):
        return ["x"] if function.nin == 1 else [f"x{k}" for k in range(1, function.nin + 1)]
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ["x"]
    kinds = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    return [p.name for p in parameters if p.default is p.empty and p.kind in kinds] or ["x"]


def takes_function(function: Any) -> bool:
    """Whether the first argument of a function is one, as that of `scipy.integrate.quad`."""
    return _operands(function)[0] in ("f", "func", "fun", "function")


def is_defined(op: Any) -> bool:
    return isinstance(op, type) and issubclass(op, Defined)
