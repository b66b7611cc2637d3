"""Arrays on devices: NumPy's, but never changed, and perhaps not computed yet.

    x = device_put(np.arange(3.0), "cpu:1")
    y = x * 2 + 1                               # runs on cpu:1
    y.block_until_ready()

Whatever is done with them, by operators, methods, functions of NumPy or compiled functions, runs on their device, and
gives such arrays again. What is cheap runs at once; what is not goes to the queue of the device, and the program goes
on. Who looks at a value waits for it, and is told what went wrong.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from .. import tree
from ..core.halves import is_bfloat16
from ..precision import requested
from ..run.gpu.library import is_gpu_array
from .device import Device
from .on_device import frozen, kept, on_host, read_only, there
from .widened import has_half, in_float32
from .workers import Part, Pending, failed, known

if TYPE_CHECKING:
    from .named_parts import At

CHEAP = 1 << 14                         # elements: fewer are computed at once
PLACES = int, slice                     # indices that hold no arrays
NUMBERS = frozenset((int, float, bool, complex))


class Array(NDArrayOperatorsMixin):
    """An immutable array on a device. `device_put` makes one.

    It has the operators, methods and attributes of NumPy's arrays, and NumPy's functions accept it.
    ``x.at[i].set(v)`` makes a changed copy.

    >>> from transformer import device_put
    >>> x = device_put(np.arange(3.0))
    >>> np.sum(x * x)
    Array(5.)
    >>> x.at[0].set(7.0)
    Array([7., 1., 2.])
    """

    __slots__ = ("_value", "device", "_done", "_found", "copies")     # `copies` on further GPUs, where a pmap gave them
    __array_priority__ = 200
    __hash__: Any = None
    is_on_device = True
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    size: int
    copies: tuple[tuple[Device, ...], list[Any]]
    _found: tuple[np.dtype[Any], tuple[int, ...]]

    def __init__(self, value: Any, device: Device, done: Any = None) -> None:
        """`done` is the event on a GPU after which the value is there; without one it is what comes after all that
        was asked of the GPU before."""
        self._value, self.device, self._done = value, device, done

    # -- its value ---------------------------------------------------------------------------

    def _known(self) -> Any:
        """The value as an array that nobody writes to, when it is there: of NumPy, or of a GPU's library, which may
        still compute it. Raises what went wrong."""
        value = self._value
        if type(value) is Pending or type(value) is Part:
            value = self._value = read_only(known(value))
        return value

    @property
    def _kind(self) -> tuple[np.dtype[Any], tuple[int, ...]]:
        """Its dtype and its shape, which CuPy takes long to tell."""
        try:
            return self._found
        except AttributeError:
            value = self._known()
            self._found = value.dtype, value.shape
            return self._found

    def give_up(self, error: BaseException) -> None:
        """From here on it is an error to look at the array."""
        self._value = failed("an array that was donated", error)
        for name in "copies", "_found":
            if hasattr(self, name):
                delattr(self, name)

    def is_ready(self) -> bool:
        """Whether the value is computed."""
        pending = getattr(self._value, "pending", self._value)
        if type(pending) is Pending:
            return pending.is_ready
        return self.device.kind != "cuda" or bool(self._last().done)

    def block_until_ready(self) -> Array:
        """Waits until the value is computed. Raises what went wrong."""
        self._known()
        if self.device.kind == "cuda":
            with self.device.current():
                self._last().synchronize()
        return self

    def _last(self) -> Any:
        """What is to come on a GPU before the value is there: an event, or all that its stream has to do."""
        if self._done is not None:
            return self._done
        from ..run.gpu.streams import stream_of
        return stream_of(self.device.id)

    def _here(self) -> np.ndarray:
        """The value as an array of NumPy's, when it is there."""
        value = self._known()
        return value if isinstance(value, np.ndarray) else on_host(value)

    def _view(self, view: Any) -> Array:
        """An array with a part of this one's value."""
        return Array(read_only(view), self.device, self._done)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        value = self._here()
        if dtype is not None and value.dtype != dtype:
            return value.astype(dtype)
        return value.copy() if copy else value

    @property
    def __array_interface__(self) -> dict[str, Any]:
        value = self._known()
        if is_bfloat16(value.dtype) or not isinstance(value, np.ndarray):       # NumPy then asks `__array__`
            raise AttributeError(f"an Array of {value.dtype} on {self.device} has no __array_interface__")
        return value.__array_interface__

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """For other libraries, where the array is on a GPU; it says in which stream the value is computed."""
        with self.device.current():
            found: dict[str, Any] = self._known().__cuda_array_interface__
        return found

    def __dlpack__(self, **options: Any) -> Any:
        """For other libraries. Those that know no arrays that cannot be written get a copy."""
        value = self._known()
        if not isinstance(value, np.ndarray):
            with self.device.current():                # whose stream the one that is given in `options` will wait for
                return value.__dlpack__(**options)
        if options.get("max_version") is None or options["max_version"] < (1, 0):
            value = value.copy()
        return value.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._known().__dlpack_device__()

    # -- what can be asked -------------------------------------------------------------------

    @property
    def at(self) -> At:
        """A part that is to be replaced in a copy, as `transformer.at`."""
        from .named_parts import At
        return At(self)

    @property
    def T(self) -> Array:
        return self._view(self._known().T)

    @property
    def mT(self) -> Array:
        return self._view(self._known().mT)

    @property
    def real(self) -> Array:
        with self.device.current():
            return Array(read_only(self._known().real), self.device)

    @property
    def imag(self) -> Array:
        with self.device.current():
            return Array(read_only(self._known().imag), self.device)

    @property
    def flat(self) -> Array:
        """All elements in a row, to be read."""
        return computed(np.ndarray.ravel, (self,), {})

    def __getitem__(self, index: Any) -> Array:
        if type(index) in PLACES:
            return self._view(self._known()[index])
        return computed(operator.getitem, (self, index), {})

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError(f"an Array is immutable. Write x = x.at[{_shown(index)}].set(...) for a modified copy, or "
                        "np.array(x) for a mutable array")

    def __len__(self) -> int:
        return len(self._known())

    def __iter__(self) -> Iterator[Array]:
        return (self[k] for k in range(len(self)))

    def __bool__(self) -> bool:
        return bool(self._here())

    def __int__(self) -> int:
        return int(self._here())

    def __float__(self) -> float:
        return float(self._here())

    def __complex__(self) -> complex:
        return complex(self._here())

    def __index__(self) -> int:
        return self._here().__index__()

    def __contains__(self, item: Any) -> bool:
        return item in self._here()

    def __format__(self, form: str) -> str:
        return format(self._here()[()], form)

    def __repr__(self) -> str:
        return repr(self._here()).replace("array(", "Array(", 1)

    def __str__(self) -> str:
        return str(self._here())

    def __reduce__(self) -> Any:
        return _put_again, (np.asarray(self._here()), self.device)

    # -- what NumPy does with it -------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if "out" in options or method == "at":
            raise TypeError(f"an Array cannot be modified by {ufunc.__name__}; use its result, or x.at[i].add(v)")
        if method == "__call__" and ufunc.nout == 1 and not options:
            found = _at_once(ufunc, inputs)
            return computed(ufunc, inputs, {}, later=True) if found is None else found
        return computed(getattr(ufunc, method), inputs, options)

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        if kwargs.get("out") is not None:
            raise TypeError(f"an Array cannot be modified by {function.__name__}; use its result")
        return computed(function, args, kwargs)


