"""Compiled kernels: numba's dispatchers for the functions of a module of explicit loops.

numba is imported here and in `objects` alone, when something is compiled or loaded.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from ..core.errors import NotSupported, Origin
from .objects import Objects


def install(namespace: dict[str, Any], options: dict[str, dict[str, Any]], kernel: str, objects: Objects | None
            ) -> None:
    """Puts dispatchers in place of functions that a module defines, with these options. Nothing is compiled by
    that; what is compiled of the kernel is kept in `objects`."""
    _make_importable(namespace)
    recursive = {name for name in options if name in _reached_from(name, namespace, options)}
    for name, chosen in options.items():
        kind = _of_numba() if not chosen["nogil"] or name in recursive else _dispatchers()[name != kernel]
        namespace[name] = kind(namespace[name], targetoptions={"nopython": True, "no_cfunc_wrapper": True, **chosen})
    if objects is not None and not recursive:    # numba loses the calls in what it keeps of a recursion
        namespace[kernel].keep_in(objects)


def _reached_from(name: str, namespace: dict[str, Any], names: Iterable[str]) -> set[str]:
    """The functions of a module that a function calls, and those that they call."""
    waiting, found = [name], set[str]()
    while waiting:
        mentioned = namespace[waiting.pop()].__code__.co_names
        new = {other for other in names if other in mentioned} - found
        found |= new
        waiting += new
    return found


def _of_numba() -> Any:
    """numba's own class of dispatchers: for functions in which Python does something, and calls them again, and
    for those that call themselves."""
    from numba.core.registry import CPUDispatcher
    return CPUDispatcher


def _make_importable(namespace: dict[str, Any]) -> None:
    """Registers the module: numba looks functions up in it when it loads what it compiled."""
    module = sys.modules.setdefault(namespace["__name__"], ModuleType(namespace["__name__"]))
    vars(module).setdefault("__file__", namespace["__file__"])
    if "objmode" in namespace:                   # what Python does in between has the globals of the module
        vars(module).update(namespace)


@cache
def _dispatchers() -> tuple[Any, Any]:
    """The classes of dispatchers, which are made when numba is needed: for kernels, and for the functions that
    they call, which need no machine code of their own."""
    from numba.core import dispatcher
    from numba.core.registry import CPUDispatcher

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_renew_lock)
    atexit.register(gc.freeze)                   # what numba keeps is not searched for garbage at the end

    from .objects import object_cache

    base: Any = CPUDispatcher

    class KernelDispatcher(base):
        """Compiles for the layouts of the arrays that come, but for no other numbers than those lowered."""

        def keep_in(self, objects: Objects) -> None:
            self._cache = object_cache(objects, self.py_func)

        def typeof_pyval(self, value: Any) -> Any:
            _require_64_bits(value)
            return _array_type(value) if type(value) is np.ndarray else super().typeof_pyval(value)

        def _compile_for_args(self, *args: Any, **kwargs: Any) -> Any:
            for arg in args:
                _require_64_bits(arg)
            with _as_refusal(None):
                return super()._compile_for_args(*args, **kwargs)

        def compile(self, sig: Any) -> Any:
            _leave_out_advice()
            return super().compile(sig)

    compiler: Any = getattr(dispatcher, "_FunctionCompiler")            # noqa: B009  (it has no types)

    class InnerCompiler(compiler):
        """Compiles to what is linked into a caller, and no further."""

        def _customize_flags(self, flags: Any) -> Any:
            flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
            return flags

        def _compile_core(self, args: Any, return_type: Any) -> Any:
            made = super()._compile_core(args, return_type)
            known_by = object()                  # in place of a function that Python could call
            made.target_context.insert_user_function(known_by, made.fndesc, [made.library])
            return made._replace(entry_point=known_by)

    class InnerDispatcher(base):
        """A function that kernels call."""

        def __init__(self, function: Any, **options: Any) -> None:
            super().__init__(function, **options)
            outer: Any = self._compiler
            self._compiler: Any = InnerCompiler(function, outer.targetdescr, outer.targetoptions, outer.locals,
                                                outer.pipeline_class)

        def add_overload(self, made: Any) -> None:
            self.overloads[tuple(made.signature.args)] = made

    return KernelDispatcher, InnerDispatcher


def _require_64_bits(value: Any) -> None:
    if type(value) is int and not -2**63 <= value < 2**63:
        raise OverflowError("Python int too large to convert to C long")


def _renew_lock() -> None:
    """In the child of a fork: a thread that compiled in the parent is not there."""
    from numba.core.compiler_lock import global_compiler_lock
    lock: Any = global_compiler_lock
    lock._lock = threading.RLock()


def _array_type(array: np.ndarray) -> Any:
    """The type of an array. numba's own function for that imports all of numpy.ma."""
    from numba import types
    from numba.np.numpy_support import from_dtype
    flags = array.flags
    layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
    make: Any = types.Array
    return make(from_dtype(array.dtype), array.ndim, layout, readonly=not flags.writeable, aligned=flags.aligned)


def compiled_again(kernel: Any) -> Any:
    """A dispatcher like this one, compiled for the same types in this process."""
    again = _dispatchers()[0](kernel.py_func, targetoptions=dict(kernel.targetoptions))
    for types in list(kernel.overloads):
        again.compile(types)
    return again


class _Reached(Exception):
    """Carries the arguments with which an entry calls its kernel."""


def compile_for(entry: Callable[..., Any], kernel: str, args: tuple[Any, ...], kwargs: dict[str, Any],
                origin: Origin | None) -> None:
    """Compiles the kernel that an entry calls for the types and layouts of a call, which is not made."""
    namespace = entry.__globals__
    compiled, namespace[kernel] = namespace[kernel], _reach
    try:
        entry(*args, **kwargs)
    except _Reached as reached:
        given = reached.args
    finally:
        namespace[kernel] = compiled
    compile_kernel(compiled, tuple(map(compiled.typeof_pyval, given)), origin)


def _reach(*args: Any) -> Any:
    raise _Reached(*args)


def compile_kernel(kernel: Any, types: tuple[Any, ...], origin: Origin | None) -> None:
    """Compiles a kernel for these types of numba's, or loads what was compiled for them."""
    with _as_refusal(origin):
        kernel.compile(types)


@contextmanager
def _as_refusal(origin: Origin | None) -> Iterator[None]:
    """What numba does not compile is refused."""
    from numba.core.errors import NumbaError
    try:
        yield
    except NumbaError as error:
        raise NotSupported(f"numba does not compile it: {_reason(error)}", origin,
                           instead="Run it without jit, or with fallback=True.") from error


GENERATED = r"(.*[/\\])?\w+_[0-9a-f]{16}$|<generated "           # the files of `files.load_module`


def _leave_out_advice() -> None:
    """Keeps numba from telling the user how generated code might be faster: that calls of Python take the
    lock, and products of arrays with strides copy."""
    from numba.core.errors import NumbaWarning
    warnings.filterwarnings("ignore", category=NumbaWarning, module=GENERATED)


def _reason(error: Exception) -> str:
    """The line of an error of numba's that says most."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = [line for line in lines if not line.startswith(("Failed in", "-", "During", "File", "["))]
    return (told or lines or [type(error).__name__])[0].rstrip(".")
