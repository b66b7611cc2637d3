"""`jit`: functions compiled by numba, as explicit loops."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .core.errors import BadArgument
from .ops.registry import registry
from .run.calling import Calls
from .run.direct_calls import direct_call
from .run.native import arguments_on_host
from .run.raising import complete
from .settings import config
from .sourced import Sourced
from .transform.derived import innermost
from .wrapping import argument_names, check_callable, copy_names

if TYPE_CHECKING:
    from .parallel.device import Device
    from .run.gpu.calls import GpuCalls
    from .run.gpu.report import GpuReport
    from .run.report import Report

__all__ = ["Compiled", "jit"]


def jit(function: Callable[..., Any] | None = None, *, static_argnames: str | Sequence[str] = (),
        static_argnums: int | Sequence[int] = (), donate: str | int | Sequence[str | int] = (),
        device: Device | str | None = None, backend: str | None = None, fallback: bool = False) -> Any:
    """Compiles a function, or a transformation of one, for the types that it is called with.

    One compiled function serves all shapes.

    Args:
        function: the function to compile. Without it, the result is a decorator.
        static_argnames, static_argnums: arguments, by name or position, that become constants of the compiled code.
            Each value is compiled separately.
        donate: arguments, by name or position, whose arrays the caller no longer needs. Results may be written into
            their memory.
        device: where calls run, such as ``"cpu:1"``. `Array`s are moved there, and results stay there. With NumPy
            arrays, a call waits for its results. A kind of device, such as ``"cuda"``, leaves the choice open.
        backend: a kind of device, in place of `device`.
        fallback: run as NumPy what cannot be compiled. `report` says why.

    Returns:
        A function that is called like the original.

    Raises, when called, what the original raises, and `NotSupported` with its place for what cannot be compiled.

    >>> import numpy as np
    >>> @jit
    ... def norm(x):
    ...     return np.sqrt(np.sum(x * x))
    >>> norm(np.array([3.0, 4.0]))
    np.float64(5.0)
    """
    options = {"static_argnames": static_argnames, "static_argnums": static_argnums, "donate": donate,
               "device": device, "backend": backend, "fallback": fallback}
    if function is None:
        return functools.partial(jit, **options)                         # type: ignore[arg-type]
    check_callable(function, "jit")
    where = None if device is None and backend is None else _place(device, backend)
    if where is not None and where.kind == "cuda":
        return CompiledForGpu(function, options, where)
    return Compiled(function, options) if where is None else CompiledOnDevice(function, options, where)


def _place(device: Device | str | None, backend: str | None) -> Device | None:
    """The device that options name; None where they name a kind."""
    from .parallel.device import current_gpu, device_of, devices
    try:
        if device is not None and backend is not None:
            raise BadArgument("jit accepts either a device or a backend, not both", instead="Pass one of them.")
        if isinstance(device, str) and ":" not in device:
            device, backend = None, device
        if backend is not None:
            devices(backend)                     # raises where there are none
            return current_gpu() if backend == "cuda" else None
        return device_of(device)
    except BadArgument as error:
        raise _here(error) from None


def _here(error: BadArgument) -> BadArgument:
    """The error with the place of the call of `jit`."""
    from .read.places import place_of_call
    return error.located(place_of_call())


class Called(Sourced):
    """What is called like a function, and finds what it runs by the kinds of its arguments: by a quick key for calls
    like those before."""

    __slots__ = ("__call__",)                    # Python calls what is in it: no method comes before that
    __call__: Callable[..., Any]
    _dispatcher: Any
    mode = None
    function: Callable[..., Any]
    options: dict[str, Any]
    device: Any = None                           # the only one that it runs on, if there is one

    def _made_of(self) -> tuple[Any, ...]:
        return self.function, self.options, *([] if self.device is None else [self.device])

    def __transformer_read__(self, reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """In user code that is read it is the function itself."""
        return reader.call(self.function, args, kwargs)

    def _take_calls(self) -> None:
        """Has calls go to `here`, and those like others before, as soon as there are any, to what they run."""
        self._quick: dict[int, Callable[..., Any]] = self._dispatcher.quick.find
        self._dispatcher.quick.follow = self._call_directly
        self.__call__ = self.here

    def _call_directly(self, key: str, count: int, table: dict[Any, Callable[..., Any]]) -> None:
        self.__call__ = direct_call(key, count, table, self._dispatcher, self.here, self._with_numpys)

    def here(self, *args: Any, **kwargs: Any) -> Any:
        """A call in the thread that calls it, also where a device is chosen."""
        if kwargs:
            ordered = self._dispatcher.by_position(args, kwargs)
            if ordered is not None:
                args, kwargs = ordered, {}
        if not kwargs and not config.debug_nans and self._dispatcher.version == registry.version:
            try:
                found = self._quick[len(args)](*args)
            except Exception:                    # of other kinds than before
                found = None
            if found is not None:
                try:
                    return found(*args)
                except Exception as error:
                    again = self._with_numpys(error, args)
                    if not again:
                        raise
                return self._dispatcher.called(*again)
        return self._dispatcher.call(args, kwargs)

    def _with_numpys(self, error: Exception, args: tuple[Any, ...]) -> Any:
        """The error with all that it should say; the arguments with numbers of NumPy's, if these can be divided."""
        complete(error)
        return isinstance(error, ZeroDivisionError) and self._dispatcher.with_numpys(args, {})


