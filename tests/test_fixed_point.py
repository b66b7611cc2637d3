"""Fixed points: derivatives of the solution against differences, memory, source, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from doc_blocks import FOLDER, blocks, run_block
from memory_peak import peak

from transformer import BadArgument, NotSupported, check_grads, fixed_point, grad, jvp

RNG = np.random.default_rng(11)
W, B = 0.3 * RNG.normal(size=(3, 3)), RNG.normal(size=3)
OUTSIDE = np.array([0.1, 0.2, 0.3])
TIGHT = 1e-13


def root(a):
    return fixed_point(lambda x, a: (x + a / x) / 2, 1.0, a, tolerance=TIGHT)


def equilibrium(w, b):
    x = fixed_point(lambda x, w, b: np.tanh(w @ x + b), np.zeros(len(b)), w, b, tolerance=TIGHT)
    return np.sum(x**2)


def with_tree(p, x):
    def step(y, p, x):
        return np.tanh(p["w"] @ y + p["b"]) + 0.1 * x[0] * x[1]

    return np.sum(fixed_point(step, np.zeros(3), p, x, tolerance=TIGHT) ** 2)


def in_a_loop(w, x):
    total = 0.0
    for _ in range(3):
        x = fixed_point(lambda y, w, x: np.tanh(w @ y + x), x, w, x, tolerance=TIGHT)
        total += np.sum(x)
    return total


def in_a_branch(a):
    return a * fixed_point(lambda x, a: np.cos(a * x), 0.5, a, tolerance=TIGHT) if a > 0.5 else a


def with_a_loop(a, n):
    def step(x, a, n):
        for _ in range(n):
            x = 0.5 * np.sin(a * x) + 0.3
        return x

    return fixed_point(step, 0.1, a, n, tolerance=TIGHT)


def inside_another(a):
    def step(x, a):
        y = fixed_point(lambda y, x, a: 0.5 * np.cos(y) + 0.1 * x * a, 0.0, x, a, tolerance=TIGHT)
        return 0.3 * np.sin(y * x) + a

    return fixed_point(step, 0.0, a, tolerance=TIGHT)


def with_an_array_from_outside(b):
    return np.sum(fixed_point(lambda x, b: OUTSIDE * np.cos(x) + b, np.zeros(3), b, tolerance=TIGHT))


def with_star_arguments(a, c):
    return np.sum(fixed_point(lambda x, *p: 0.5 * np.cos(x * p[0]) + p[1], np.zeros(2), a, c, tolerance=TIGHT))


CASES = {
    "number": (root, (2.0,)),
    "array": (equilibrium, (W, B)),
    "another size": (equilibrium, (W[:2, :2], B[:2])),
    "tree": (with_tree, ({"w": W, "b": B}, (0.3, 0.8))),
    "in a loop": (in_a_loop, (W, B)),
    "in a branch": (in_a_branch, (0.7,)),
    "not reached": (in_a_branch, (0.2,)),
    "loop in the step": (with_a_loop, (0.8, 3)),
    "one in another": (inside_another, (0.8,)),
    "outside": (with_an_array_from_outside, (B,)),
    "star arguments": (with_star_arguments, (0.8, 0.3)),
}


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name):
    function, args = CASES[name]
    check_grads(function, args, order=2)


def test_third_order():
    check_grads(root, (2.0,), order=3)
    a = 1.7
    assert np.isclose(grad(grad(grad(root)))(a), 0.375 * a**-2.5)


def test_single_precision():
    def f(a):
        return np.sum(fixed_point(lambda x, a: np.float32(0.5) * np.cos(x) * a, a, a, tolerance=1e-6))

    a = np.linspace(0.1, 1, 4, dtype=np.float32)
    found = grad(f)(a)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, grad(f)(a.astype(float)), rtol=1e-4)


def test_the_start_carries_no_derivative():
    def f(start, a):
        return fixed_point(lambda x, a: 0.5 * np.cos(x) * a, start, a)

    assert grad(f, (0, 1))(0.3, 0.8)[0] == 0.0
    assert jvp(f, (0.3, 0.8), (1.0, 0.0))[1] == 0.0


def test_a_small_cotangent_is_as_exact_as_a_large_one():
    def f(w, b, scale):
        return scale * equilibrium(w, b)

    np.testing.assert_allclose(grad(f)(W, B, 1e-20) * 1e20, grad(f)(W, B, 1.0), rtol=1e-9)
    assert np.all(grad(f)(W, B, 0.0) == 0)


def test_nothing_is_kept_of_the_way():
    def slow(a):
        return np.sum(fixed_point(lambda x, a: 0.95 * np.cos(x) * a + 0.04 * x, np.zeros_like(a), a))

    a = np.full(10_000, 1.0)
    COUNTED.clear()
    fixed_point(lambda x, a: counted(0.95 * np.cos(x) * a + 0.04 * x), np.zeros(3), a[:3])
    steps = len(COUNTED)
    assert steps > 40 and peak(grad(slow), a) < 12 * a.nbytes


COUNTED = []


def counted(x):
    COUNTED.append(x)
    return x


def test_the_source_is_a_loop_in_plain_numpy():
    source = grad(equilibrium).source_for(W, B)
    assert source.count("while np.max(np.abs(") == 2 and source.count("# reverse") == 1
    assert "_k" not in source


def test_the_step_prints_on_the_way_only(capsys):
    def f(a):
        def step(x, a):
            print("step")
            return 0.5 * np.cos(x) * a

        return fixed_point(step, 0.0, a, tolerance=0.3)

    f(0.7)
    said = capsys.readouterr().out
    grad(f)(0.7)
    assert capsys.readouterr().out == said


def test_what_does_not_converge_raises():
    def f(a):
        return fixed_point(lambda x, a: a - x, 1.0, a)

    for function in (f, grad(f)):
        with pytest.raises(RuntimeError, match="no convergence in 1000 steps"):
            function(0.8)

    def turning(a):                     # it starts at the solution, but no step would come nearer to it
        return fixed_point(lambda x, a: a - x, a / 2, a, most=20)

    assert turning(0.8) == 0.4
    with pytest.raises(RuntimeError, match="no convergence of a derivative in 20 steps"):
        grad(turning)(0.8)


def test_variables_around_are_refused():
    def captured(a, b):
        return fixed_point(lambda x, b: a * np.cos(x) + b, 0.5, b)

    def captured_alone(a):
        return fixed_point(lambda x: a * np.cos(x), 0.5)

    for function, args in ((captured, (0.3, 0.1)), (captured_alone, (0.3,))):
        with pytest.raises(NotSupported, match="the step of fixed_point uses `a`") as caught:
            grad(function)(*args)
        assert "fixed_point(step, start, a)" in str(caught.value)


@pytest.mark.parametrize("options", [{"tolerance": 0.0}, {"tolerance": "1"}, {"most": 0}, {"most": 2.0},
                                     {"most": True}])
def test_options_that_make_no_sense(options):
    def f(a):
        return fixed_point(lambda x, a: 0.5 * np.cos(x) * a, 0.0, a, **options)

    for function in (f, grad(f)):
        with pytest.raises(BadArgument, match="is no"):
            function(0.8)


PAGE = (FOLDER / "hints.md").read_text()


@pytest.mark.parametrize("source", blocks(PAGE, "python"), ids=range(len(blocks(PAGE, "python"))))
def test_the_page_runs(source, capsys):
    run_block(source, f"page_{hash(source)}.py")
    printed = capsys.readouterr().out.strip()
    assert not printed or printed in PAGE
