"""The gradient of a pmapped function, on its devices: each computes its share, and what is shared gets the mean.

    f = pmap(loss, "i", in_axes=(None, 0), out_axes=None)

    grad(f)(w, x)       is      pmap(lambda w, x: pmean(grad(loss)(w, x), "i"), "i", in_axes=(None, 0), out_axes=None)

Devices differentiate what all of them give, which is the number as often as there are examples: therefore the mean.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from . import tree
from .api import Transformed
from .ops.collectives import only_read, pmean, size_of
from .ops.value import call, value
from .pmapping import Mapped
from .run.dispatch import Entry
from .run.static import order_of
from .transform.argument_names import passed_names
from .transform.batching.batched import Batched
from .transform.batching.lane_axes import SHARED, Axes, spread
from .transform.derived import innermost
from .transform.inside import Inside
from .transform.modes import Gradient
from .wrapping import copy_names

NAME = "devices"                        # of the axis, where the user gave none


def gradient_of(mapped: Mapped, mode: Gradient) -> Transformed:
    """The gradient of a pmapped function: on devices, where that gives one number."""
    found = mapped.options["out_axes"]
    number, *aux = found if mode.has_aux and isinstance(found, tuple) and len(found) == 2 else (found, found)
    keys = mode.wrt if isinstance(mode.wrt, tuple) else (mode.wrt,)
    axes = [_axes_of(mapped, key) for key in keys]
    if number is not None or _UNCLEAR in axes:
        return Transformed(mapped, mode)
    gradients = tuple(axes) if isinstance(mode.wrt, tuple) else axes[0]
    return SpreadGradient(mapped, mode, ((None, *aux) if mode.has_aux else None, gradients))


_UNCLEAR = object()


def _axes_of(mapped: Mapped, key: int | str) -> Any:
    """The axes of an argument, and so of its gradient."""
    in_axes = mapped.options["in_axes"]
    order = order_of(innermost(mapped))
    place = order.index(key) if key in order else key
    if not isinstance(in_axes, (tuple, list)):
        return in_axes if isinstance(key, int) or in_axes == 0 else _UNCLEAR
    if isinstance(place, int) and -len(in_axes) <= place < len(in_axes):
        return in_axes[place]
    return 0 if isinstance(key, str) else _UNCLEAR


class SpreadGradient(Transformed):
    """The gradient of a pmapped function. Called, it runs on the devices, where its parts stay; where it is read, or
    transformed again, it is that of the vmap."""

    def __init__(self, mapped: Mapped, mode: Gradient, out_axes: Any) -> None:
        super().__init__(mapped, mode)
        lanes = replace(mapped.mode, axis_name=mapped.mode.axis_name or NAME)
        options = {**mapped.options, "axis_name": lanes.axis_name, "out_axes": out_axes}
        self.on_devices = Mapped(OfLane(mapped.function, replace(mode, value=True), lanes, mode.suffix), options)
        self.out_axes = out_axes

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        found, gradient = self.on_devices(*args, **kwargs)
        assert isinstance(self.mode, Gradient)
        if self.mode.value:                      # else it has shown that it is the same on all devices
            return found, gradient
        return (gradient, found[1]) if self.mode.has_aux else gradient

    def _made_of(self) -> tuple[Any, ...]:
        return self.function, self.mode, self.out_axes

    @property
    def source(self) -> str:
        return self.on_devices.source

    def _entry(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Entry:
        return self.on_devices._entry(args, kwargs)


class OfLane:
    """What a lane gives for the gradient of the number that all lanes give."""

    mode: Any = None

    def __init__(self, function: Callable[..., Any], gradient: Gradient, lanes: Batched, suffix: str) -> None:
        self.function, self.gradient, self.lanes = function, gradient, lanes
        copy_names(self, function)
        name = getattr(function, "__name__", "function")
        self.__name__ = f"{name if name.isidentifier() else 'function'}_{suffix}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return only_read(self.lanes.axis_name)

    def __transformer_read__(self, reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        found, gradients = reader.usable(reader.call(Inside(self.function, self.gradient), args, kwargs))
        names = passed_names(self, len(args))
        entries = dict(zip(names, self.lanes.entries(names)))
        if not isinstance(self.gradient.wrt, tuple):
            return found, self._shares(gradients, self.gradient.wrt, names, entries)
        return found, tuple(self._shares(each, key, names, entries)
                            for each, key in zip(gradients, self.gradient.wrt))

    def _shares(self, gradient: Any, key: int | str, names: list[str], entries: dict[str, tuple[Axes, str]]) -> Any:
        """The gradient for one argument: its mean over the lanes where they share it."""
        name = key if isinstance(key, str) else names[key]
        axes, whose = entries.get(name) or self.lanes.by_keyword(name)
        leaves, structure = tree.flatten(gradient)
        shared = [entry is SHARED for entry in tree.leaves(spread(axes, gradient, whose, name))]
        return tree.unflatten(structure, [self._mean(leaf) if is_shared else leaf / value(size_of(self.lanes.axis_name))
                                          for leaf, is_shared in zip(leaves, shared)])

    def _mean(self, leaf: Any) -> Any:
        return call(pmean, (leaf, self.lanes.axis_name), {})
