"""What an op is: one class that states every fact about it once.

A class is the op; it is never instantiated, and its functions take no `self`. Facets:

``calls``       callables that resolve to the op (``np.sin, math.sin``), the usual spelling first
``methods``     names of array methods that resolve to it (``x.sum``)
``types``       types of the results, from the types of the operands and the static attributes.
                Its signature is NumPy's: parameters without a default are operands, in order,
                the others are attributes
``bind``        how a call's arguments become operands and attributes, where that is not enough
``front``       ``(args, kwargs, spelling) -> result or None``: what a call means where it is not just
                one application of the op (``np.clip`` with one bound is `maximum`); None: it is
derivative      exactly one of
    ``partials``          one function per operand, ``(t, *operands, y) -> t * dy/d(operand)``,
                          elementwise; serves both modes (a class attribute tuple of lambdas)
    ``linear`` + ``vjp``  names of the operands in which the op is linear (in each, the others fixed);
                          ``vjp`` is a tuple with one function per operand,
                          ``(dy, *operands, **attrs) -> cotangent`` (None: carries no derivative)
    ``jvp`` + ``vjp``     tuples of functions per operand: ``(t, *operands, y, **attrs)`` gives
                          the tangent of the result, ``(dy, *operands, y, **attrs)`` the cotangent
    ``definition``        the op in terms of other ops: ``(*operands, **attrs) -> result``
    ``derivative = None, "why"``   the result is piecewise constant, or it is not differentiable
                The operands of a `variadic` op are one list: ``types`` takes the list of their types,
                and ``vjp`` is one function ``(dy, i, *operands, **attrs)`` for operand i
``batch``       ``(lead, *operands, **attrs) -> result``: `lead` tells which operands have the batch
                axis, which is always axis 0 of them and of the result
loop form       how one element of the result comes about. A rule is called as those above, with a scalar
                `Value` for each index, and operands that are read at a place: ``x[i, j]`` emits a scalar
                read (``elements`` has what such rules are written with). One of
    ``loop``              elementwise ops: the function of numbers that is called, where it is not what
                          `loops` takes from ``calls``; a table by kinds of dtypes (``{"iu": f, "f": g}``)
    ``by_operator``       elementwise ops: ``(*integers) -> bool``: whether Python's operator serves for these in place
                          of what ``loop`` says (a shift by 3)
    ``simpler``           elementwise ops: ``(*numbers, **attrs) -> number or None``: the same in terms of
                          other ops, where that depends on types or constants (``x ** 2`` is ``x * x``)
    ``element``           ``(at, *operands, **attrs) -> number``: an element is one of an operand at
                          another place, or depends on its place; None where it is left open
    ``step``              reductions and scans: ``(total, item, k) -> total``; `k` numbers the items.
                          With ``init``, ``(*operands, **attrs)``, before the first item, or without:
                          then the first item is the total, or what ``start(item)`` makes of it; and
                          ``finish(total)``, if the result is not the total. Where ``undefined(total)`` holds,
                          NumPy raises: a pair of the condition and an operand for which it does, too
    ``contraction``       products: ``(*types, **attrs) -> "ik,kj->ij"``: the product of all operands,
                          summed over the labels that the result does not have
    ``store``             ops that write: ``(at, *operands, **attrs) -> (place, number)``: where an element
                          of the part goes, and what is written (or added) there
    ``found``             ops on what is not zero: ``(at, sizes) -> [(k, rest, number), …]``: for an element
                          at a place, what target `k` gets in its next row, at `rest` there
    ``definition``        as above; the loop form comes from the ops in it
    ``loop = None, "why"``  a library computes it, such as LAPACK
``accumulate``  ``(shadow, dy, *operands, **attrs) -> shadow``: adds a sparse cotangent of operand 0 to
                the one it has already (`get`, `diagonal`), instead of ``vjp[0]``
``takes_all``   ``(**attrs) -> bool``: whether such a cotangent is not sparse, so that ``vjp[0]`` serves
``tangent``     ``(tangents, *operands, **attrs) -> tangent``: for an op that is linear in several
                operands together (`put`); None stands for a tangent that is zero. Of an elementwise op it is what
                its ``partials`` give together, as a person would write it: ``(tangents, *operands, y) -> tangent``
``over_lanes``  ops on the lanes of a named axis (``axis_name``): ``(size, *operands, **attrs) -> result``, where
                operands have their lanes in front, as has the result where it ``differs``
``noun``        what the result of an op on lanes is called, where nothing else tells
``over_devices``  the same where each of `count` devices has `size` of the lanes, one device after the other, and
                their axis is called `name`: ``(size, name, count, *operands, **attrs) -> result``
``counts_lanes``  what it becomes over devices rests on how many lanes each has
``shares``      over devices, one has the memory of another one's operand
``is_total``    finite, with finite derivatives, for all finite operands, so that it may be computed where an `if`
                would not; or a function of the operands that tells
``keeps_truth`` of Python's truth values it gives one; arithmetic takes them for integers
``counts``      ``(place, *operands, **attrs) -> truth values``: where an operand has part in the result, if it is
                chosen by the operands; None: everywhere
``hands_on``    in Python's spelling (`max`, `x if c else y`) it gives one of its operands as it is
``asks_truth``  as an operator it gives a truth value of Python's, of whatever number
``view``        whether NumPy returns a view of the first operand; where that depends on the operands,
                a function of them (or of their types) and the attributes
``makes_array`` what gives, in NumPy, an array and not a number where the result has no axes: "always", "never",
                or "of arrays" (as views do); a dictionary where that depends on the spelling
``sized``       NumPy refuses negative sizes among its attributes
``write_back``  ``(base, part, *slots, **attrs) -> base`` after `part`, a view of it, was written
``unwritten``   why there is no ``write_back``
``passing``     ``(args, **attrs) -> args``: the operands through which derivatives pass, where not all are
``source``      ``(*trees, **attrs) -> tree``: how it is printed, where that is not a call or an operator (``symbol``)
``helper``      printed, it is a call of a function that the module contains, with the name of the op (`write/prelude`)
``in_memory``   the op that compiled code calls, which fills memory with the same: an assignment converts what it gives
``silent``      attributes that no call has: they are needed for the types only
``alone``       ``{k: op}``: what gives result `k` from the same operands where no other one is needed
``alone_on_gpus``  a GPU's threads compute an element each, by ``element``, where processors compute all together, by
                ``definition``
``symmetric``   NumPy reads the lower triangle of the first operand, which stands for a symmetric (Hermitian) matrix:
                its rules are those for symmetric tangents
``gives_symmetric``  the cotangent that its rule gives is symmetric itself
``run``         ``(*operands, **attrs) -> result`` on NumPy arrays; the first of `calls` unless said
``domain``      ``(rng) -> list of (operands, attrs)``: sample calls for the generated tests

Rules are ordinary functions. They are called with `Value`s, which emit Core, or with NumPy arrays,
which compute; a rule reads a static fact (``x.ndim``, ``x.shape``) by a plain ``if``.
A cotangent need not be un-broadcast or cast by a rule: the engine does that for every rule.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

from ..core.errors import NotSupported

Rule = Callable[..., Any]


class Op:
    """Base of all ops; see the module text for the facets."""

    name: str = ""
    # Facets that may be written as one item where a tuple is meant are tuples after class creation.
    calls: Any = ()
    methods: tuple[str, ...] = ()
    symbol: str | None = None          # "+": printed as an operator
    operands: tuple[str, ...] = ()     # names of the operands, from the signature of `types`
    defaults: dict[str, Any] = {}      # attributes and their default values, likewise
    variadic = False                   # the operands are one list: concatenate, stack, array
    linear: Any = ()
    partials: Any = None
    jvp: Any = None
    vjp: Any = None
    tangent: Any = None
    accumulate: Any = None
    takes_all: Any = None
    definition: Any = None
    derivative: tuple[None, str] | None = None
    batch: Any = None
    over_lanes: Any = None
    over_devices: Any = None
    counts_lanes = False
    shares = False
    noun: str | None = None            # what a result is called that has no better name
    differs = False
    is_total = False
    loop: Any = None
    by_operator: Any = None
    simpler: Any = None
    element: Any = None
    init: Any = None
    step: Any = None
    start: Any = None
    finish: Any = None
    undefined: Any = None
    contraction: Any = None
    store: Any = None
    found: Any = None
    running = False                    # a scan: the result has the totals on the way
    adds = False                       # `store` gives what is added, not what is written
    front: Any = None
    domain: Any = None
    elementwise = False
    counts: Any = None
    keeps_truth = False
    asks_truth = False
    hands_on = False
    made_of = slice(None)              # the operands that the elements of the result come from
    of_lapack = False                  # compiled code calls LAPACK itself (`run/compiling/lapack.py`), where NumPy does
    heavy = False                      # too costly to compute a second time (matrix products, solvers)
    writes = False                     # the result is operand 0 with a part written: a new version of it
    sized = False
    of_sequences = False               # an operand or the result is what a loop recorded
    passing: Any = None
    view: Any = False                  # NumPy returns a view of the first operand
    write_back: Any = None
    unwritten = "NumPy does not let this view be written."
    makes_array: Any = None
    source: Any = None
    helper = False
    in_memory: Any = None
    silent: tuple[str, ...] = ()
    alone_on_gpus = False
    symmetric = False
    gives_symmetric = False
    alone: dict[int, Any] = {}
    types: Any

    def __init_subclass__(cls) -> None:
        own = vars(cls)
        cls.name = own.get("name", cls.__name__.lower())
        for key, value in list(own.items()):
            if inspect.isfunction(value) and key not in ("bind",):
                setattr(cls, key, staticmethod(value))
        for key in ("calls", "partials", "jvp", "vjp", "linear"):
            value = own.get(key)
            if isinstance(value, staticmethod):
                setattr(cls, key, (value.__func__,))
            elif value is not None and not isinstance(value, tuple):
                setattr(cls, key, (value,))
        if "types" in own:
            _read_signature(cls, own["types"])

    @classmethod
    def bind(cls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Splits a call's arguments into operands and attributes that differ from their defaults."""
        if not kwargs and not cls.variadic and len(args) == len(cls.operands):
            return args, {}
        try:
            bound = inspect.signature(cls.types).bind(*args, **kwargs).arguments
        except TypeError as error:
            raise NotSupported(f"{cls.name}() {error}", why="This argument is not supported.",
                               instead="Omit it, or write the operation with other functions."
                               ) from None
        operands = tuple(bound.pop(name) for name in cls.operands if name in bound)
        if cls.variadic:
            operands = tuple(operands[0])
        attrs = {key: value for key, value in bound.items() if not _same(value, cls.defaults[key])}
        return operands, attrs

    @classmethod
    def typed(cls, operands: list[Any], attrs: dict[str, Any], spelling: str | None) -> Any:
        """The type of the result, or a tuple of them, of an application with this spelling."""
        return _values().result_types(cls, operands, attrs, spelling)

    @classmethod
    def run(cls, *operands: Any, **attrs: Any) -> Any:
        """Computes the op on NumPy arrays, by the first of its calls."""
        function = callable_of(cls.calls[0])
        return function(list(operands), **attrs) if cls.variadic else function(*operands, **attrs)

    @classmethod
    def applied(cls, *operands: Any, **attrs: Any) -> Any:
        """Applies the op itself in a rule: emits it for `Value`s, computes it for arrays."""
        values = _values()
        if any(isinstance(operand, values.Value) for operand in operands):
            return values.emit(cls, tuple(map(values.atom, operands)), attrs)
        return cls.run(*operands, **attrs)


@cache
def _values() -> Any:
    """The module of abstract values, which is made of ops. An import for each statement takes a fiftieth of the time of
    all that is done to it."""
    return importlib.import_module(".value", __package__)


@cache
def callable_of(call: Any) -> Any:
    """The function that an entry of `calls` stands for: itself, or what ``"scipy.special.erf"`` names."""
    if not isinstance(call, str):
        return call
    home, _, name = call.rpartition(".")
    return getattr(importlib.import_module(home), name)


def _read_signature(cls: type[Op], types: Any) -> None:
    function = types.__func__ if isinstance(types, staticmethod) else types
    parameters = inspect.signature(function).parameters.values()
    if "operands" not in vars(cls):
        cls.operands = tuple(p.name for p in parameters if p.default is p.empty)
    cls.defaults = {p.name: p.default for p in parameters if p.default is not p.empty}


def _same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and value == default)
