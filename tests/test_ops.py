"""Every op in the table, tested by what it says of itself: types, derivatives, batching, closure.

A new op needs no test of its own here. Values at the edges of domains, where only a person knows
what is right, are in test_ops_edges.py.
"""

from __future__ import annotations

import itertools
import operator
import subprocess
import sys
import warnings
import zlib
from typing import Any

import numpy as np
import pytest
from loop_cases import same_dtypes
from op_cases import (
    Sample,
    batched,
    cases,
    differences,
    direction,
    evaluate,
    in_dtype,
    inner,
    sample,
    statements,
    subsets,
    tangents,
    type_of_value,
    types_of,
)

from transformer.core.builder import Builder
from transformer.core.errors import NotSupported, TransformError
from transformer.core.grammar import Function, Var
from transformer.ops.base import Op, callable_of
from transformer.ops.of_scipy import OF_SCIPY
from transformer.ops.table import lookup, ops
from transformer.ops.value import Value, call
from transformer.transform.forward import jvp
from transformer.transform.reverse.reverse import reverse

# Ops on what loops record are tested with loops, in test_sequences.py.
OPS = [op for _, op in sorted(ops().items()) if not op.of_sequences]
IN_CORE = [op for op in OPS if op.operands or op.variadic]
SMOOTH = [op for op in IN_CORE if op.derivative is None]
ELEMENTWISE = [op for op in IN_CORE if op.elementwise and op.name != "cast"]
REFUSALS = TransformError, TypeError


def each(group: list[Any]) -> Any:
    return pytest.mark.parametrize("op", group, ids=lambda op: op.name)


def seeded(op: Any) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(op.name.encode()))


def inexact(values: Any) -> list[bool]:
    return [np.asarray(x).dtype.kind in "fc" for x in values]


def samples(op: Any, dtypes: Any = ("f8", "c16"), symbolic: bool = False) -> Any:
    """A sample function for every case and dtype that the op takes."""
    rng = seeded(op)
    if op.name in REAL_DERIVATIVE:
        dtypes = [dtype for dtype in dtypes if np.dtype(dtype).kind == "f"]
    for operands, attrs in cases(op, rng):
        made = []
        for dtype in dtypes:
            converted = in_dtype(operands, dtype, rng)
            if dtype != "f8" and same_dtypes(converted, operands):
                continue
            try:
                made.append(sample(op, (converted, attrs), symbolic=symbolic))
            except REFUSALS:
                assert dtype != "f8", "refuses a case of its own domain"
        yield from made


# -- what is declared -----------------------------------------------------------------------------


@each(OPS)
def test_every_facet_is_declared(op: Any) -> None:
    own_run = getattr(op.run, "__func__", None) is not Op.run.__func__
    assert op.calls or op.methods or own_run, "nothing computes it"
    if not op.operands and not op.variadic:
        return                                              # zeros, arange: nothing comes in
    own = [op.partials is not None, bool(op.linear), op.jvp is not None, op.definition is not None,
           op.derivative is not None]
    better = op.definition is not None and (op.vjp is not None or op.derivative is not None)
    assert sum(own) == 1 + better, \
        "declare one of partials, linear and vjp, jvp and vjp, definition, derivative"
    assert (op.vjp is not None) == bool(op.linear or op.jvp is not None), "no vjp"
    assert op.derivative is None or op.derivative[1], "say why there is no derivative"
    assert op.partials is None or len(op.partials) == len(op.operands)
    assert op.batch is not None, "no batching rule"
    assert op.elementwise or op.domain is not None, "no sample calls"


def test_names_and_calls_mean_one_op() -> None:
    for op in OPS:
        for function in op.calls:
            found = lookup(callable_of(function))
            assert found is not None and found[0] is op, f"{function} is not {op.name}"


@pytest.mark.filterwarnings("ignore:numpy.fix is deprecated")         # by NumPy 2.5
@each(ELEMENTWISE)
def test_every_spelling_computes_the_same(op: Any) -> None:
    for operands, attrs in cases(op, seeded(op)):
        for function in map(callable_of, op.calls):
            scalar = home_of(function) == "math" or function is operator.not_
            if not (scalar and any(map(np.ndim, operands))):
                np.testing.assert_allclose(function(*operands, **attrs), op.run(*operands, **attrs))


def home_of(function: Any) -> str:
    return getattr(function, "__module__", "")


# -- types ----------------------------------------------------------------------------------------


@each(IN_CORE)
@pytest.mark.parametrize("symbolic", [False, True], ids=["numbers", "names"])
def test_types_are_those_of_the_results(op: Any, symbolic: bool) -> None:
    # evaluate compares every result with its type
    for dtype in ("f8", "f4", "c16", "c8", "f2"):
        for made in samples(op, ("f8", dtype), symbolic=symbolic):
            evaluate(made.function, made.values, made.dims)


STRONG = ("f4", "f8", "i8", "?", "c8", "c16", "i1", "u1", "f2")
WEAK = (1, 0.5, 0.5 + 0.25j)


