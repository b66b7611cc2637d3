"""Every op in the table, printed: the source computes what the op does, in its dtype, and shares
memory with an operand only where the writer expects it."""

from __future__ import annotations

import warnings
import zlib
from typing import Any

import numpy as np
import pytest
from op_cases import Sample, cases, evaluate, sample
from writing import load

from transformer import jvp, vmap
from transformer.core.grammar import Let
from transformer.core.types import ArrayType
from transformer.ops.table import ops
from transformer.read.interface import Interface, Parameter
from transformer.write.aliasing import FROZEN, viewed
from transformer.write.writer import write

GONE = {"again"}                                # no function that is written has them any more, nor those over lanes
OPS = [op for name, op in sorted(ops().items())
       if (op.domain or op.elementwise) and name not in GONE and op.over_lanes is None]


def samples(op: Any, symbolic: bool) -> list[Sample]:
    rng = np.random.default_rng(zlib.crc32(op.name.encode()))
    return [sample(op, case, symbolic) for case in cases(op, rng)]


def printed(each: Sample, user_return: bool = False) -> Any:
    for k, var in enumerate(each.function.params):
        var.name = f"x{k}"
    outside = Interface("f", [Parameter(p.name or "", p) for p in each.function.params])
    return write(each.function, outside, name="f", user_return=user_return)


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_source_computes_what_the_op_does(op: Any, symbolic: bool) -> None:
    for each in samples(op, symbolic):
        source = printed(each)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            expected = evaluate(each.function, each.values, each.dims)
            found = load(source)(*each.values)
        found = found if len(expected) > 1 else (found,)
        for one, other, result in zip(found, expected, each.function.results, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, err_msg=source.source)
            type = result.type  # type: ignore[union-attr]
            assert isinstance(type, ArrayType)
            given = getattr(one, "dtype", None)
            assert given == type.dtype or given is None and (type.weak or type.dtype.kind in "bif"), (
                f"{source.source}\n{given} is not {type}"
            )


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_views_are_known_to_be_views(op: Any) -> None:
    for each in samples(op, False):
        let = next(stmt for stmt in each.function.body if isinstance(stmt, Let))
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            results = load(printed(each, user_return=True))(*each.values)
        for result in results if isinstance(results, tuple) else (results,):
            for var, value in zip(each.function.params, each.values):
                if isinstance(result, np.ndarray) and result.ndim and np.shares_memory(result, value):
                    assert viewed(let) is var, f"{op.name} gives a view of operand {var}"
                    assert result.flags.writeable or op.name in FROZEN, op.name


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, bool, np.int32])
@pytest.mark.parametrize("function", [
    lambda a, x: -(a * x), lambda a, x: -(a / x), lambda a, x: x - a * x, lambda a, x: -(a * 2 * x),
    lambda a, x: -(2 * (a + a)) * a * x,
])
def test_a_sign_stays_before_a_product_whose_first_factor_wraps_around(function: Any, dtype: Any) -> None:
    a = np.array([1, 0, 3, -128 if dtype is np.int8 else -(2 ** 31)]).astype(dtype)
    x = np.array([0.5, 1.5, -2.0, 3.0])
    np.testing.assert_allclose(vmap(function)(a[None], x[None])[0], function(a, x))
    np.testing.assert_allclose(jvp(lambda x: function(a, x), (x,), (x,))[0], function(a, x))
