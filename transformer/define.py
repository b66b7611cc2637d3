"""Ops for functions of other libraries: `define_op` and `check_op`."""

from __future__ import annotations

import copy
import difflib
import functools
import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .core.builder import Builder
from .core.errors import BadArgument
from .core.grammar import Var
from .core.guards import Assumptions
from .core.types import ArrayType, type_of_number
from .ops.registry import registry
from .ops.table import lookup
from .ops.value import NUMBERS, Value, call
from .read.kinds import described
from .transform.custom.declared import Declaration, plain_signature

__all__ = ["check_op", "define_op"]

FACETS = ("partials", "linear", "jvp", "vjp", "derivative", "batch")
WAYS = ("Pass exactly one of: partials=..., linear=... with vjp=..., jvp=... with vjp=..., "
        "or derivative=(None, 'why there is none').")


def define_op(function: Any = None, *, types: Any = "elementwise", name: str | None = None, override: bool = False,
              **facets: Any) -> Any:
    """Declares the types and derivative of a function that cannot, or should not, be read, such as one written in C.

    Afterwards, programs can use it like a function of NumPy. Returns the function; without one, a decorator.

    Args:
        types: what the function returns: ``"elementwise"`` (NumPy's broadcasting, with the dtypes of a sample call),
            ``"like x"`` (as the argument `x`), or a function of the arguments, of which `shape`, `dtype` and `ndim` are
            known. That function returns one of the arguments, a pair ``(shape, dtype)``, or a list of those for several
            results.
        name: how a call is printed, as ``"module.function"``, if that cannot be found out.
        override: replace the rule that the function has. Otherwise, a function with a rule is refused.

    Parameters with a default are options: known when the program is read, and passed to the rules by name.

    The derivative is exactly one of

    * `partials`: for elementwise functions, one function ``(t, *args, y) -> t * dy/d(arg)`` per argument;
    * `linear` and `vjp`: the names of the arguments in which the function is linear, and one function
      ``(dy, *args) -> cotangent of arg`` per argument (None if there is no derivative);
    * `jvp` and `vjp`: one function ``(t, *args, y) -> tangent of y`` and one ``(dy, *args, y) -> cotangent
      of arg`` per argument;
    * ``derivative=(None, "why")``: there is none.

    For one argument, a function may stand in place of the tuple. Rules are ordinary NumPy code. They are read, so
    they may have branches and loops, and they are differentiated for higher orders. `batch` is ``(lead, *args) ->
    y``; arguments marked in `lead` have their batch axis first.

    Raises `BadArgument` for declarations that do not fit together. Test the rules by `check_op`.

    >>> import numpy as np, scipy.special
    >>> from transformer import grad
    >>> _ = define_op(scipy.special.spence, partials=lambda t, x, y: t * np.log(x) / (1 - x), override=True)
    >>> print(grad(lambda x: scipy.special.spence(x) * x).source_for(2.0).strip().splitlines()[-1].strip())
    return dx
    """
    if function is None:
        return lambda f: define_op(f, types=types, name=name, override=override, **facets)
    if not callable(function):
        raise BadArgument(f"define_op expects a function, got {described(function)}")
    _check_facets(facets)
    _check_new(function, override)
    shown = spelling_for(function, name)
    declared = Declaration(function, shown, operands_of(function, types, facets), types, facets)
    registry.add(function, declared.op())
    return function


def _check_facets(facets: dict[str, Any]) -> None:
    for key in facets:
        if key not in FACETS:
            near = difflib.get_close_matches(key, [*FACETS, "types", "name", "override"], 1)
            raise BadArgument(f"define_op has no option {key!r}",
                              instead=f"Did you mean {near[0]!r}?" if near else WAYS)
    ways = [key for key in ("partials", "linear", "jvp", "derivative") if facets.get(key) is not None]
    if len(ways) != 1:
        what = " and ".join(ways) + " are both given" if ways else "the derivative is missing"
        raise BadArgument(f"define_op: {what}", instead=WAYS)
    if (ways[0] in ("linear", "jvp")) != (facets.get("vjp") is not None):
        what = "vjp alone is not enough" if facets.get("vjp") else f"{ways[0]} needs vjp beside it"
        raise BadArgument(f"define_op: {what}", instead=WAYS)
    derivative = facets.get("derivative")
    if derivative is not None and not (isinstance(derivative, tuple) and len(derivative) == 2
                                       and derivative[0] is None and isinstance(derivative[1], str)):
        raise BadArgument("define_op: derivative must be (None, 'reason why there is none')", instead=WAYS)


def _check_new(function: Any, override: bool) -> None:
    found = lookup(function)
    if found is not None and not override:
        raise BadArgument(f"{getattr(function, '__name__', function)} already has a rule",
                          why=f"It is the op {found[0].name}.", instead="Pass override=True to replace it.")


# -- what the function is called -------------------------------------------------------------------


def spelling_for(function: Any, name: str | None) -> str:
    """How generated source calls a function: by its module where that has it, else by a bare name."""
    if name is not None:
        home, _, last = name.rpartition(".")
        if not all(part.isidentifier() for part in name.split(".")):
            raise BadArgument(f"define_op: {name!r} is not the name of a function")
        if home and found_in(home, last) is not function:
            raise BadArgument(f"define_op: {name} is not this function",
                              instead="Pass the name under which it can be imported, such as 'scipy.special.ndtri'.")
        return name
    last = getattr(function, "__name__", "")
    for home in _homes(function):
        if found_in(home, last) is function:
            return f"{home}.{last}"
    return _bare(function, last if last.isidentifier() else "function")