def numbers(arity: int) -> Any:
    """Operands of every kind: arrays, NumPy scalars and Python numbers."""
    singles = [*(np.ones(2, d) for d in STRONG[:6]), *(np.dtype(d).type(1) for d in STRONG), *WEAK]
    if arity < 3:
        return list(itertools.product(singles, repeat=arity))
    few = [np.ones(2, "f4"), np.ones(2), np.arange(1, 3), np.complex64(1), *WEAK]
    return list(itertools.product(few, repeat=arity))


@each(ELEMENTWISE)
def test_promotion_is_that_of_every_spelling(op: Any) -> None:
    for function in map(callable_of, op.calls):
        for operands in numbers(len(op.operands)):
            if not ambiguous(function, operands):
                compare_types(op, function, with_special_operands(op, operands))


def ambiguous(function: Any, operands: Any) -> bool:
    """Complex numbers under `math`, which drops a part of them; lone truth values under operators:
    a type does not tell Python's from NumPy's, which add up otherwise; a Python complex with a
    float64, which Python takes for a float of its own."""
    home = home_of(function)
    if home == "math" and any(np.iscomplexobj(x) for x in operands):
        return True
    kinds = {type(x) for x in operands}
    return home in ("_operator", "builtins", "math") and (np.bool in kinds
                                                          or {complex, np.float64} <= kinds)


def with_special_operands(op: Any, operands: Any) -> Any:
    special = {"truth": lambda x: np.asarray(x) != 0, "order": lambda x: 1, "degree": lambda x: 3}
    given = op.where if isinstance(op.where, tuple) else ()
    words = {k: word for k, word in enumerate(given) if word in special}
    return tuple(special[words[k]](x) if k in words else x for k, x in enumerate(operands))


def compare_types(op: Any, function: Any, operands: Any) -> None:
    expected = outcome(function, operands)
    if expected is None:
        return
    try:
        inferred = inferred_type(function, operands)
    except REFUSALS as refusal:
        assert expected is TypeError, f"{function} refuses {operands}: {refusal}"
        return
    if expected is TypeError and all(isinstance(x, int | float | complex) for x in operands):
        return                                              # as where complex numbers are compared
    assert inferred == expected, f"{function} of {operands}"


