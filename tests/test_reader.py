"""The reader: what its Core computes is what Python computes; what it refuses, it refuses with a place."""

from __future__ import annotations

import contextlib
import copy
import io
from typing import Any

import numpy as np
import pytest

from tests.differences import leaves
from tests.evaluate import evaluate_call, read_call
from tests.reading_programs import PROGRAMS
from transformer import tree
from transformer.core.check import check


def assert_same(found: Any, wanted: Any, where: str) -> None:
    """Equal trees of equal numbers."""
    found_leaves, wanted_leaves = leaves(found), leaves(wanted)
    assert len(found_leaves) == len(wanted_leaves), f"{where}: {found} is not {wanted}"
    assert tree.structure(found) == tree.structure(wanted), where
    for one, other in zip(found_leaves, wanted_leaves):
        if isinstance(other, str | type(None)):
            assert one == other, where
        else:
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14, err_msg=where)
            if isinstance(other, np.ndarray):
                assert np.asarray(one).dtype == other.dtype, where


@pytest.mark.parametrize("case", PROGRAMS, ids=lambda case: case[0].__name__)
def test_core_computes_what_python_computes(case: Any) -> None:
    function, args, kwargs = case
    reading = read_call(function, *args, **kwargs)
    check(reading.function)
    outcome = evaluate_call(reading, function, *args, **kwargs)
    given, printed = copy.deepcopy(args), io.StringIO()
    with contextlib.redirect_stdout(printed):
        wanted = function(*given, **copy.deepcopy(kwargs))
    assert_same(outcome.result, wanted, function.__name__)
    assert outcome.printed == printed.getvalue()
    assert_written(reading, outcome, given, args)


def assert_written(reading: Any, outcome: Any, given: Any, args: Any) -> None:
    """The arguments that Python wrote to are those the reading says, with the same contents."""
    for parameter, value, before in zip(reading.interface.parameters, given, args):
        if isinstance(value, np.ndarray):
            written = outcome.written.get(parameter.name, before)
            np.testing.assert_allclose(written, value, err_msg=f"the argument {parameter.name}")
