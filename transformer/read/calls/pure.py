"""Which functions may be called while a function is read: pure ones, with static arguments."""

from __future__ import annotations

import builtins
import operator
import re
import sys
import types
from collections import OrderedDict, defaultdict, namedtuple
from decimal import Decimal
from typing import Any

import numpy as np

from ...ops.registry import how_to_define, takes_function

PURE_BUILTINS = frozenset(
    getattr(builtins, name)
    for name in (
        "abs",
        "all",
        "any",
        "bin",
        "bool",
        "bytes",
        "callable",
        "chr",
        "complex",
        "dict",
        "divmod",
        "enumerate",
        "filter",
        "float",
        "format",
        "frozenset",
        "getattr",
        "hasattr",
        "hash",
        "hex",
        "int",
        "isinstance",
        "issubclass",
        "len",
        "list",
        "map",
        "max",
        "min",
        "oct",
        "ord",
        "pow",
        "range",
        "repr",
        "reversed",
        "round",
        "set",
        "slice",
        "sorted",
        "str",
        "sum",
        "tuple",
        "type",
        "zip",
    )
)

PURE_TYPES = (
    int,
    float,
    complex,
    bool,
    str,
    bytes,
    tuple,
    list,
    dict,
    set,
    frozenset,
    range,
    slice,
    np.dtype,
    np.generic,
    re.Match,
    re.Pattern,
    Decimal,
    OrderedDict,
    defaultdict,
    types.SimpleNamespace,
)

PURE_NUMPY = frozenset(
    (
        np.finfo,
        np.iinfo,
        np.dtype,
        np.issubdtype,
        np.result_type,
        np.promote_types,
        np.can_cast,
        np.broadcast_shapes,
        np.isscalar,
        np.errstate,
        np.ndindex,
    )
)

PURE_MODULES = frozenset(
    (
        "math",
        "cmath",
        "_operator",
        "operator",
        "itertools",
        "string",
        "re",
        "fractions",
        "decimal",
        "statistics",
        "dataclasses",
        "inspect",
        "typing",
        "functools",
        "copy",
        "enum",
        "numbers",
        "textwrap",
        "json",
    )
)

CALL_BEFORE = "Call it outside the transformed function, and pass the result as an argument."
READS_FILES = ("It reads or writes a file.",
               "Read the file outside the transformed function, and pass the data as an argument.")
DEPENDS_ON_SYSTEM = "It depends on the state of the system.", CALL_BEFORE
HAS_EFFECTS = ("It has side effects that are not supported.",
               "Remove it, or do it outside the transformed function; `print` is supported.")
DRAWS = ("It returns different numbers at each call.",
         "Draw the numbers outside, and pass them as an argument, or use transformer.random with a key.")
IMPURE = {
    "time": ("It reads a clock.", "Pass the time as an argument."),
    "datetime": ("It reads a clock.", "Pass the time as an argument."),
    "random": DRAWS,
    "numpy.random": DRAWS,
    **dict.fromkeys(("io", "pathlib", "tempfile", "shutil", "sqlite3", "numpy.memmap"), READS_FILES),
    **dict.fromkeys(("os", "posix", "nt", "sys", "socket", "subprocess", "platform"), DEPENDS_ON_SYSTEM),
    **dict.fromkeys(("logging", "threading", "queue", "multiprocessing", "concurrent"), HAS_EFFECTS),
    "ctypes": ("It calls a foreign function.", CALL_BEFORE),
}
EFFECTS = frozenset(
    [("time", "sleep"), ("sys", "exit"), *(("numpy", name) for name in ("seed", "set_printoptions", "seterr"))]
)
IMPURE_NUMPY = ("load", "loadtxt", "genfromtxt", "fromfile", "save", "savez", "savez_compressed", "savetxt", "memmap")
IMPURE_BUILTINS = {
    "open": READS_FILES,
    "input": ("It waits for user input.",
              "Read the input outside the transformed function, and pass it as an argument."),
    "eval": ("The code that it runs is not known.", "Write the expression directly."),
    "exec": ("The code that it runs is not known.", "Write the statements directly."),
    "id": ("It depends on memory addresses.", "Remove it."),
    **dict.fromkeys(("globals", "locals", "vars"), ("It looks variables up by name.", "Use the variables directly.")),
}
CALLS_BACK = ("It calls a function argument from code whose source is not available.",
              "Use brentq, newton, fsolve, root, quad, solve_ivp or odeint, or write the method as a loop; the result "
              "of an iteration that converges is differentiated with `fixed_point`.")