def _bare(function: Any, name: str) -> str:
    """A name for a function that cannot be imported, which no other op of a user has."""
    others = {op.spelling for other, op in registry.by_function.items() if other is not function}
    number, free = 1, name
    while free in others:
        number += 1
        free = f"{name}{number}"
    return free


def _homes(function: Any) -> list[str]:
    """Modules that may have a function, the public ones first."""
    module = getattr(function, "__module__", None) or ""
    if isinstance(function, np.ufunc):
        return ["scipy.special"]
    parts = module.split(".")
    public = [part for part in parts if not part.startswith("_")]
    return [] if module in ("", "__main__") else [".".join(public), module]


def found_in(home: str, name: str) -> Any:
    """What a module calls by a name; None if there is no such module."""
    try:
        return getattr(importlib.import_module(home), name, None)
    except (ImportError, ValueError):
        return None


def operands_of(function: Any, types: Any, facets: dict[str, Any]) -> tuple[str, ...]:
    """The names of the arguments that are not options."""
    signature = plain_signature(function) or (plain_signature(types) if callable(types) else None)
    if signature is not None:
        names = [p.name for p in signature.parameters.values()
                 if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    elif isinstance(function, np.ufunc):
        names = ["x"] if function.nin == 1 else [f"x{k}" for k in range(1, function.nin + 1)]
    else:
        rules = facets.get("partials") or facets.get("vjp") or ()
        names = ["x"] if not isinstance(rules, tuple) else [f"x{k}" for k in range(1, len(rules) + 1)]
    if not names:
        raise BadArgument("define_op: the function has no arguments", instead="Pass types=lambda x, ...: ...")
    return tuple(names)


# -- tests -----------------------------------------------------------------------------------------


def check_op(function: Callable[..., Any], *samples: Any, order: int = 2, **attrs: Any) -> None:
    """Tests a `define_op` declaration on sample arguments.

    It tests that the function leaves its arguments alone and returns memory of its own, the types of its results
    (also in single precision), and its derivatives up to `order`, in both modes, against central differences and each
    other. `attrs` are the options of the function. Raises `AssertionError` with what is wrong.

    >>> import scipy.special
    >>> check_op(scipy.special.ndtri, np.array([0.2, 0.9]))
    """
    found = lookup(function)
    if found is None:
        raise BadArgument(f"{getattr(function, '__name__', function)} has no op", instead="Define one: define_op(...).")
    for args in (samples, _single(samples)):
        _check_types(function, args, attrs)
    if found[0].derivative is None:
        from .checking import check
        program = functools.partial(function, **attrs) if attrs else function
        check(program, samples, order, ("fwd", "rev"), None, None, 0)


def _single(samples: Sequence[Any]) -> tuple[Any, ...]:
    """Floating point arrays in single precision."""
    return tuple(x.astype(np.float32) if isinstance(x, np.ndarray) and x.dtype == np.float64 else x for x in samples)


def _check_types(function: Any, args: Sequence[Any], attrs: dict[str, Any]) -> None:
    with Builder(Assumptions()).active():
        given = tuple(Value(Var(_type_of(arg))) if not isinstance(arg, (bool, str)) else arg for arg in args)
        result = call(function, given, attrs)
    declared = result if isinstance(result, tuple) else (result,)
    copies = copy.deepcopy(args)
    computed = function(*args, **attrs)
    results = computed if isinstance(computed, (tuple, list)) else (computed,)
    if len(results) != len(declared):
        raise AssertionError(f"{function.__name__} returns {len(results)} results, but {len(declared)} are declared")
    _check_memory(function, args, copies, results)
    for k, (own, found) in enumerate(zip(declared, results)):
        is_array = isinstance(found, np.ndarray)
        shown = f"{found.dtype} of shape {found.shape}" if is_array else f"a {type(found).__name__}"
        if tuple(own.type.sizes) != np.shape(found) or own.dtype != np.asarray(found).dtype:
            types = ", ".join(str(_type_of(arg)) for arg in args if not isinstance(arg, str))
            raise AssertionError(f"result {k} of {function.__name__} for {types} is {shown}, but declared as "
                                 f"{own.dtype} of shape {own.type.sizes}")


def _check_memory(function: Any, args: Sequence[Any], before: Sequence[Any], results: Sequence[Any]) -> None:
    arrays = [(arg, old) for arg, old in zip(args, before) if isinstance(arg, np.ndarray)]
    if any(not np.array_equal(arg, old, equal_nan=arg.dtype.kind in "fc") for arg, old in arrays):
        raise AssertionError(f"{function.__name__} writes to its arguments")
    if any(np.shares_memory(result, arg) for result in results for arg, _ in arrays if isinstance(result, np.ndarray)):
        raise AssertionError(f"{function.__name__} returns memory of its arguments, but must return a copy")


def _type_of(arg: Any) -> ArrayType:
    return type_of_number(arg) if isinstance(arg, NUMBERS) else ArrayType(np.asarray(arg).dtype, np.shape(arg))
