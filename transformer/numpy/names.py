"""Which names of NumPy `transformer.numpy` has: all functions of numbers, but those that are left out here, and why."""

from __future__ import annotations

import types
from typing import Any

WRITES = "it writes to its argument, and an Array cannot be changed: use x.at[...].set(...)"
FILES = "files and buffers are read and written with NumPy: np.save(file, x), tnp.array(np.load(file))"
TEXT = "texts and settings are NumPy's"
DATES = "there are no Arrays of dates"
OBJECTS = "it is about Python's objects or the memory of an array"
SIZES = "its size and precision depend on the machine: use float64 or complex128"
OLD = "NumPy's own page says what to write instead"

LEFT_OUT: dict[str, str] = {
    **dict.fromkeys(("copyto", "putmask"), WRITES),
    **dict.fromkeys(("load", "loadtxt", "genfromtxt", "fromregex", "fromfile", "fromstring", "frombuffer", "save",
                     "savetxt", "savez", "savez_compressed"), FILES),
    **dict.fromkeys(("base_repr", "binary_repr", "format_float_positional", "format_float_scientific", "get_include",
                     "get_printoptions", "getbufsize", "geterr", "geterrcall", "info", "printoptions",
                     "set_printoptions", "setbufsize", "seterr", "seterrcall", "show_config", "show_runtime", "test",
                     "typename", "mintypecode", "array2string", "array_repr", "array_str"), TEXT),
    **dict.fromkeys(("busday_count", "busday_offset", "is_busday", "datetime_as_string", "datetime_data", "isnat"),
                    DATES),
    **dict.fromkeys(("frompyfunc", "nested_iters", "require", "isfortran", "may_share_memory", "shares_memory",
                     "asanyarray", "asfortranarray", "ascontiguousarray", "iterable"), OBJECTS),
    **dict.fromkeys(("longdouble", "clongdouble"), SIZES),
    **dict.fromkeys(("asmatrix", "bmat", "row_stack", "in1d", "trapz"), OLD),
}

# Functions that make arrays: they take `device`.
MAKING = frozenset((
    "array", "asarray", "arange", "linspace", "logspace", "geomspace", "zeros", "ones", "empty", "full", "eye",
    "identity", "tri", "indices", "fromfunction", "fromiter", "from_dlpack", "asarray_chkfinite", "zeros_like",
    "ones_like", "empty_like", "full_like", "meshgrid", "diag_indices", "tril_indices", "triu_indices", "mask_indices",
    "bartlett", "blackman", "hamming", "hanning", "kaiser", "fftfreq", "rfftfreq"))

# Arguments that take lists and tuples, where NumPy would take an array as well: by place and by name.
SEQUENCES: dict[str, Any] = {
    **dict.fromkeys(("array", "asarray", "asarray_chkfinite"), "all"),
    **dict.fromkeys(("block", "einsum", "einsum_path", "ix_", "broadcast_shapes"), "all"), "tile": (1, "reps"),
    **dict.fromkeys(("split", "array_split", "hsplit", "vsplit", "dsplit"), (1, "indices_or_sections")),
    "unravel_index": (1, "shape"), "piecewise": (2, "funclist"),
    "apply_over_axes": (2, "axes"),
}

# What is no function: constants, what stands in brackets, and dtypes.
CONSTANTS = ("pi", "e", "inf", "nan", "euler_gamma", "newaxis", "s_", "index_exp", "errstate", "iinfo", "dtype",
             "ndindex", "generic", "number", "integer", "signedinteger", "unsignedinteger", "inexact", "floating",
             "complexfloating")
DTYPES = ("bool", "bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
          "float32", "float64", "complex64", "complex128", "int_", "uint", "single", "double", "csingle", "cdouble",
          "half")
INDEXED = "r_", "c_", "mgrid", "ogrid"


def functions_of(module: types.ModuleType) -> list[str]:
    """The names of the functions of a module of NumPy that there are for `Array`s.

    >>> import numpy as np
    >>> "sin" in functions_of(np), "save" in functions_of(np)
    (True, False)
    """
    return sorted(name for name in dir(module) if not name.startswith("_") and name not in LEFT_OUT
                  and is_function(getattr(module, name)))


def is_function(found: Any) -> bool:
    return callable(found) and not isinstance(found, type) and not isinstance(found, types.ModuleType)
