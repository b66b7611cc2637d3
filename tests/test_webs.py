"""Names that kernels use again are apart for numba, and mean what they meant."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from numba.core import ir
from numba.core.bytecode import ByteCode, FunctionIdentity
from numba.core.interpreter import Interpreter

from transformer.run.compiling.dispatchers import KernelDispatcher
from transformer.run.compiling.webs import Webs

N = 5


def in_two_loops(x, y):
    for k in range(x.shape[0]):
        t = x[k]
        y[k] = t * t
    for k in range(x.shape[0]):
        t = y[k] + 1.0
        y[k] = t * x[k]


def handed_on(x, y):
    t = 0.0
    for k in range(x.shape[0]):
        t = t + x[k]
        y[k] = t
    t = 2.0 * t
    for k in range(x.shape[0]):
        if x[k] > 0.0:
            t = t + k
        y[k] += t


def used_behind(x, y):
    k = 7
    for k in range(x.shape[0]):
        if x[k] > 1.0:
            break
    y[0] = k
    k = k + 1
    y[1] = k
    while k > 0:
        k -= 2
        y[2] += k


def from_two_sides(x, y):
    for k in range(x.shape[0]):
        if x[k] > 0.0:
            t = x[k]
            s = 1.0
        else:
            t = -x[k]
            s = -1.0
        y[k] = t
        t = s
        y[k] += t


def taken_in_turns(x, y):
    a, b = x[0], x[1]
    for k in range(x.shape[0]):
        a, b = b, a + b
        for k2 in range(3):
            a, b = b, a
        y[k] = a - b


FUNCTIONS = in_two_loops, handed_on, used_behind, from_two_sides, taken_in_turns


def code_of(function: Any) -> Any:
    identity = FunctionIdentity.from_function(function)
    return Interpreter(identity).interpret(ByteCode(identity))


def most_assignments(blocks: Any) -> int:
    return max(Counter(each.target.name for block in blocks.values() for each in block.find_insts(ir.Assign)).values())


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_programs_mean_the_same(function: Any, sign: float) -> None:
    x = sign * np.random.default_rng(3).normal(size=N)
    want, got = np.zeros(N), np.zeros(N)
    function(x, want)
    KernelDispatcher(function)(x, got)
    np.testing.assert_array_equal(got, want)


def test_what_has_nothing_in_common_is_apart() -> None:
    blocks = code_of(in_two_loops).blocks
    assert most_assignments(blocks) > 1
    Webs(blocks).rename()
    assert most_assignments(blocks) == 1


def test_what_is_handed_on_keeps_one_name() -> None:
    blocks = code_of(handed_on).blocks
    Webs(blocks).rename()
    found = Counter(each.target.name for block in blocks.values() for each in block.find_insts(ir.Assign))
    assert sorted(count for name, count in found.items() if name.split(".")[0] == "t") == [2, 2]
    assert sorted(count for name, count in found.items() if name.split(".")[0] == "k") == [1, 1]
