"""What is checked of a random program under `vmap`: against a loop over lanes, and the Jacobians against each other."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from lane_loops import Stack, assert_alike, looped

from transformer import grad, hessian, jacfwd, jacrev, tree, vmap

from .program import Program
from .reference import Rejected
from .verdicts import Failure, ours

LANES = 3
SPREAD = 0.3                    # lanes are far enough apart for some of them to take another branch
BOUNDED = 1e6                   # beyond, differences are those of rounding
KINDS = ("values", "gradients", "nested", "jacobians", "hessians")


class LaneCheck:
    """One program, at some points at once."""

    def __init__(self, program: Program, also: tuple[str, ...] = KINDS) -> None:
        self.program, self.also = program, also
        rng = np.random.default_rng(len(program.source))
        self.stack = Stack([program.values(), *(_moved(program.values(), rng) for _ in range(LANES - 1))])
        self.wrt = program.wrt
        self.single = any(np.asarray(leaf).dtype == np.float32 for leaf in tree.leaves(program.values()))

    def run(self) -> None:
        """Raises `Rejected`, `Refused` or `Failure`, or nothing."""
        function = self.program.function
        if not any(self.stack.mapped):
            raise Rejected("nothing has lanes")
        values = self.expected(function)
        if "values" in self.also:
            self.same("vmap", vmap(function, in_axes=self.stack.in_axes), self.stack.args, values)
        leaves = tree.leaves(values)
        if len(leaves) != 1 or np.ndim(leaves[0]) != 1 or np.asarray(leaves[0]).dtype.kind != "f" or self.single:
            return
        self.derivatives(function)

    def derivatives(self, function: Callable[..., Any]) -> None:
        slope = grad(function, argnums=self.wrt)
        with ours("gradient"):
            slope(*self.stack.lane(0))
        slopes = self.expected(slope)
        if "gradients" in self.also:
            self.same("vmap of grad", vmap(slope, in_axes=self.stack.in_axes), self.stack.args, slopes)
            self.gradient_of_vmap(function, slopes)
        if "nested" in self.also:
            self.nested(slope, slopes)
        chosen = tuple(self.stack.args[k] for k in self.wrt)
        if "jacobians" in self.also and all(isinstance(arg, np.ndarray) for arg in chosen):
            self.jacobians(slope)

    def gradient_of_vmap(self, function: Callable[..., Any], slopes: Any) -> None:
        """The derivative of the sum over lanes: that of each, or their sum for what lanes share."""
        axes = self.stack.in_axes

        def total(*args: Any) -> Any:
            return np.sum(vmap(function, in_axes=axes)(*args))
        chosen = [self.stack.in_axes[k] for k in self.wrt]
        if all(all(axis == 0 for axis in _leaves_of_axes(axis)) for axis in chosen):
            self.same("grad of vmap", grad(total, argnums=self.wrt), self.stack.args, slopes)

    def nested(self, slope: Callable[..., Any], slopes: Any) -> None:
        """Twice the lanes, by another `vmap` around: either way round it is the same."""
        doubled = tree.unflatten(self.stack.structure, [
            np.stack([leaf, leaf[::-1]]) if on else leaf for leaf, on in zip(self.stack.leaves, self.stack.mapped)])
        both = tree.map(lambda leaf: np.stack([leaf, leaf[::-1]]), slopes)
        axes = self.stack.in_axes
        self.same("vmap of vmap", vmap(vmap(slope, in_axes=axes), in_axes=axes), doubled, both)
        inner = tuple(_shifted(axis) for axis in axes)
        self.same("vmap of vmap, the other way round", vmap(vmap(slope, in_axes=axes), in_axes=inner, out_axes=1),
                  doubled, both)

    def jacobians(self, slope: Callable[..., Any]) -> None:
        """The second derivatives in both modes are the same, and symmetric."""
        args = self.program.values()
        with ours("jacobians"):
            forward = jacfwd(slope, argnums=self.wrt)(*copy.deepcopy(args))
            backward = jacrev(slope, argnums=self.wrt)(*copy.deepcopy(args))
        self.close("jacfwd and jacrev", forward, backward)
        if "hessians" in self.also:
            with ours("hessian"):
                found = hessian(self.program.function, argnums=self.wrt)(*copy.deepcopy(args))
            self.close("hessian", found, backward)
            for i, row in enumerate(found):
                for j, block in enumerate(row):
                    rank = np.ndim(args[self.wrt[i]])
                    turned = np.moveaxis(found[j][i], range(-rank, 0), range(rank)) if rank else found[j][i]
                    self.close("symmetry of the hessian", block, turned)

    # -- comparing ----------------------------------------------------------------------------

    def expected(self, function: Callable[..., Any]) -> Any:
        """What the lanes give one by one."""
        with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
            warnings.simplefilter("error")
            try:
                found = looped(function, self.stack.lanes)
            except (ArithmeticError, ValueError, IndexError, AssertionError, TypeError, Warning) as error:
                raise Rejected(f"{type(error).__name__} in a lane: {error}") from None
        for leaf in tree.leaves(found):
            if isinstance(leaf, np.ndarray) and not np.all(np.abs(leaf) < BOUNDED):
                raise Rejected("large")
        return found

    def same(self, what: str, function: Callable[..., Any], args: tuple[Any, ...], expected: Any) -> None:
        given = copy.deepcopy(args)
        with ours(what):
            found = function(*given)
        self.close(what, found, expected)
        for now, before in zip(tree.leaves(given), tree.leaves(args), strict=True):
            if not np.array_equal(now, before):
                raise Failure(f"argument changed by {what}", f"{before!r} became {now!r}")

    def close(self, what: str, found: Any, expected: Any) -> None:
        if self.single:                        # a lane may give a Python float, which has no precision of its own
            found = tree.map(_like, found, expected)
            expected = tree.map(_narrow, expected)
        size = max([1.0, *(float(np.max(np.abs(leaf))) for leaf in tree.leaves(expected) if np.size(leaf))])
        rtol, atol = (1e-3, 1e-3) if self.single else (1e-8, 1e-9)
        try:
            assert_alike(found, expected, rtol=rtol, atol=size * atol)
        except AssertionError as error:
            raise Failure(what, str(error)) from None


def _moved(values: tuple[Any, ...], rng: np.random.Generator) -> tuple[Any, ...]:
    """Arguments in which all floating point numbers are elsewhere."""
    def other(leaf: Any) -> Any:
        if isinstance(leaf, (float, np.ndarray, np.generic)) and np.asarray(leaf).dtype.kind == "f":
            drawn = np.asarray(leaf) + rng.normal(size=np.shape(leaf)).round(3) * SPREAD
            return drawn.astype(np.asarray(leaf).dtype) if np.shape(leaf) else type(leaf)(drawn)
        return leaf
    return tuple(tree.map(other, value) for value in values)


def _like(leaf: Any, expected: Any) -> Any:
    return leaf if getattr(expected, "dtype", None) == np.float32 else _narrow(leaf)


def _narrow(leaf: Any) -> Any:
    return leaf.astype(np.float32) if getattr(leaf, "dtype", None) == np.float64 else leaf


def _leaves_of_axes(axes: Any) -> list[Any]:
    if isinstance(axes, dict):
        return [axis for part in axes.values() for axis in _leaves_of_axes(part)]
    if isinstance(axes, (tuple, list)):
        return [axis for part in axes for axis in _leaves_of_axes(part)]
    return [axes]


def _shifted(axes: Any) -> Any:
    """The same axes, one further back."""
    if isinstance(axes, dict):
        return {key: _shifted(part) for key, part in axes.items()}
    if isinstance(axes, (tuple, list)):
        return type(axes)(map(_shifted, axes))
    return None if axes is None else axes + 1
