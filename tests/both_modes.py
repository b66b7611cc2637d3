"""Reverse mode against forward mode, which neither records nor takes anything again."""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np

from transformer import grad, jvp


def defined(source: str, name: str, **around: Any) -> dict[str, Any]:
    """What the source of a random program defines; it can be read back under a name."""
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace = {"np": np, **around}
    exec(compile(source, name, "exec"), namespace)
    return namespace


def compare_modes(function: Any, args: tuple[Any, ...], rng: np.random.Generator, order: int) -> None:
    """Both modes give the same number for a function of three arguments, and for its derivatives to an order."""
    tangents = tuple(rng.normal(size=a.shape) for a in args)
    gradient = grad(function, (0, 1, 2))
    products = [g * t for g, t in zip(gradient(*args), tangents)]
    scale = sum(np.sum(np.abs(p)) for p in products) + 1e-3
    assert abs(sum(map(np.sum, products)) - jvp(function, args, tangents)[1]) <= 1e-8 * scale
    if order > 1:
        e, f, g = (rng.normal(size=a.shape) for a in args)

        def along(u, v, w):
            du, dv, dw = gradient(u, v, w)
            return np.sum(du * e) + np.sum(dv * f) + np.sum(dw * g)

        compare_modes(along, args, rng, order - 1)
