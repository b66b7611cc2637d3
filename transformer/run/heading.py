"""The text at the top of an emitted file: what it is, and of which function."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .. import tree
from ..pipeline import Product
from ..transform.argument_names import extra_names, keys_in, name_at
from ..transform.batching.batched import Batched
from ..transform.batching.vectorized import Vectorized
from ..transform.curvature import HessianVector
from ..transform.jacobians import Jacobian
from ..transform.modes import Gradient, Mode, Pullback, Pushforward
from ..write.header import Header


def header_of(function: Any, modes: list[Mode], notes: tuple[str, ...], name: str | None, product: Product) -> Header:
    """The header for a function and what is done to it, the first thing done first."""
    from .. import __version__

    code = getattr(inspect.unwrap(function), "__code__", None)
    names = parameter_names(function)
    done = " of the ".join(reversed(all_words(modes, names))) or (
        "simplified form" if product is Product.SOURCE else "compiled form")
    versions = {"transformer": __version__, "numpy": np.__version__}
    file, line = (code.co_filename, code.co_firstlineno) if code is not None else ("", 0)
    own = getattr(function, "__qualname__", None) or type(function).__qualname__
    shown = name if name and "<" in own else own
    return Header(shown, file, line, done, versions, notes)


def all_words(modes: list[Mode], names: list[str]) -> list[str]:
    """What each transformation gives, the first thing done first."""
    found: list[str] = []
    extras: list[str] = []
    for k, (before, mode) in enumerate(zip([None, *modes], modes)):
        if is_hessian(before, mode):
            found[-1] = f"Hessian with respect to {listed(mode.wrt, names)}"         # type: ignore[attr-defined]
        else:
            found.append(words(mode, names, extras))
        extras += extra_names(mode, names, modes[:k])
    return found


def is_hessian(first: Mode | None, second: Mode) -> bool:
    """Whether two transformations in sequence are those of which `hessian` consists.

    >>> is_hessian(Jacobian("x", reverse=True), Jacobian("x"))
    True
    """
    if not isinstance(first, Jacobian) or not isinstance(second, Jacobian):
        return False
    return not second.reverse and first == replace(second, reverse=True)


def words(mode: Mode, names: list[str], extras: Sequence[str] = ()) -> str:
    """What a transformation gives, in words; `extras` are arguments behind those with `names`.

    >>> words(Gradient((0, "b")), ["w", "b", "x"])
    'gradient with respect to w and b'
    >>> words(Batched(), ["w", "x"])
    'batched form'
    >>> words(Batched((None, 0, 1)), ["w", "x", "y"])
    'batched form (axis 0 of x, axis 1 of y)'
    >>> words(Jacobian("x", reverse=True), ["x"])
    'Jacobian by reverse mode with respect to x'
    """
    if isinstance(mode, Batched):
        along = lanes(mode, names, extras)
        return f"batched form ({along})" if along else "batched form"
    if isinstance(mode, Vectorized):
        return f"form for any leading axes of {mode.signature or 'numbers'}"
    return f"{derivative(mode)} with respect to {listed(mode.wrt, names)}"       # type: ignore[attr-defined]


def derivative(mode: Mode) -> str:
    """What kind of derivative a transformation gives."""
    match mode:
        case Gradient():
            return "value and gradient" if mode.value else "gradient"
        case Jacobian():
            return f"Jacobian by {'reverse' if mode.reverse else 'forward'} mode"
        case HessianVector():
            return "product of the Hessian with a vector"
        case Pushforward():
            return "forward derivative"
        case Pullback():
            return "pullback"
    return mode.suffix


def lanes(mode: Batched, names: list[str], extras: Sequence[str]) -> str:
    """Which axes of which arguments number the lanes, and of the result, unless they are the first."""
    found = [lanes_of_arguments(mode.in_axes, names, extras)]
    found += [f"{mode.axis_size} lanes"] if mode.axis_size is not None else []
    found += [f"lanes along axis {axis} of the result{path}" for axis, path in axes_by_place(mode.out_axes) if axis]
    return "; ".join(part for part in found if part)


def lanes_of_arguments(axes: Any, names: list[str], extras: Sequence[str] = ()) -> str:
    """
    >>> lanes_of_arguments(1, ["w", "x"])
    'axis 1 of each argument'
    >>> lanes_of_arguments(({"w": 0, "b": None}, 0), ["params", "x"])
    "axis 0 of params['w'] and x"
    """
    if isinstance(axes, int):
        return f"axis {axes} of each argument" if axes else ""
    places: dict[int, list[str]] = {}
    axes = axes or ()
    passed = len(axes) - len(extras)                       # what stands at its default is not passed
    for name, each in zip([*(name_at(k, names) for k in range(passed)), *extras], axes):
        for axis, path in axes_by_place(each):
            places.setdefault(axis, []).append(name + path)
    return ", ".join(f"axis {axis} of {enumerated(known)}" for axis, known in places.items())


def axes_by_place(axes: Any) -> list[tuple[int, str]]:
    """The axes in a tree of them, None left out, and the way to each."""
    return list(zip(tree.leaves(axes), tree.structure(axes).paths()))


def listed(wrt: Any, names: list[str]) -> str:
    """Arguments by name, as far as their positions have one."""
    if wrt is None:
        return "the arguments"
    return enumerated([key if isinstance(key, str) else name_at(key, names) for key in keys_in(wrt)])


def enumerated(words: list[str]) -> str:
    """
    >>> enumerated(["w", "b", "x"])
    'w, b and x'
    """
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def parameter_names(function: Any) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []
