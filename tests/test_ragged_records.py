"""What loops in loops record as often as numbers say: the rows of all lie one behind the other."""

from __future__ import annotations

import numpy as np
import pytest
from corpus import ALL
from corpus.ragged import line_searches, searches_in_branches, sifted_down, whiles_in_whiles
from loop_cases import plain
from lowered import as_loops, called, generated
from memory_peak import peak
from test_lowered_programs import check, transformed

from transformer import checkpoint_loop, grad, jit, jvp
from transformer.core.errors import NotSupported
from transformer.lower.cuda.lowering import lower_for_gpu
from transformer.lower.lowering import lower

LIMITS = np.array([0.5, 2.0, 3.0, 0.1, 4.0])


def climbs(x):
    """The first limits may be reached already: the inner loop does not run then."""
    t = 1.0
    for limit in x:
        while t < limit:
            t = t + 0.3 * np.sin(t) ** 2 * limit + 0.1
        t = t * 0.5
    return t


def climbed(t, limit):
    while t < limit:
        t = t + 0.3 * np.sin(t) ** 2 * limit + 0.1
    return t


def climbs_of_helpers(x):
    t = x[0] * 0.5
    for limit in x:
        t = 0.5 * climbed(t, limit) + 0.1 * climbed(0.3 * t, 1.0)
    return t


def climbs_in_blocks(x):
    t, k = x[0] * 0.5, 0
    with checkpoint_loop():
        while k < len(x):
            while t < x[k]:
                t = t + 0.3 * np.sin(t) ** 2 * x[k] + 0.1
            t, k = t * 0.5 * np.cos(t), k + 1
    return t


def climbs_in_counted_blocks(x):
    t = x[0] * 0.5
    with checkpoint_loop():
        for limit in x:
            while t < limit:
                t = t + 0.3 * np.sin(t) ** 2 * limit + 0.1
            t = t * 0.5 * np.cos(t)
    return t


def truths_and_rows(x):
    """Records of truth values, rows and numbers in one loop."""
    v, s = x * 1.0, 1.0
    for i in range(3):
        while np.sum(v * v) < 10.0 * (i + 1):
            if s < 1.5:
                s = s + 0.5 * v[0] * s
            else:
                s = s * 0.4
            v = v + 0.5 * np.sin(v) ** 2 * x + 0.1 * s
        v = v * 0.9
    return np.sum(v * v) * s


def counts_of_arguments(x, counts):
    t = x[0]
    for k in range(len(counts)):
        for _ in range(counts[k]):
            t = np.sin(t) * t + 0.5 * x[1]
    return t


def until_a_break(x):
    t = x[0] * 1.0
    while t < 20:
        for j in range(5):
            if t * (j + 1) > 30:
                break
            t = t + 0.1 * t * np.sin(t) ** 2 + 0.1
        t = t + x[1]
    return t


def only_if_asked(x, k):
    t = x[0]
    if k > 2:
        while t < x[1]:
            t = t + 0.3 * np.sin(t) ** 2 * x[1] + 0.1
    return t * t


CASES = [
    (climbs, (LIMITS,)),
    (climbs, (LIMITS[:3] * 0.1,)),
    (climbs, (LIMITS[:0],)),
    (climbs_of_helpers, (LIMITS,)),
    (climbs_in_blocks, (np.tile(LIMITS, 3),)),
    (climbs_in_counted_blocks, (np.tile(LIMITS, 3),)),
    (truths_and_rows, (np.array([1.0, 0.3]),)),
    (counts_of_arguments, (np.array([0.3, 0.8]), np.array([3, 0, -2, 5, 1]))),
    (until_a_break, (np.array([1.2, 1.0]),)),
    (only_if_asked, (np.array([0.5, 3.0]), 3)),
    (only_if_asked, (np.array([0.5, 3.0]), 1)),
]


@pytest.mark.parametrize("threads", [False, True])
@pytest.mark.parametrize("function, arguments", CASES)
def test_values(function, arguments, threads):
    got = as_loops(grad(function), function, arguments, threads)
    np.testing.assert_allclose(got, grad(function)(*arguments), rtol=1e-12)


def of_gradient(x):
    return np.sum(grad(truths_and_rows)(x))


def of_gradient_of_whiles(x):
    return grad(whiles_in_whiles)(x)


