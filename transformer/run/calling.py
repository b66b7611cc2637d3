"""Calls of a compiled function: which entry, and what is done around it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import tree
from ..core.errors import TransformError
from ..core.on_devices import is_on_device
from ..settings import config
from ..transform.derived import taken_apart
from . import dispatch
from .current import conditions, taken
from .direct_calls import checked_call
from .dispatch import Dispatcher, Entry
from .index import Index
from .native import is_foreign, native, off_devices
from .provenance import followed
from .raising import complete
from .repeated import Repeated
from .sharing import arrays_of, quick_test
from .signature import Description, describe
from .static import names_of


def never(*args: Any) -> bool:
    return False


class Calls(Repeated):
    """The dispatcher of a compiled function, or of a part of one; `target` is what is compiled, `user` the user's
    function in it."""

    def __init__(self, target: Any, user: Any, names: Callable[[int], list[str]], options: dict[str, Any]) -> None:
        named = {key: names_of(user, key, options[key]) for key in ("static_argnames", "static_argnums", "donate")}
        super().__init__(self._generated, names, user, named["static_argnames"] | named["static_argnums"], target)
        self.fallback = options["fallback"]
        self.donated = named["donate"] - self.static_names
        self.index = Index(target, [(key, sorted(names)) for key, names in named.items()])
        self.plain = Dispatcher(self._generated_plain, names, user, self.static_names)
        self.options = options
        self.whole = self.plain.whole = getattr(target, "function", target)

    def with_numpys(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return None if self.donated else super().with_numpys(args, kwargs)   # what they held is gone

    def called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if config.debug_nans and not self._hands_back(args, kwargs):
            return self.plain.call(args, kwargs)
        leaves = tree.leaves((args, kwargs))
        if any(map(is_on_device, leaves)):
            return self.placed(args, kwargs)
        if any(map(is_foreign, leaves)):
            return self._converted(args, kwargs)
        entry = self.entry(args, kwargs)
        if not kwargs:
            self._note(entry, args)
        return self.run(entry, args, kwargs)

    def for_gpus(self) -> Callable[..., Any]:
        from ..jitting import CompiledForGpu
        from ..parallel.device import current_gpu
        return CompiledForGpu(self.whole, {**self.options, "device": "cuda", "backend": None}, current_gpu())

    def plainly(self, *args: Any, **kwargs: Any) -> Any:
        return getattr(self.target, "here", self.whole)(*args, **kwargs)

    def run(self, entry: Entry, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if entry.memory.is_checked:
            names = self.names(len(args))
            entry.memory.check(args, kwargs, names, entry.hidden)
            args, kwargs = entry.memory.handed(args, kwargs, names, [each.fetch() for each in entry.hidden])
        if entry.hidden:
            kwargs = {**kwargs, **{h.name: h.fetch() for h in entry.hidden}}
        try:
            return entry.function(*args, **kwargs)
        except Exception as error:
            complete(error)
            raise

    def _hands_back(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether the function writes its arguments, which its NumPy form would do to copies."""
        return not taken_apart(self.target)[1] and bool(self.entry(args, kwargs).memory.written)

    def _converted(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        args, kwargs, pairs = native(args, kwargs)
        donated = self.entry(args, kwargs).memory.donated
        used = [array for path, array in arrays_of(args, kwargs, self.names(len(args))).items() if path in donated]
        result = self.call(args, kwargs)
        pairs = [(array, copy) for array, copy in pairs if not any(copy is other for other in used)]
        for array, copy in pairs:
            if array.flags.writeable:
                array[...] = copy
        return next((array for array, copy in pairs if copy is result), result)

    # -- finding entries ----------------------------------------------------------------------

    def _note(self, entry: Entry, args: tuple[Any, ...]) -> None:
        """Makes the next call like this one a quick one."""
        names = self.names(len(args))
        with dispatch.generating:
            self._note_with(entry, args, names)

    def note_placed(self, args: tuple[Any, ...], plain: list[Any], made: Callable[..., Any]) -> None:
        """Makes the next call with arrays on devices like these a quick one: `made` gives what it runs, of the function
        for the arrays in them."""
        names = self.names(len(args))
        with dispatch.generating:
            try:
                function = self.quick.find[len(args)](*plain)
            except Exception:                    # there is none for arguments of these kinds
                return
            if function is not None:             # what it gives is new, unless it has arrays from elsewhere
                is_new = not self.entry(tuple(plain), {}).hidden
                self.quick.add(args, names, self.valued(), made(function, is_new))

    def _note_with(self, entry: Entry, args: tuple[Any, ...], names: list[str]) -> None:
        self.quick.add(args, names, self.valued(), self._function(entry, args, names))

    def _function(self, entry: Entry, args: tuple[Any, ...], names: list[str]) -> Callable[..., Any]:
        """What a quick call runs: the entry itself, or what looks whether it is still right."""
        function, is_checked = entry.function, entry.memory.is_checked
        if not (entry.watched or entry.hidden or is_checked):
            return function
        are_numbers = all(each.is_number for each in entry.hidden)
        test = quick_test(entry.memory, args, names) if is_checked and are_numbers else None

        def otherwise(is_current: bool, args: tuple[Any, ...]) -> Any:
            return self.run(entry if is_current else self.entry(args, {}), args, {})

        return checked_call(function, len(args), *conditions(entry.watched, entry.hidden, entry.hidden_key),
                            never if is_checked and test is None else test,
                            taken(entry.hidden) if entry.hidden else None, otherwise)

    # -- making entries -----------------------------------------------------------------------

    def _generated(self, described: Description, args: tuple[Any, ...], kwargs: dict[str, Any], _: Any) -> Entry:
        entry = self._restored(args, kwargs)
        if entry is not None:
            return entry
        from .compiled import compile_entry
        try:
            return compile_entry(self.target, described, args, kwargs, self, self.index, self.donated)
        except TransformError as error:
            if not self.fallback:
                raise
            refusal = error
        return self._as_numpy(refusal)

    def _restored(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Entry | None:
        """What another process generated for calls like this one."""
        names = self.names(len(args))

        def described(static: set[str]) -> Description:
            return describe(args, kwargs, names, self.static.also(static))

        record = self.index.find(described)
        if record is None:
            return None
        from .loading import loaded
        hidden = {name: followed(way, self.user) for name, way in record.hidden}
        args, kwargs = record.memory.handed(args, kwargs, names, hidden.values())
        entry = self.index.entry(record, loaded(record.loops, args, {**kwargs, **hidden}, record.memory.origin))
        if entry is not None:
            self.static |= record.static
        return entry

    def _as_numpy(self, refusal: TransformError) -> Entry:
        """The entry of what cannot be compiled: the user's function with parts that can, it itself, or what was
        made of it."""
        from .dividing import divided
        user, modes = taken_apart(self.target)
        parts = None if modes else divided(user, refusal)
        function = self.plain_call if modes else user if parts is None else parts.function
        return Entry(off_devices(function), generated=parts, refusal=refusal)

    def plain_call(self, *args: Any, **kwargs: Any) -> Any:
        return self.plain.call(args, kwargs)

    def _generated_plain(self, *described: Any) -> Entry:
        from .generating import generate_entry
        return generate_entry(self.target, *described)
