"""`pmap`: a function of one example, on as many devices as there are examples."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .api import Transformed
from .core.errors import BadArgument, NotSupported
from .ops.registry import registry
from .parallel.between import ProgramBetween
from .parallel.cutting import Cutting, Given
from .parallel.device import Device, any_device
from .parallel.device import devices as all_devices
from .parallel.on_gpus import ProgramOnGpus
from .parallel.program import Program
from .parallel.results import Results
from .parallel.shards import ShardedArray
from .parallel.split import Split
from .parallel.together import Share, share_of
from .run import dispatch
from .run.dispatch import Dispatcher, Entry
from .run.quick import Quick
from .run.repeated import Valued
from .run.static import names_of
from .settings import config
from .sourced import Sourced
from .transform.batching.batched import Batched
from .transform.batching.lane_axes import Axes
from .transform.derived import innermost
from .transform.modes import Gradient
from .transform.spread import Spread
from .wrapping import argument_names, check_callable, copy_names

__all__ = ["Mapped", "pmap"]


def pmap(function: Callable[..., Any] | None = None, axis_name: Any = None, *, in_axes: Axes = 0, out_axes: Axes = 0,
         devices: Sequence[Device | str] | None = None, pad: bool = False,
         static_broadcasted_argnums: int | Sequence[int] = (), static_argnames: str | Sequence[str] = (),
         donate_argnums: int | Sequence[int] = ()) -> Any:
    """Returns a function that runs `function` on several devices, one or more examples on each.

    The function is cut at collectives (`psum`, …) into phases, which are compiled and run by all devices at the same
    time. Results stay on their devices until they are used (`ShardedArray`).

    Args:
        function: a function of one example. Without it, the result is a decorator.
        axis_name: a name of the devices for collectives.
        in_axes: for each argument, the axis that numbers the examples, as in `vmap`; None for a shared argument.
        out_axes: the axis of the examples in each result; None for a result that is the same on all devices.
        devices: the devices to use; by default, the first of all.
        pad: if the examples cannot be divided evenly, repeat the last one, and drop the copies' results.
        static_broadcasted_argnums, static_argnames: arguments, by position or name, that become part of the compiled
            code. All devices share them, and each value is compiled separately.
        donate_argnums: positions of arguments that the caller no longer needs. Results may be written into a
            `ShardedArray`; using it, or a donated `Array`, afterwards is an error. NumPy arrays stay as they are.

    More examples than devices are divided evenly: each device runs the `vmap` of the function, and collectives run over
    all examples. (`jax.pmap` takes one example per device.)

    Raises, when called, `BadArgument` if axes do not fit the arguments, if devices cannot share the examples, or if
    devices would reach different collectives.

    >>> import numpy as np
    >>> from transformer import pmean
    >>> step = pmap(lambda w, x: w - pmean(w * x, "i"), axis_name="i", in_axes=(None, 0), out_axes=None)
    >>> step(3.0, np.array([0.5]))
    np.float64(1.5)
    """
    options = {"axis_name": axis_name, "in_axes": in_axes, "out_axes": out_axes, "devices": devices,
               "pad": pad, "static_broadcasted_argnums": static_broadcasted_argnums,
               "static_argnames": static_argnames, "donate_argnums": donate_argnums}
    if function is None:
        return lambda f: Mapped(f, options)
    check_callable(function, "pmap")
    return Mapped(function, options)


class Mapped(Sourced):
    """A function on several devices. It is called like the original, with an axis for the devices."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self.function = function
        self.options = options
        user = innermost(function)
        named = {key: names_of(user, key, options[key])
                 for key in ("static_broadcasted_argnums", "static_argnames", "donate_argnums")}
        self.static_names = named["static_broadcasted_argnums"] | named["static_argnames"]
        self.donated = named["donate_argnums"] - self.static_names
        axes = options["in_axes"], options["out_axes"], options["axis_name"]
        self.lanes = Batched(*axes, shared=self.static_names)
        self.mode = AsLanes(*axes, shared=self.static_names, of=self)
        self._by_split: dict[Any, Transformed] = {}
        self._programs: dict[tuple[int, ...], Program] = {}
        self._newest: Transformed | None = None
        names = functools.lru_cache(functools.partial(argument_names, user))
        whose = getattr(function, "__name__", "a function")
        self._cutting = Cutting(whose, self.lanes, names, self.donated, options["pad"])
        self._results = Results(options["out_axes"])
        self._quick = Quick()
        copy_names(self, function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        devices, share = self._devices()
        if share is None:
            return self._called(args, kwargs, devices, None)
        with share.group.call(getattr(self, "__name__", "pmap")):
            return self._called(args, kwargs, devices, share)

    def _called(self, args: tuple[Any, ...], kwargs: dict[str, Any], devices: Sequence[Device], share: Share | None
                ) -> Any:
        if not kwargs:
            try:
                found = self._quick.find[len(args)](*args)
            except Exception:                    # of other kinds than before
                found = None
            if found is not None and found.fits(devices, share):
                return found(self._results, args)
        call = self._cut(args, kwargs, devices, share)
        program = self._program(call, share)
        narrow = not config.enable_x64 and len(call.held) > 0
        try:
            # Phases may read arrays of NumPy's, which their owner may write to: then the call waits.
            result = self._results.placed(program(*call.args, **call.kwargs), call.split, call.device,
                                          program.hands_on, call.is_owned, narrow, program.gpus)
        finally:
            for array, is_donated in call.held:
                self._release(array, is_donated, program.hands_on)
        if not (kwargs or narrow or self.donated or call.device is not None or call.held and program.hands_on):
            self._note(args, call, program)
        return result

    def _note(self, args: tuple[Any, ...], call: Given, program: Program) -> None:
        """Makes the next call like this one a quick one."""
        dispatcher = self._for_split(call.split)._dispatcher
        with dispatch.generating:
            entries = [entry for entries in dispatcher.by_type.values() for entry in entries]
            counted = {path for entry in entries for path in entry.integers.values()}
            self._quick.add(args, dispatcher.names(len(args)), Valued(dispatcher.static, counted),
                            PreparedCall(self, args, call, program))

    def __transformer_gradient__(self, mode: Gradient) -> Transformed:
        """What `grad` and `value_and_grad` give for it."""
        from .mapped_gradients import gradient_of
        return gradient_of(self, mode)

    def __repr__(self) -> str:
        return f"<pmap of {getattr(self.function, '__qualname__', self.function)!s}>"

    def _made_of(self) -> tuple[Any, ...]:
        return self.function, self.options

    @property
    def _dispatcher(self) -> Dispatcher:                                  # type: ignore[override]
        """That of the newest number of devices, for which the function of one device is generated."""
        return self._for_split(Split(1, 1, None))._dispatcher if self._newest is None else self._newest._dispatcher

    def _entry(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Entry:
        return self._entry_of(self._cut(args, kwargs, *self._devices()))

    def _entry_of(self, call: Given) -> Entry:
        return self._for_split(call.split)._entry(*call.of_one)

    def _for_split(self, split: Split) -> Transformed:
        """The function of one device: of one example, or the vmap of it for several."""
        count = split.devices + split.elsewhere
        key = count, split.each is not None
        if key not in self._by_split:
            inner = self.function
            if split.each is not None:
                inner = Transformed(inner, replace(self.lanes, devices=count))
            self._by_split[key] = Transformed(inner, Spread(self.lanes, count), self.static_names)
        self._newest = self._by_split[key]
        return self._newest

    def _program(self, call: Given, share: Share | None) -> Program:
        entry = self._entry_of(call)
        key = id(entry), id(share), *map(id, call.devices)
        found = self._programs.get(key)
        if found is None:
            found = self._new_program(entry, call.devices, share)
            self._programs[key] = found          # which keeps both, and so their ids
        if call.split.is_padded and found.has_collectives:
            raise BadArgument("the examples that pad=True adds would be counted in a collective",
                              instead=f"Pass a multiple of {len(call.devices)} examples.")
        return found

    def _new_program(self, entry: Entry, devices: Sequence[Device], share: Share | None) -> Program:
        if share is not None:
            return ProgramBetween(entry, devices, share, self.donated)
        kinds = {device.kind for device in devices}
        if len(kinds) > 1:
            raise BadArgument("the devices of pmap are of several kinds: " + ", ".join(map(str, devices)),
                              instead="Pass devices of one kind, such as devices('cuda').")
        return (ProgramOnGpus if kinds == {"cuda"} else Program)(entry, devices, self.donated)

    def _cut(self, args: tuple[Any, ...], kwargs: dict[str, Any], devices: Sequence[Device], share: Share | None
             ) -> Given:
        return self._cutting.cut(args, kwargs, devices, share.total - len(devices) if share else 0)

    def _devices(self) -> tuple[Sequence[Device], Share | None]:
        """Those of this process; and its share, if there are others of other processes."""
        chosen = self.options["devices"]
        if chosen is not None and (isinstance(chosen, str | Device) or not isinstance(chosen, Iterable)):
            raise BadArgument(f"pmap expects a sequence of devices, got {chosen!r}",
                              instead="Write devices=transformer.devices()[:2], say, or devices=['cpu:0'].")
        return share_of(tuple(all_devices() if chosen is None else map(any_device, chosen)))

    def _release(self, array: Any, is_donated: bool, hands_on: bool) -> None:
        """After a call: what was donated is gone; others may have the memory of what was handed on."""
        if is_donated:
            name = getattr(self.function, "__name__", "a function")
            array.give_up(RuntimeError(f"this {type(array).__name__} has been deleted: it was donated to {name}, which "
                                       "may have overwritten it with its results. Use those, or omit donate_argnums"))
        elif hands_on and type(array) is ShardedArray:
            array.maker = None


@dataclass(frozen=True)
class AsLanes(Batched):
    """A `pmap` that is read, as in a function that is differentiated: a vmap, which gives the same numbers, if all of
    its devices are here."""

    of: Any = None

    def entered(self, *args: Any, **kwargs: Any) -> Any:
        self._check()
        return super().entered(*args, **kwargs)

    def entered_inside(self, *args: Any, **kwargs: Any) -> Any:
        self._check()
        return super().entered_inside(*args, **kwargs)

    def _check(self) -> None:
        if self.of._devices()[1] is not None:
            raise NotSupported("pmap over several processes inside another transformation is not supported",
                               why="The other examples are in other processes.",
                               instead="Transform the function that pmap maps, as in pmap(grad(f)), or pass "
                                       "devices=local_devices().")


class PreparedCall:
    """Calls of one kind, for which everything has been found out."""

    def __init__(self, mapped: Mapped, args: tuple[Any, ...], call: Given, program: Program) -> None:
        self.program, self.split, self.is_owned = program, call.split, call.is_owned
        self.cutters = mapped._cutting.cutters(args, call.split, call.devices)
        self.version = registry.version

    def fits(self, devices: Sequence[Device], share: Share | None) -> bool:
        """Whether nothing has changed since."""
        entry = self.program.entry
        return self.version == registry.version and self.program.share is share \
            and self.program.devices == devices[:self.split.devices] \
            and (self.split.devices == len(devices) or self.split.each is None) \
            and (not (entry.watched or entry.hidden) or entry.is_current())

    def __call__(self, results: Results, args: tuple[Any, ...]) -> Any:
        given = [arg if cut is None else cut(arg) for arg, cut in zip(args, self.cutters)]
        return results.placed(self.program(*given), self.split, None, self.program.hands_on, self.is_owned,
                              gpus=self.program.gpus)
