"""Calls of a function compiled for a GPU.

Arrays of NumPy are brought to the device, and results fetched. For `Array`s results are `Array`s on the device, which
may not be computed yet when a call returns. Both run in our stream. What lies there already, of CuPy or another
library, is taken where it lies, in CuPy's current stream, and results stay.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import tree
from ...core.errors import BadArgument, TransformError
from ...core.on_devices import is_on_device
from ...pipeline import Looped, Product, generate_loops
from ..dispatch import Entry
from ..generating import entry_of, on_demand, requested
from ..raising import complete
from ..repeated import Repeated
from ..sharing import arrays_of
from ..signature import Description
from ..static import names_of
from .again import Again, There
from .choice import device_for
from .devices import launching
from .library import brought, fetched, is_gpu_array, is_simulated, library, put, stand_in, taken
from .modules import has_long_axis, loaded, with_long_places
from .streams import Beside, On, mark
from .transfers import fetched_together

if TYPE_CHECKING:
    from ...parallel.device import Device
    from .report import GpuReport


class GpuCalls(Repeated):
    """The dispatcher of a function compiled for a GPU; `target` is what is compiled, `user` the user's function in
    it."""

    def __init__(self, target: Any, user: Any, names: Callable[[int], list[str]], options: dict[str, Any]) -> None:
        static = names_of(user, "static_argnames", options["static_argnames"])
        static |= names_of(user, "static_argnums", options["static_argnums"])
        super().__init__(self._generated, names, user, static, target)
        self.fallback = options["fallback"]
        self.long: dict[Any, Any] = {}           # for axes of more than 2**31 places, by what they are in place of
        self.donated = names_of(user, "donate", options["donate"]) - static

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Runs the function: on the device with what lies there, else with copies."""
        leaves = tree.leaves((args, kwargs))
        device = device_for(leaves, self.target)
        if any(map(is_gpu_array, leaves)):
            with Beside(device.id):
                result = self._run(args, kwargs, True)
            if not kwargs:
                self._note_there(args, device)
            return result
        with On(device.id) as stream:
            if not any(map(is_on_device, leaves)):
                return fetched_together(self._run(args, kwargs, False))
            return self._placed(args, kwargs, device, stream)

    def there(self, *args: Any) -> Any:
        """Runs the function on the current GPU, where the results stay."""
        return self._run(args, {}, True)

    def _placed(self, args: tuple[Any, ...], kwargs: dict[str, Any], device: Device, stream: Any) -> Any:
        """With `Array`s, which nobody writes to."""
        from ...parallel.array import wrapped
        bare, keywords = tree.map(brought, (args, kwargs))
        result = self._run(bare, keywords, True, closed=True)
        result = wrapped(result, device, (bare, keywords), mark(stream))
        if not kwargs:
            self._note(args, bare)
        self.give_up(args, kwargs)
        return result

    def _note(self, args: tuple[Any, ...], bare: tuple[Any, ...]) -> None:
        """Makes the next call like this one a quick one."""
        entry = self.entry(*tree.map(stand_in, (bare, {})))
        if Again.is_for(entry, args):
            self.quick.add(args, self.names(len(args)), self.valued(), Again(entry, self, args))

    def _note_there(self, args: tuple[Any, ...], device: Device) -> None:
        """The same for a call with arrays of CuPy's."""
        if is_simulated() or not all(type(leaf) is library().ndarray for leaf in tree.leaves(args)
                                     if is_gpu_array(leaf)):
            return
        entry = self.entry(*tree.map(stand_in, (args, {})))
        if There.is_for(entry, args):
            self.quick.add(args, self.names(len(args)), self.valued(), There(entry, self, device))

    def give_up(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """After a call: what was donated is gone, and the GPU has its memory for what comes next."""
        if not self.donated:
            return
        from ...parallel.array import Array
        name = getattr(self.user, "__name__", "a function")
        for path, arg in [*zip(self.names(len(args)), args), *kwargs.items()]:
            for leaf in tree.leaves(arg) if path in self.donated else ():
                if type(leaf) is Array:
                    leaf.give_up(RuntimeError(f"this Array has been deleted: it was donated to {name}. Use its "
                                              "results, or omit donate"))

    def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any], stays: bool, closed: bool = False) -> Any:
        """With results where they are; `stays` says whether they are to be on the device. Arrays that are `closed`
        nobody writes to."""
        given = tree.map(brought, (args, kwargs))
        entry = self.entry(*tree.map(stand_in, given))
        if entry.refusal is not None:
            return self._on_host((args, kwargs), stays)
        if entry.memory.written:
            self._check(entry, args, kwargs)
            given = tree.map(lambda leaf: put(leaf) if is_gpu_array(leaf) else leaf, given) if closed else given
        outside = {hidden.name: brought(hidden.where_it_is()) for hidden in entry.hidden}
        try:
            with launching():
                result = self._computed(entry, given[0], {**given[1], **outside})
        except Exception as error:
            complete(error)
            raise
        if entry.memory.written and not closed:
            self._write_back(entry, (args, kwargs), given)
            _put_back((args, kwargs), given)
        return result

    def _computed(self, entry: Entry, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What the driver gives for arrays on the current GPU. It looks at their axes before anything else; where one
        is too long for its places, the same module runs with others."""
        try:
            return entry.function(*args, **kwargs)
        except OverflowError:
            if not has_long_axis(entry.function, (args, kwargs)):
                raise
        return self._with_long_places(entry)(*args, **kwargs)

    def _with_long_places(self, entry: Entry) -> Any:
        if entry.function not in self.long:
            self.long[entry.function] = loaded(entry.generated, with_long_places(entry.source))
        return self.long[entry.function]

    def _on_host(self, given: tuple[tuple[Any, ...], dict[str, Any]], stays: bool) -> Any:
        """Runs the function as NumPy runs it: what is on the device it gets as copies, which are put back."""
        there = tree.map(lambda leaf: brought(leaf) if is_gpu_array(leaf) else leaf, given)
        args, kwargs = tree.map(fetched, there)
        result = self.target.function(*args, **kwargs)
        for array, copy in zip(tree.leaves(there), tree.leaves((args, kwargs))):
            if array is not copy and isinstance(copy, np.ndarray):
                array[...] = library().asarray(copy)
        return tree.map(lambda leaf: put(leaf) if isinstance(leaf, np.ndarray) else leaf, result) if stays else result

    def _check(self, entry: Entry, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Raises where the function writes to an array that shares memory with another argument."""
        if any(map(is_gpu_array, tree.leaves((args, kwargs)))):
            found = [leaf for leaf in map(brought, tree.leaves((args, kwargs))) if isinstance(leaf, library().ndarray)]
            if any(library().may_share_memory(one, other) for k, one in enumerate(found) for other in found[:k]):
                raise BadArgument("an argument that the function writes shares memory with another argument",
                                  entry.memory.origin, instead="Pass copies.")
        else:
            entry.memory.check(args, kwargs, self.names(len(args)), entry.hidden)

    def _write_back(self, entry: Entry, ours: tuple[Any, Any], theirs: tuple[Any, Any]) -> None:
        """Puts what the function wrote to copies into the arrays of the caller; of those without axes none was made."""
        written = {each.path for each in entry.memory.written}
        copies = {id(leaf): copy for leaf, copy in zip(tree.leaves(ours), tree.leaves(theirs))}
        for path, array in arrays_of(*ours, self.names(len(ours[0]))).items():
            if path in written and array.ndim:
                array[...] = fetched(copies[id(array)])

    def _generated(self, described: Description, args: tuple[Any, ...], kwargs: dict[str, Any], _: Any) -> Entry:
        try:
            looped = self.looped(described, args, kwargs)
            return entry_of(loaded(looped, looped.source), looped)
        except TransformError as refusal:
            if not self.fallback:
                raise
            return Entry(self.target.function, refusal=refusal)

    def looped(self, described: Description, args: tuple[Any, ...], kwargs: dict[str, Any],
               with_stages: bool = False) -> Looped:
        """All stages to kernels and their driver."""
        def attempt(described: Description) -> Looped:
            return generate_loops(requested(self.target, described, with_stages=with_stages), Product.KERNELS)

        return on_demand(attempt, args, kwargs, self.names(len(args)), self.static, described)

    def entry_for(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Entry:
        """The entry of a call."""
        return self.entry(*self._stand_ins(args, kwargs))

    def _stand_ins(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The arguments with stand-ins for what is on the GPU."""
        with On(self.target.device.id):
            return tree.map(lambda leaf: leaf if isinstance(leaf, np.ndarray) else stand_in(brought(leaf)),
                            (args, kwargs))

    def report(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> GpuReport:
        """What the driver of a call does."""
        from .report import GpuReport, report_on_driver
        entry, name = self.entry_for(args, kwargs), getattr(self.target, "__name__", "the function")
        if entry.refusal is not None:
            return GpuReport(name, refusal=str(entry.refusal))
        return report_on_driver(name, entry.generated.module.kernel.printed)

    def stages(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, str]:
        """The text of every stage for a call, by name and in order."""
        from ..signature import describe
        plain, keywords = self._stand_ins(args, kwargs)
        described = describe(plain, keywords, self.names(len(args)), self.static)
        return self.looped(described, plain, keywords, with_stages=True).stages


def _put_back(ours: Any, theirs: Any) -> None:
    """Puts what is in copies of arrays without axes, which were fetched, into those on the GPU."""
    for array, copy in zip(tree.leaves(ours), tree.leaves(theirs)):
        if is_gpu_array(array) and isinstance(copy, np.ndarray):
            taken(array)[...] = library().asarray(copy)