ASKED = "shape", "dtype", "ndim", "size", "itemsize", "nbytes", "strides", "flags"
GIVING_PYTHON = "item", "tolist", "tobytes"
METHODS = ("all", "any", "argmax", "argmin", "argpartition", "argsort", "astype", "choose", "clip", "compress", "conj",
           "conjugate", "copy", "cumprod", "cumsum", "diagonal", "dot", "flatten", "max", "mean", "min", "nonzero",
           "prod", "ravel", "repeat", "reshape", "round", "searchsorted", "squeeze", "std", "sum", "swapaxes", "take",
           "trace", "transpose", "var", "view")
WRITING = "fill", "itemset", "partition", "put", "resize", "setfield", "setflags", "sort"


def _asked(name: str) -> property:
    get = operator.attrgetter(name)

    def asked(self: Array) -> Any:
        value = self._value
        return get(value if type(value) is np.ndarray else self._known())

    return property(asked, doc=getattr(np.ndarray, name).__doc__)


def _giving(name: str, python: bool) -> Callable[..., Any]:
    def of_numpy(array: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(array, name)(*args, **kwargs)

    def method(self: Array, *args: Any, **kwargs: Any) -> Any:
        if python:
            return of_numpy(self._here(), *args, **kwargs)
        if args and name == "astype" or "dtype" in kwargs:
            requested(kwargs.get("dtype", args and args[0]))
        return computed(of_numpy, (self, *args), kwargs)

    of_numpy.__name__ = method.__name__ = name
    method.__doc__ = getattr(np.ndarray, name).__doc__
    return method


def _refusing(name: str) -> Callable[..., Any]:
    def method(self: Array, *args: Any, **kwargs: Any) -> Any:
        instead = "np.sort(x)" if name == "sort" else "x.at[...].set(...)"
        raise TypeError(f"an Array cannot be modified by {name}; write {instead}")

    method.__name__ = name
    return method


# `x += 1` makes a new array and gives it the name.
for _name in ("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and", "or",
              "xor"):
    setattr(Array, f"__i{_name}__", getattr(NDArrayOperatorsMixin, f"__{_name}__"))
for _name in ASKED:
    setattr(Array, _name, _asked(_name))
for _name in (*METHODS, *GIVING_PYTHON):
    setattr(Array, _name, _giving(_name, _name in GIVING_PYTHON))
for _name in WRITING:
    setattr(Array, _name, _refusing(_name))


def _shown(index: Any) -> str:
    return repr(index) if isinstance(index, (int, np.integer, str)) else "..."


def _put_again(value: np.ndarray, device: Device) -> Array:
    return Array(read_only(there(value, device)), device)


# -- computing --------------------------------------------------------------------------------------


def computed(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], later: bool = False) -> Any:
    """What a function of NumPy gives for arrays on one device. One that gives one array may run later, if it is not
    cheap."""
    device = device_among(args, kwargs, getattr(function, "__name__", "a function"))
    if device.kind == "cuda":                    # which does all of it later
        with device.current():
            return wrapped(on_arrays(function, *unwrapped(args), **unwrapped(kwargs)), device, (args, kwargs))
    if later and sum(each.size for each in args if type(each) is Array) > CHEAP:
        values = [each._value if type(each) is Array else kept(each) for each in args]
        return Array(device.submit(on_arrays, (function, *values), function.__name__), device)
    result = on_arrays(function, *unwrapped(args), **unwrapped(kwargs))
    return wrapped(result, device, (args, kwargs))