@pytest.mark.parametrize("function, argument", [(of_gradient, np.array([1.0, 0.3])), (of_gradient_of_whiles, 1.2)])
def test_second_order(function, argument):
    got = as_loops(grad(function), function, (argument,))
    np.testing.assert_allclose(got, grad(function)(argument), rtol=1e-11)


@pytest.mark.parametrize("function, one, other", [
    (climbs, LIMITS, LIMITS[::-1].copy()),
    (climbs, LIMITS.astype(np.float32), LIMITS[:0].astype(np.float32)),
    (sifted_down, np.array([0.5, 1.2, 0.9, 1.4, 0.3, 1.7]), np.array([1.7, 1.2, 0.9, 0.4, 0.3, 0.1])),
    (whiles_in_whiles, 1.2, 10.0),
    (searches_in_branches, LIMITS, LIMITS * 0.2),
])
def test_compiled(function, one, other):
    """One kernel for different numbers of iterations, none among them."""
    compiled = jit(grad(function))
    for argument in (one, other):
        rtol = 1e-5 if getattr(argument, "dtype", None) == np.float32 else 1e-12
        np.testing.assert_allclose(compiled(argument), grad(function)(argument), rtol=rtol)


def test_line_searches():
    arguments = np.array([1.3, -0.4]), np.array([[0.2, 0.5], [1.1, -0.3]])
    np.testing.assert_allclose(as_loops(grad(line_searches), line_searches, arguments),
                               grad(line_searches)(*arguments), rtol=1e-12)


def halvings(x):
    total = 0.0
    for k in range(len(x)):
        total = total * 0.5 + x[k]
        while total > 1.0:
            total = total * 0.99 + 0.001 * np.sin(total)
    return total


def test_memory_grows_with_the_rows():
    """100 iterations, of which one has about 1000 inner ones: 100 * 1000 numbers would be 800 kB."""
    x = np.full(100, 0.1)
    x[50] = 20000.0
    made = generated(grad(halvings), halvings, (x,))
    kernel = plain(lower(made.function, made.reading.assumptions))
    assert 1000 * 8 < peak(called, made, kernel, halvings, (x,)) < 100_000


def rows_of_numbers(x, counts):
    t = x[0]
    for count in counts:
        v = np.ones(count) * t
        while np.sum(v) + t < 9.0:
            v = v + 0.3 * np.sin(v) ** 2 + 0.1
            t = t + 0.1 * np.sum(v) + 0.1
    return t


def test_rows_of_other_lengths_are_in_a_list():
    """An array of numbers says which item of the list a row is."""
    arguments = LIMITS, np.array([2, 3])
    expected = grad(rows_of_numbers)(*arguments)
    np.testing.assert_allclose(as_loops(grad(rows_of_numbers), rows_of_numbers, arguments), expected, rtol=1e-12)
    compiled = jit(grad(rows_of_numbers))
    np.testing.assert_allclose(compiled(*arguments), expected, rtol=1e-12)
    assert "_kept.append(" in compiled.source
    np.testing.assert_allclose(compiled(LIMITS, np.array([4, 1])), grad(rows_of_numbers)(LIMITS, np.array([4, 1])),
                               rtol=1e-12)


def test_rows_on_gpus_are_refused():
    made = generated(grad(rows_of_numbers), rows_of_numbers, (LIMITS, np.array([2, 3])))
    with pytest.raises(NotSupported, match="recording arrays of a size that differs") as found:
        lower_for_gpu(made.function, made.reading.assumptions)
    assert found.value.origin is not None


ROWS = [program for program in ALL if program.name in {
    "hessian_of_mask_twice", "windows_of_two", "part_of_a_branch_in_a_branch", "gradient_of_masks_in_a_branch",
    "branch_in_branch"}]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", ROWS, ids=lambda program: program.name)
def test_rows_of_masks_and_branches_in_branches(program):
    check(transformed(program, 1), program, program.example(np.random.default_rng(0)), compiled=False)


def seen_in_parts(F, ys, observed):
    m, total = np.zeros(len(F)), 0.0
    for t in range(len(ys)):
        seen = observed[t]
        r = ys[t, seen] - F[seen] @ m
        m = m + np.ones((len(r), len(F))).T @ r
        total += r @ np.linalg.solve(F[np.ix_(seen, seen)], r)
    return total


