"""Sample calls of ops as nests: lowered, and run as plain Python or compiled.

Plain Python raises where compiled code has NumPy's results (``math.log(0.0)``, a division by 0), so
it runs here with a `math` that has them too.
"""

from __future__ import annotations

import copy
import math
import warnings
import zlib
from collections.abc import Container, Iterator
from functools import cache, partial
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from bounds import WatchedNumPy, watching
from op_cases import Case, Sample, cases, evaluate, in_dtype, sample, words_of

from transformer.core.builder import Builder
from transformer.core.errors import TransformError
from transformer.core.grammar import Function
from transformer.core.guards import Assumptions
from transformer.lower.lowering import Kernel, lower
from transformer.run.compiling.kernels import install
from transformer.run.compiling.objects import Objects
from transformer.run.files import load_module

REFUSALS = TransformError, TypeError, ValueError, ZeroDivisionError, OverflowError, NotImplementedError
EXACT = {"i8": np.int64, "i4": np.int32, "?": np.bool_}
TWINS = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "acosh": "arccosh", "atanh": "arctanh"}


class MathOfC:
    """`math` with the results of C where Python raises, in the precision of the operands."""

    def __getattr__(self, name: str) -> Any:
        function = getattr(math, name)
        return self.wrapped(function, name) if callable(function) else function

    def wrapped(self, function: Any, name: str) -> Any:
        def call(*numbers: Any) -> Any:
            try:
                result = function(*numbers)
            except (ValueError, OverflowError):
                result = twin(name)(*numbers)
            narrow = isinstance(numbers[0], np.float32) and isinstance(result, float)
            return np.float32(result) if narrow else result
        return call


def twin(name: str) -> Any:
    import scipy.special
    special = {"gamma": scipy.special.gamma, "lgamma": scipy.special.gammaln}
    return special.get(name) or getattr(np, TWINS.get(name, name))


def in_kind(operands: Any, dtype: str, rng: np.random.Generator) -> Any:
    """The floating operands of a case in another dtype; numbers of Python stay what they are."""
    if dtype not in EXACT:
        return in_dtype(operands, dtype, rng)
    with np.errstate(invalid="ignore"):
        return tuple(np.asarray(x).astype(dtype)[()] if np.asarray(x).dtype.kind == "f" and type(x) is not float
                     else x for x in operands)


def calls_of(op: Any, dtypes: Any) -> Iterator[Case]:
    """The sample calls of an op in every dtype that NumPy and the op take."""
    rng = np.random.default_rng(zlib.crc32(op.name.encode()))
    for operands, attrs in cases(op, rng):
        for dtype in dtypes:
            case = in_kind(operands, dtype, rng), attrs
            new = dtype == dtypes[0] or not same_dtypes(case[0], operands)
            if new and is_taken(op, case):
                yield case


FLOATS = [0.0, -0.0, np.inf, -np.inf, np.nan, 0.5, 1.5, 2.5, -0.5, -1.5, 1.0, -1.0, 3.0, -2.0, 1e300, -1e300, 1e-300]
NARROW = [x if not 1e200 < abs(x) < np.inf else x * 1e-262 for x in FLOATS]
COMPLEX = [0, 1, -1, 2, -2, 1j, 2 + 1j, -0.5 - 3j, 0.5]
INTEGERS = [0, 1, -1, 2, -2, 3, -7, 63, 64, np.iinfo(np.int64).min, np.iinfo(np.int64).max]


def edges_of(op: Any) -> Iterator[Case]:
    """Calls of an elementwise op of one or two operands on numbers where care is needed: zeros of both
    signs, infinities, nan, halves, the ends of the integers; of two operands, all pairs. Of complex numbers finite
    ones: libraries do not agree on the others."""
    words = words_of(op)
    if len(words) > 2 or op.domain is not None or op.name in DEFINED_FOR_POSITIVE or {"order", "degree"} & set(words):
        return
    for numbers in (np.array(FLOATS), np.array(NARROW, np.float32), np.array(INTEGERS), np.array(COMPLEX)):
        case = (numbers,) if len(words) == 1 else (numbers[:, None].copy(), numbers)
        if is_taken(op, (case, {})):
            yield case, {}


# And for finite numbers; elsewhere scipy has values of its own, for gammaln other ones than math.lgamma.
DEFINED_FOR_POSITIVE = "beta", "betaln", "gammaln"


def same_dtypes(left: Any, right: Any) -> bool:
    return all(np.asarray(a).dtype == np.asarray(b).dtype for a, b in zip(left, right))


def is_taken(op: Any, case: Case) -> bool:
    """Whether NumPy computes a call, and the op has types for it."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            op.run(*case[0], **case[1])
            made = sample(op, case)
        except REFUSALS:
            return False
    unsafe = op.writes and not np.can_cast(np.asarray(case[0][1]).dtype, np.asarray(case[0][0]).dtype, "same_kind")
    types = [param.type.dtype for param in made.function.params]
    return not unsafe and np.dtype("f2") not in types


def kernel_of(made: Sample) -> Kernel:
    return lower(made.function, made.builder.assumptions)


def plain(kernel: Kernel) -> Kernel:
    """The kernel as plain Python, which raises where a place is not inside of an array."""
    namespace = kernel.namespace()
    namespace.update(math=MathOfC(), float=np.float64, np=WatchedNumPy(),
                     in_threads=partial(in_pieces, kernel.printed.alone))
    kernel.entry = watching(namespace[kernel.printed.name])
    return kernel


def compiled(kernel: Kernel) -> Kernel:
    """The kernel as `jit` has it compiled; what numba compiled of it before this process plays no part."""
    name, given = kernel.printed.name, kernel.printed.given
    namespace = load_module(kernel.source, name, given)
    objects = None if given else Objects(Path(_object_folder().name), namespace["__file__"])
    install(namespace, kernel.options, name, objects)
    kernel.entry = namespace[name]
    return kernel


@cache
def _object_folder() -> TemporaryDirectory[str]:
    return TemporaryDirectory()


def in_pieces(alone: Container[str], task: Any, size: int, cost: int, *args: Any) -> None:
    """The iterations that threads would share: two at a time, the last ones first. Of the arrays of a task that is
    `alone`, none that it writes shares memory with another one."""
    assert cost >= 0 or not size
    pairs = [pair for pair in combinations(args, 2) if task.__name__ in alone and _share_memory(*pair)]
    before = copy.deepcopy(pairs)
    for first in reversed(range(0, size, 2)):
        task(first, min(2, size - first), *args)
    for now, then in zip(pairs, before, strict=True):
        for array, was in zip(now, then, strict=True):
            np.testing.assert_array_equal(array, was, f"{task.__name__} writes memory that several of its arrays share")


def _share_memory(one: Any, other: Any) -> bool:
    return isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and np.shares_memory(one, other)


def together(samples: list[Sample]) -> Sample:
    """Many applications as one function, which is compiled at once."""
    function = Function("all_cases", [], [], [])
    values: list[Any] = []
    for made in samples:
        function.params += made.function.params
        function.body += made.function.body
        function.results += made.function.results
        values += made.values
    return Sample(function, Builder(Assumptions()), values, {})


def check(kernel: Kernel, made: Sample, tolerance: float = 1e-12) -> None:
    """Compares values and dtypes with those of NumPy."""
    wanted = evaluate(made.function, made.values, made.dims)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = kernel(*made.values)
    for got, want in zip(found, wanted, strict=True):
        assert np.asarray(got).dtype == np.asarray(want).dtype
        narrow = np.asarray(want).dtype in (np.float32, np.complex64)
        rtol = 2e-5 if narrow else tolerance
        np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol * 1e-2)