def outcome(function: Any, operands: Any) -> Any:
    """The types that NumPy's results have; TypeError where there is none, None where it depends on
    the values."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = function(*operands)
    except TypeError:
        return TypeError
    except (ValueError, ZeroDivisionError, OverflowError):
        return None
    results = result if isinstance(result, tuple) else (result,)
    if any(isinstance(x, bool) for x in operands):
        return None
    return [type_of_value(r) for r in results]


def inferred_type(function: Any, operands: Any) -> Any:
    with Builder().active():
        values = [Value(Var(type_of_value(x))) for x in operands]
        result = call(function, tuple(values), {})
    results = result if isinstance(result, tuple) else (result,)
    return [r.type for r in results]


# -- derivatives ----------------------------------------------------------------------------------


def choices(values: Any) -> Any:
    """Which parameters to differentiate with respect to: each alone, and all together."""
    able = inexact(values)
    places = [k for k, on in enumerate(able) if on]
    alone = [[k == place for k in range(len(able))] for place in places]
    return alone if len(places) < 2 else [*alone, able]


def close(found: Any, wanted: Any, tolerance: float = 2e-6) -> None:
    for a, b in zip(found, wanted, strict=True):
        scale = 1 + np.max(np.abs(b), initial=0)
        np.testing.assert_allclose(a / scale, b / scale, atol=tolerance, rtol=0)


def forward_of(made: Sample, active: Any) -> Function:
    return jvp(made.function, active, made.builder)


def reverse_of(made: Sample, active: Any) -> Function:
    seeds = [Var(type) if type.is_inexact else None for type in types_of(made.function)]
    result = reverse(made.function, active, seeds, made.builder)
    result.params = [*result.params, *(seed for seed in seeds if seed is not None)]
    return result


def seeds_of(made: Sample, rng: np.random.Generator) -> list[Any]:
    results = evaluate(made.function, made.values, made.dims)
    return [direction(y, rng) for y in results if np.asarray(y).dtype.kind in "fc"]


def runs(function: Function, made: Sample) -> Any:
    return lambda *values: evaluate(function, values, made.dims)


def floating(results: list[Any]) -> list[Any]:
    return [r for r in results if np.asarray(r).dtype.kind in "fc"]


def check_forward(function: Function, made: Sample, values: Any, active: Any, rng: Any) -> None:
    """The tangents of a function against its central differences."""
    derived = jvp(function, active, made.builder)
    steps = tangents(values, active, rng)
    count = len(function.results)
    found = evaluate(derived, [*values, *steps], made.dims)[count:]
    run = runs(function, made)
    close(floating(found), differences(lambda *v: floating(run(*v)), values, active, steps))


# Complex vectors are known up to a factor; test_decompositions.py has functions that do not depend on it.
UP_TO_A_FACTOR = {"svd"}


def smooth_samples(op: Any) -> Any:
    """Samples at which differences mean something."""
    return samples(op, ("f8",) if op.name in UP_TO_A_FACTOR else ("f8", "c16"))


@each(SMOOTH)
def test_forward_mode_agrees_with_differences(op: Any) -> None:
    rng = seeded(op)
    for made in smooth_samples(op):
        for active in choices(made.values):
            check_forward(made.function, made, made.values, active, rng)


@each(SMOOTH)
@pytest.mark.parametrize("symbolic", [False, True], ids=["numbers", "names"])
def test_reverse_mode_is_the_transpose_of_forward_mode(op: Any, symbolic: bool) -> None:
    rng = seeded(op)
    for made in samples(op, symbolic=symbolic):
        count = len(made.function.results)
        for active in choices(made.values):
            steps, seeds = tangents(made.values, active, rng), seeds_of(made, rng)
            pushed = evaluate(forward_of(made, active), [*made.values, *steps], made.dims)[count:]
            pulled = evaluate(reverse_of(made, active), [*made.values, *seeds], made.dims)[count:]
            left, right = inner(seeds, floating(pushed)), inner(pulled, steps)
            assert abs(left - right) <= 1e-9 * (1 + abs(left)), f"{left} != {right}"


@each(SMOOTH)
def test_second_order_agrees_with_differences(op: Any) -> None:
    rng = seeded(op)
    for made in smooth_samples(op):
        able = inexact(made.values)
        if not any(able):
            continue
        seeds = seeds_of(made, rng)
        gradient = reverse_of(made, able)
        check_forward(gradient, made, [*made.values, *seeds], [*able, *[False] * len(seeds)], rng)
        steps = tangents(made.values, able, rng)
        pushed = forward_of(made, able)
        check_forward(pushed, made, [*made.values, *steps], [*able, *[True] * len(steps)], rng)


# scipy has no complex form of the derivative, or there is none
REAL_DERIVATIVE = {"digamma", "gamma", "loggamma", "rgamma", "jve", "yve", "ive"}

# scipy computes these in double precision whatever it is given, as it does others beside an integer (OF_SCIPY)
DOUBLE = {"digamma", "gamma", "gammaln", "polygamma", "spherical_jn", "sinc", "beta", "betaln"}
# and these are asked for it
DOUBLE |= {"cast", "float_power"}
# NumPy interpolates in double precision
DOUBLE |= {"interp"}


@each([op for op in SMOOTH if op.name not in DOUBLE and op.loop != OF_SCIPY])
def test_derivatives_of_single_precision_stay_in_it(op: Any) -> None:
    for made in samples(op, ("f8", "f4")):
        if not all(np.asarray(x).dtype == np.float32 for x in made.values):
            continue
        able = inexact(made.values)
        for derived in (forward_of(made, able), reverse_of(made, able)):
            for stmt in statements(derived.body):
                for type in (target.type for target in stmt.targets):
                    assert type.weak or type.dtype not in (np.float64, np.complex128), stmt


# -- batching -------------------------------------------------------------------------------------


@each(IN_CORE)
def test_batching_agrees_with_a_loop(op: Any) -> None:
    rng = seeded(op)
    drawn = [cases(op, rng) for _ in range(3)]
    for case in zip(*drawn):
        rows, attrs = [operands for operands, _ in case], case[0][1]
        for lead in subsets(len(rows[0])):
            if all(movable(x) for x, on in zip(rows[0], lead) if on):
                check_batch(op, rows, lead, attrs)


def movable(x: Any) -> bool:
    """Whether an operand may differ from element to element; an int of a domain is a constant."""
    return not isinstance(x, int) or isinstance(x, bool)


def check_batch(op: Any, rows: list[Any], lead: tuple[bool, ...], attrs: dict[str, Any]) -> None:
    stacked = tuple(np.stack([row[k] for row in rows]) if on else rows[0][k]
                    for k, on in enumerate(lead))
    try:
        made = batched(op, stacked, lead, attrs)
    except NotSupported as refusal:
        assert "batch" in str(refusal), f"refused for another reason: {refusal}"
        return
    found = evaluate(made.function, made.values)
    single = [[row[k] if on else rows[0][k] for k, on in enumerate(lead)] for row in rows]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        wanted = [op.run(*operands, **attrs) for operands in single]
    columns = zip(*wanted) if isinstance(wanted[0], tuple) else [wanted]
    for result, column in zip(found, columns, strict=True):
        np.testing.assert_allclose(result, np.stack(column), rtol=1e-12, atol=1e-12)


# -- closure --------------------------------------------------------------------------------------


@each(SMOOTH)
def test_rules_use_only_ops_of_the_table(op: Any) -> None:
    for made in samples(op):
        able = inexact(made.values)
        for derived in (forward_of(made, able), reverse_of(made, able)):
            assert all(ops().get(stmt.op.name) is stmt.op for stmt in statements(derived.body))


def test_importing_scipy_is_left_to_programs_that_use_it() -> None:
    code = "import sys, transformer.ops.table as t; t.ops(); assert 'scipy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
