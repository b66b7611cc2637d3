"""Every op as explicit loops equals NumPy: in its sample calls as plain Python, in a few compiled by numba.

All calls in all dtypes: `TRANSFORMER_TEST_ALL=1 pytest tests/test_loop_forms.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest
from loop_cases import calls_of, check, compiled, edges_of, kernel_of, plain, together
from op_cases import sample
from thinned import ALL

from transformer.core.errors import NotSupported
from transformer.ops.loops import loop_of, missing
from transformer.ops.table import ops

# What is over lanes is gone before anything is lowered.
OPS = [op for _, op in sorted(ops().items()) if not op.of_sequences and op.over_lanes is None]
FACETS = "simpler", "element", "step", "contraction", "store", "found", "definition"
LOOPED = [op for op in OPS if op.domain is not None or op.elementwise]
PLACES = "get", "put", "addat"
DTYPES = "f8", "f4", "c16", "i8", "i4", "?"


def each(group: list[Any]) -> Any:
    return pytest.mark.parametrize("op", group, ids=lambda op: op.name)


@each(OPS)
def test_a_loop_form_is_declared(op: Any) -> None:
    forms = [facet for facet in FACETS if getattr(op, facet) is not None]
    forms += [kind for kind in "biufc" if op.elementwise and loop_of(op, kind) is not None]
    assert forms or missing(op), "declare one of the facets of the loop form, or loop = None and why"


@each([op for op in LOOPED if op.element is not None])
def test_element_rules_hold_for_arrays(op: Any) -> None:
    """A rule says of arrays what it says of values: the element at every place."""
    for operands, attrs in calls_of(op, DTYPES[:1]):
        result = np.asarray(op.run(*operands, **attrs))
        masked = op.name == "get" and any(np.asarray(x).dtype.kind == "b" for x in operands)
        if op.name == "empty" or masked:                   # left open; masks become positions
            continue
        for at in np.ndindex(result.shape):
            element = op.element(at, *map(np.asarray, operands), **attrs)
            np.testing.assert_allclose(element, result[at], rtol=1e-12)


def lowered(op: Any, case: Any, symbolic: bool) -> Any:
    """A sample and its kernel; None where the loop form is not for operands of this kind."""
    made = sample(op, case, symbolic=symbolic)
    try:
        return made, kernel_of(made)
    except NotSupported as refusal:
        assert "float16" in str(refusal) or may_refuse(op, case), refusal
        return None


def may_refuse(op: Any, case: Any) -> bool:
    """Masks have no loop form; special functions have none of complex numbers."""
    kinds = {np.asarray(x).dtype.kind for x in case[0]}
    return op.name in ("get", "put", "addat") and "b" in kinds or op.elementwise and "c" in kinds


def is_of_scipy(op: Any) -> bool:
    """Whether an op is scipy's alone, which all run in the same way: Python calls it in between."""
    return op.loop == (None, "scipy computes it")


OF_SCIPY = [op for op in LOOPED if is_of_scipy(op)]
COMPILED = [op for op in LOOPED if not is_of_scipy(op) or op in OF_SCIPY[::16]]


@each(LOOPED)
@pytest.mark.parametrize("symbolic", [False, True], ids=["numbers", "names"])
def test_loops_as_plain_python_equal_numpy(op: Any, symbolic: bool) -> None:
    for case in in_turns(calls_of(op, DTYPES[:1] if symbolic else DTYPES[:2] if is_of_scipy(op) else DTYPES)):
        found = lowered(op, case, symbolic)
        if found is not None:
            check(plain(found[1]), found[0])


def in_turns(calls: Iterable[Any]) -> Iterator[Any]:
    """Each call in f8; in other dtypes the first, and of the rest every other one, so that each is taken in some."""
    before = Counter[Any]()
    for case in calls:
        dtypes = tuple(np.asarray(x).dtype for x in case[0])
        if ALL or DTYPES[0] in dtypes or not before[dtypes] or (before[dtypes] + list(before).index(dtypes)) % 2:
            yield case
        before[dtypes] += 1


# Ops are compiled ten at a time: a module less costs as much as two loops.
GROUPS = [COMPILED[k:k + 10] for k in range(0, len(COMPILED), 10)]


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: "-".join(op.name for op in group))
def test_loops_compiled_equal_numpy(group: list[Any]) -> None:
    samples = {op.name: samples_of(op) for op in group}
    try:
        check_compiled([each for found in samples.values() for each in found])
    except Exception:
        for name, found in samples.items():                # which one it is
            print("compiled alone:", name)
            check_compiled(found)
        raise


def check_compiled(samples: list[Any]) -> None:
    if samples:
        made = together(samples)
        check(compiled(kernel_of(made)), made)


def samples_of(op: Any) -> list[Any]:
    """What is compiled of an op."""
    cases = few(op)
    if op.elementwise:
        cases = in_rows([*cases, *edges(op)])
    found = [lowered(op, case, False) for case in cases]
    return [each[0] for each in found if each is not None]


def compiled_dtypes(op: Any) -> tuple[str, ...]:
    """Compiling takes long: f8, and for every other op that computes one more, in turns; for others one of another
    size. What a library computes, Python calls in between: f8 is enough."""
    computes, turn = op.elementwise or op.step is not None or op.contraction is not None, LOOPED.index(op)
    if not ALL and (isinstance(op.loop, tuple) or computes and turn % 2):
        return DTYPES[:1]
    return ("f8", DTYPES[1:][turn % len(DTYPES[1:])]) if computes else ("f8", "i4")


def few(op: Any) -> list[Any]:
    """A call with arrays for every dtype that is compiled, and for f8 one of Python numbers as well. Of the many
    ways to pick places there are two for each dtype."""
    chosen: dict[Any, list[Any]] = {}
    for case in calls_of(op, compiled_dtypes(op)):
        dtypes = tuple(np.asarray(x).dtype for x in (case[0][:1] if op.name in PLACES else case[0]))
        arrays = any(map(np.ndim, case[0]))
        if arrays or not case[0] or DTYPES[0] in dtypes:
            chosen.setdefault((dtypes, arrays), []).append(case)
    return [case for cases in chosen.values() for case in cases[:2 if op.name in PLACES else 1]]


def in_rows(cases: list[Any]) -> list[Any]:
    """Cases of an elementwise op, with those that have arrays of the same dtypes as one: a loop less to compile."""
    joined: dict[Any, list[Any]] = {}
    for operands, attrs in cases:
        arrays = [isinstance(x, np.ndarray) and x.ndim > 0 for x in operands]
        kind = tuple(np.asarray(x).dtype for x in operands) if all(arrays) else len(joined)
        joined.setdefault((kind, repr(attrs)), []).append((np.broadcast_arrays(*operands), attrs, operands))
    return [(tuple(np.concatenate([np.ravel(x[k]) for x, _, _ in same]) for k in range(len(same[0][2]))), same[0][1])
            if len(same) > 1 else (same[0][2], same[0][1]) for same in joined.values()]


def edges(op: Any) -> list[Any]:
    """The numbers where care is needed, of the dtypes that are compiled, and complex ones where they have a form of
    their own."""
    own = ("c16",) if isinstance(op.loop, dict) and any("c" in kinds for kinds in op.loop) else ()
    return [case for case in edges_of(op) if case[0][0].dtype.str[1:] in (*compiled_dtypes(op), *own)]