# What to write instead of functions and classes that have no rule, by their modules and names.
BETTER = {
    **dict.fromkeys(("scipy.optimize.minimize", "scipy.optimize.fmin", "scipy.optimize.fmin_bfgs"),
                    "Solve for a zero gradient: scipy.optimize.fsolve(grad(f), x0), which is differentiable."),
    "scipy.optimize.minimize_scalar": "Solve for a zero derivative: scipy.optimize.brentq(grad(f), a, b).",
    **dict.fromkeys(("scipy.optimize.least_squares", "scipy.optimize.leastsq", "scipy.optimize.curve_fit"),
                    "Solve for a zero gradient of the sum of squares: scipy.optimize.fsolve(grad(loss), p0)."),
    "numpy.ma": "Keep the mask in a separate array, and write np.where(mask, x, 0.0).",
    "scipy.sparse": "Create it outside, and multiply by it as a @ x, or use a dense matrix: a.toarray().",
    "scipy.interpolate": "Use make_interp_spline or RegularGridInterpolator, or multiply by a matrix for fixed points.",
    "scipy.ndimage": "Use gaussian_filter, convolve, map_coordinates with order=1, or sum over a kernel.",
    "numpy.polynomial": "Use Polynomial, or keep the coefficients in an array: np.polynomial.chebyshev.chebval(x, c).",
    "numpy.frompyfunc": "Use np.vectorize.",
    "numpy.nditer": "Use np.ndenumerate, or x.flat.",
}
LIBRARIES = {"numpy", "scipy", "numba", "pandas", "torch", "jax", "random", "math"}      # which are not read
NO_RULE = "Compiled functions and those of libraries need a rule, which defines their results and derivatives."


def is_pure(function: Any) -> bool:
    """Whether a function may be called now with static arguments."""
    try:
        if function in PURE_BUILTINS or function in PURE_NUMPY or function is namedtuple:
            return True
    except TypeError:
        return False
    if isinstance(function, type):
        return issubclass(function, (*PURE_TYPES, BaseException))
    owner = getattr(function, "__self__", None)
    if owner is not None and not isinstance(owner, types.ModuleType):
        return isinstance(owner, PURE_TYPES) or isinstance(owner, type) and is_pure(owner)
    if isinstance(function, (operator.attrgetter, operator.itemgetter, operator.methodcaller)):
        return True
    return (getattr(function, "__module__", "") or "").partition(".")[0] in PURE_MODULES


def why_not(function: Any) -> tuple[str, str]:
    """Why a function is refused, and what to do instead."""
    if isinstance(getattr(function, "__self__", None), np.ufunc):
        return "This method is supported only for some ufuncs.", "Write a loop that calls the ufunc itself."
    if distribution_of(function) and not is_impure(function):
        return NO_RULE, "Write out the formula of its density."
    if better := _better(function):
        return CALLS_BACK[0] if takes_function(function) else NO_RULE, better
    return _impurity(function) or (CALLS_BACK if takes_function(function) else (NO_RULE, how_to_define(function)))


def _better(function: Any) -> str | None:
    name = f"{public_name(function)}."
    return next((text for start, text in BETTER.items() if name.startswith(f"{start}.")), None)


def distribution_of(function: Any) -> str | None:
    """The name of the distribution of `scipy.stats` of which a function is a method."""
    owner = getattr(function, "__self__", None)
    name = getattr(getattr(owner, "dist", owner), "name", None)
    return name if type(owner).__module__.startswith("scipy.stats") and isinstance(name, str) else None


def is_impure(function: Any) -> bool:
    """Whether a function depends on more than its arguments, or does more than return a value."""
    return _impurity(function) is not None


def _impurity(function: Any) -> tuple[str, str] | None:
    name = getattr(function, "__name__", "")
    home = _home(function)
    if name == "rvs" and home.startswith("scipy.stats"):
        return DRAWS
    if home in ("builtins", "io", "_io") and name in IMPURE_BUILTINS:
        return IMPURE_BUILTINS[name]
    if home.startswith("numpy") and name in IMPURE_NUMPY:
        return READS_FILES
    if (home.partition(".")[0], name) in EFFECTS:
        return HAS_EFFECTS
    if home == "datetime" and name not in ("now", "today", "utcnow"):
        return None
    for module, reason in IMPURE.items():
        if home == module or home.startswith((module + ".", "_" + module)):
            return reason
    return None


def public_name(function: Any) -> str:
    """The name under which a function is used: ``time.time``, ``numpy.random.normal``, ``input``."""
    name = getattr(function, "__name__", None) or repr(function)
    home = _home(function)
    if isinstance(getattr(function, "__self__", None), np.ufunc):
        return f"np.{function.__self__.__name__}.{name}"
    if distribution := distribution_of(function):
        return f"scipy.stats.{distribution}.{name}"
    if getattr(builtins, name, None) is function:
        return name
    parts = {"posix": "os", "nt": "os"}.get(home, home.removeprefix("_")).split(".")
    for k in range(1, len(parts) + 1):
        module = sys.modules.get(".".join(parts[:k]))
        if getattr(module, name, None) == function:
            return f"{'.'.join(parts[:k])}.{name}"
    return f"{home}.{getattr(function, '__qualname__', name)}" if home not in ("", "builtins") else name


def _home(function: Any) -> str:
    if isinstance(function, np.ufunc):                 # knows none itself
        homes = ("numpy", "scipy.special")
        return next((home for home in homes if getattr(sys.modules.get(home), function.__name__, None) is function), "")
    owner = getattr(function, "__self__", None)
    if isinstance(owner, types.ModuleType):
        return owner.__name__
    if owner is not None:
        kind = owner if isinstance(owner, type) else type(owner)
        return kind.__module__
    return getattr(function, "__module__", None) or ""