def _at_once(ufunc: Any, inputs: tuple[Any, ...]) -> Array | None:
    """What an elementwise function gives for small arrays on one device and Python's numbers; None for other
    arguments. The same as `computed`, without looking for arrays in containers."""
    device, values = None, []
    for each in inputs:
        if type(each) is Array:
            if each.device is not (device := device or each.device):
                return None
            each = each._known()
            if type(each) is not np.ndarray or each.size > CHEAP or each.dtype.char in HALVES:
                return None
        elif type(each) not in NUMBERS:
            return None
        values.append(each)
    return None if device is None else Array(frozen(ufunc(*values)), device)


HALVES = "eE"                           # characters of dtypes of 16 bits


def on_arrays(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What a function gives for arrays of NumPy. Numbers of 16 bits are computed with in float32."""
    return in_float32(function, args, kwargs) if has_half((args, kwargs)) else function(*args, **kwargs)


def device_among(args: Any, kwargs: Any, what: str) -> Device:
    """The device of all arrays in arguments, of which there is one. Raises ValueError where there are several."""
    found = list(_arrays((args, kwargs)))
    for other in found[1:]:
        if other.device is not found[0].device:
            raise ValueError(f"Received incompatible devices for {what}: one argument, of shape {found[0].shape}, is "
                             f"on {found[0].device}, another, of shape {other.shape}, on {other.device}. Move them "
                             f"to one device with device_put(x, {str(found[0].device)!r})")
    return found[0].device


def _arrays(node: Any) -> Iterator[Array]:
    if type(node) is Array:
        yield node
    elif isinstance(node, (tuple, list)):
        for item in node:
            yield from _arrays(item)
    elif isinstance(node, dict):
        yield from _arrays(list(node.values()))


def unwrapped(args: Any) -> Any:
    """Arguments with NumPy's arrays, when all are there."""
    if type(args) is Array:
        return args._known()
    if type(args) in (tuple, list):
        return type(args)(map(unwrapped, args))
    if type(args) is dict:
        return {key: unwrapped(value) for key, value in args.items()}
    return args


def wrapped(result: Any, device: Device, given: Any = (), done: Any = None) -> Any:
    """A result with arrays on a device in place of NumPy's arrays and numbers; what lies in one of the arrays that were
    given, and that may be written to, is copied. On a GPU it is there after the event `done`."""
    owned = [leaf for leaf in tree.leaves(given) if isinstance(leaf, np.ndarray) and leaf.flags.writeable]

    def placed(leaf: Any) -> Any:
        if not isinstance(leaf, (np.ndarray, np.generic)):
            return Array(leaf, device, done) if is_gpu_array(leaf) else leaf
        if device.kind == "cuda":
            return Array(read_only(there(np.asarray(leaf), device)), device)
        shared = isinstance(leaf, np.ndarray) and any(np.may_share_memory(leaf, array) for array in owned)
        return Array(read_only(leaf.copy() if shared else leaf), device)

    return tree.map(placed, result)
