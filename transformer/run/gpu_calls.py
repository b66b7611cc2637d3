"""Calls of a function compiled for a GPU.

Arrays of NumPy are brought to the device, and results fetched; what lies there already, of CuPy or another library, is
taken where it lies, and results stay. For `Array`s they are `Array`s on the device.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import tree
from ..core.errors import BadArgument, TransformError
from ..pipeline import Looped, generate_loops
from .calling import WRITTEN_OUT
from .dispatch import Dispatcher, Entry, hidden_key
from .files import load_module
from .generating import guarded_integers, on_demand, uncollected
from .gpu import brought, fetched, is_gpu_array, library, put, runnable, stand_in
from .native import is_on_device
from .raising import complete, note_places
from .sharing import Memory, arrays_of
from .signature import Description
from .static import names_of

CUPY = "import cupy as cp\n"


class GpuCalls(Dispatcher):
    """The dispatcher of a function compiled for a GPU; `target` is what is compiled, `user` the user's function in
    it."""

    def __init__(self, target: Any, user: Any, names: Callable[[int], list[str]], options: dict[str, Any]) -> None:
        static = names_of(user, "static_argnames", options["static_argnames"])
        static |= names_of(user, "static_argnums", options["static_argnums"])
        super().__init__(self._generated, names, user, static, WRITTEN_OUT)
        self.target, self.fallback = target, options["fallback"]
        self.donated = names_of(user, "donate", options["donate"]) - static

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Runs the function: on the device with what lies there, else with copies."""
        leaves = tree.leaves((args, kwargs))
        stays = any(map(is_gpu_array, leaves))
        if not stays and any(map(is_on_device, leaves)):
            from ..parallel.array import wrapped
            args, kwargs = tree.map(brought, (args, kwargs))
            return wrapped(self._run(args, kwargs, True, closed=True), self.target.device, (args, kwargs))
        return self._run(args, kwargs, stays)

    def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any], stays: bool, closed: bool = False) -> Any:
        """With results where they are, if they are to stay, else fetched. Arrays that are `closed` nobody writes to."""
        given = tree.map(brought, (args, kwargs))
        entry = self.entry(*tree.map(stand_in, given))
        if entry.refusal is not None:
            return self._on_host((args, kwargs), stays)
        if entry.memory.written:
            self._check(entry, args, kwargs)
            given = tree.map(lambda leaf: put(leaf) if is_gpu_array(leaf) else leaf, given) if closed else given
        outside = {hidden.name: brought(hidden.fetch()) for hidden in entry.hidden}
        try:
            result = entry.function(*given[0], **given[1], **outside)
        except Exception as error:
            complete(error)
            raise
        if not closed:
            self._write_back(entry, (args, kwargs), given)
        return result if stays else tree.map(fetched, result)

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
                raise BadArgument("arguments of which the function writes one share memory", entry.memory.origin,
                                  instead="Pass copies.")
        else:
            entry.memory.check(args, kwargs, self.names(len(args)), entry.hidden)

    def _write_back(self, entry: Entry, ours: tuple[Any, Any], theirs: tuple[Any, Any]) -> None:
        """Puts what the function wrote to copies into the arrays of the caller; of those without axes none was made."""
        if not entry.memory.written:
            return
        names, written = self.names(len(ours[0])), {each.path for each in entry.memory.written}
        args, kwargs = tree.map(fetched, theirs)
        copies = arrays_of(args, kwargs, names)
        for path, array in arrays_of(*ours, names).items():
            if path in written and array.ndim:
                array[...] = copies[path]

    def _generated(self, described: Description, args: tuple[Any, ...], kwargs: dict[str, Any], _: Any) -> Entry:
        try:
            return self._launching(described, args, kwargs)
        except TransformError as refusal:
            if not self.fallback:
                raise
            return Entry(self.target.function, "", None, [], [], [], {}, Memory(frozenset(), (), (), None),
                         refusal=refusal)

    def _launching(self, described: Description, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Entry:
        """The entry of kernels and their driver."""
        with uncollected():
            looped = self.looped(described, args, kwargs)
            source, printed = looped.source, looped.module.kernel.printed
            given = {**looped.namespace, **printed.given, "cp": library()}
            namespace = runnable(load_module(source.replace(CUPY, "\n", 1), looped.module.entry.name, given))
        note_places(namespace["__file__"], looped.module.raising)
        hidden = looped.interface.hidden
        return Entry(namespace[looped.module.entry.name], source, looped, looped.function.guards, hidden,
                     looped.reading.watched, guarded_integers(looped), Memory.of(looped.reading), hidden_key(hidden))

    def looped(self, described: Description, args: tuple[Any, ...], kwargs: dict[str, Any],
               stages: dict[str, str] | None = None) -> Looped:
        """All stages to kernels and their driver."""
        def attempt(described: Description) -> Looped:
            return generate_loops(self.target, described.args, described.kwargs, hints=described.hints, smallest=2,
                                  stages=stages, gpu=True)

        return on_demand(attempt, args, kwargs, self.names(len(args)), self.static, described)

    def stages(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, str]:
        """The text of every stage for a call, by name and in order."""
        from .signature import describe
        plain, keywords = tree.map(lambda leaf: stand_in(brought(leaf)), (args, kwargs))
        stages: dict[str, str] = {}
        self.looped(describe(plain, keywords, self.names(len(args)), self.static), plain, keywords, stages)
        return stages