class Compiled(Called):
    """A compiled function. Call it like the original; what was compiled can be inspected."""

    _dispatcher: Calls

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self.function = function
        self.options = options
        user = innermost(self)
        try:
            self._dispatcher = Calls(self, user, functools.partial(argument_names, user), options)
        except BadArgument as error:
            raise _here(error) from None
        self._take_calls()
        copy_names(self, function)

    def __repr__(self) -> str:
        return f"<compiled form of {getattr(self.function, '__qualname__', self.function)!s}>"

    def stages(self, *args: Any, **kwargs: Any) -> dict[str, str]:
        """The text of every stage for arguments like these, by name and in order."""
        from .run.compiled import stages_of_loops
        return stages_of_loops(self, *arguments_on_host(args, kwargs), self._dispatcher, self._dispatcher.donated)

    def report(self, *args: Any, **kwargs: Any) -> Report:
        """What was compiled for arguments like these, and what it costs; or why it runs as NumPy."""
        from .run.compiled import report_on_call
        return report_on_call(self, *arguments_on_host(args, kwargs), self._dispatcher, self._dispatcher.donated)

    def dispatcher(self, *given: Any) -> Any:
        """Returns a numba function that code compiled by numba can call.

        It is compiled for arguments like these, or for numba types (``numba.float64[::1]``). Arguments and results are
        numbers, arrays and tuples.

        >>> import numba
        >>> cube = jit(lambda x: x * x * x).dispatcher(numba.float64)
        >>> @numba.njit
        ... def twice(x):
        ...     return 2 * cube(x)
        >>> twice(2.0)
        16.0
        """
        from .run.callable_by_numba import dispatcher_for
        return dispatcher_for(self, given, self._dispatcher.names(len(given)))


class CompiledForGpu(Called):
    """A function compiled for a GPU. Call it like the original.

    NumPy arrays are sent to the GPU, and results are fetched. For arrays on the GPU, such as those of CuPy and PyTorch,
    results stay there.
    """

    _dispatcher: GpuCalls

    def __init__(self, function: Callable[..., Any], options: dict[str, Any], device: Device) -> None:
        from .run.gpu.calls import GpuCalls
        self.function, self.options, self.device = function, options, device
        self.is_bound = not (options["device"] is None or isinstance(options["device"], str)
                             and ":" not in options["device"])           # to one GPU
        user = innermost(self)
        self._dispatcher = GpuCalls(self, user, functools.partial(argument_names, user), options)
        self._take_calls()
        copy_names(self, function)

    def __repr__(self) -> str:
        return f"<form for {self.device} of {getattr(self.function, '__qualname__', self.function)!s}>"

    def stages(self, *args: Any, **kwargs: Any) -> dict[str, str]:
        """The text of every stage for arguments like these, by name and in order."""
        return self._dispatcher.stages(args, kwargs)

    def report(self, *args: Any, **kwargs: Any) -> GpuReport:
        """What is launched for arguments like these, what is called of CuPy, and where the program waits for the GPU;
        or why it runs as NumPy.
        """
        return self._dispatcher.report(args, kwargs)

    def _entry(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self._dispatcher.entry_for(args, kwargs)


class CompiledOnDevice(Compiled):
    """A compiled function that runs on a device."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any], device: Device) -> None:
        super().__init__(function, options)
        self.device = device

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from .parallel.placing import called_on
        return called_on(self.device, self.here, getattr(self, "__name__", "a function"), args, kwargs)