@pytest.mark.parametrize("size", [3, 20])
def test_rows_whose_lengths_the_reverse_loop_computes(size):
    """The row is brought behind the number that says how long it is."""
    rng = np.random.default_rng(0)
    arguments = 3 * np.eye(size), rng.standard_normal((4, size)), rng.uniform(size=(4, size)) > 0.5
    expected = grad(seen_in_parts, (0, 1))(*arguments)
    for ours, theirs in zip(jit(grad(seen_in_parts, (0, 1)))(*arguments), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_rows_whose_lengths_a_branch_knew():
    """They lie in a list; a copy of one, a row for every component, is as long as it was recorded to be."""
    program = next(program for program in ALL if program.name == "partly_observed")
    derivative, arguments = transformed(program, 1), program.example(np.random.default_rng(0))
    for ours, theirs in zip(jit(derivative)(*arguments), derivative(*arguments), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def attended_so_far(W, xs):
    """Attention to what came before, kept in place: the loop carries how much that is."""
    n, d = xs.shape
    kept, length, h = np.zeros((n, d)), 0, np.zeros(d)
    for x in xs:
        kept[length] = (x + h) @ W
        length += 1
        score = kept[:length] @ (x + h)
        h = np.exp(score - score.max()) @ kept[:length]
    return np.sum(h)


def test_lengths_that_the_forward_loop_carried():
    """What the reverse loop computes again is as long as what it has, not as what the other loop carried."""
    arguments = np.random.default_rng(0).standard_normal((2, 2)), np.random.default_rng(1).standard_normal((3, 2))

    def along(W, xs):
        return jvp(grad(attended_so_far, (0, 1)), (W, xs), (W, xs))[1]

    for ours, theirs in zip(jit(along)(*arguments), along(*arguments), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10)


def rows_up_to_all(x):
    t = 1.0
    for limit in x:
        v = x[x > t] * t
        while np.sum(v) + t < 3 * limit:
            v = v + 0.3 * np.sin(v) ** 2
            t = t + 0.1 * np.sum(v) + 0.1
    return t


def test_rows_have_room_for_the_longest():
    got = as_loops(grad(rows_up_to_all), rows_up_to_all, (LIMITS,))
    np.testing.assert_allclose(got, grad(rows_up_to_all)(LIMITS), rtol=1e-12)


def halved(x, k):
    return x * 0.5 if k <= 0 else x * halved(np.sin(x), k - 1)


def recursion_in_a_branch_of_a_loop(x, n):
    t = x
    for _ in range(n):
        if t > 0.3:
            t = halved(t, 2)
        else:
            t = t * 1.5
    return t


def recursion_in_a_branch_of_a_while_loop(x, n):
    t = x * n
    while t > 0.3:
        if t > 0.5:
            t = 0.5 * halved(t, 2)
        else:
            t = t * 0.9
    return t


@pytest.mark.parametrize("function", [recursion_in_a_branch_of_a_loop, recursion_in_a_branch_of_a_while_loop])
def test_what_calls_save_in_branches_of_loops(function):
    """It is no sequence of rows, although a branch hands it on."""
    np.testing.assert_allclose(as_loops(grad(function), function, (0.8, 3)), grad(function)(0.8, 3), rtol=1e-12)


def swept_in_blocks(a):
    """Rows that are shorter for each of the outer iterations; their lists are made in a loop that runs these again."""
    a = a.copy()
    with checkpoint_loop(blocks=2):
        for i in range(a.shape[0]):
            if a[i, 0] > 0:
                a[i] = 0.5 * a[i, ::-1]
            for j in range(i + 1, a.shape[0]):
                a[j, i:] -= a[j, i] * np.sin(a[i, i:])
    return np.sum(a ** 2)


def test_rows_of_loops_that_run_again_have_the_sizes_of_theirs() -> None:
    derived, a = grad(swept_in_blocks), np.random.default_rng(0).normal(size=(5, 5))
    made = generated(derived, swept_in_blocks, (a,))
    kernel = plain(lower(made.function, made.reading.assumptions))
    np.testing.assert_allclose(called(made, kernel, swept_in_blocks, (a,)), derived(a), 1e-11, 1e-13)
