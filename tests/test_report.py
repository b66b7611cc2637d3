"""Reports: what became one nest, what it costs, and what its machine code is."""

from __future__ import annotations

import io
from collections import Counter
from typing import Any

import numpy as np
import pytest

from transformer import config, grad, jit
from transformer.run.compiling.assembly import arithmetic
from transformer.run.report import Report

pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "threads", 1)


def heat(u, c):
    for _ in range(10):
        u = np.concatenate([u[:1], u[1:-1] + c * (u[2:] - 2 * u[1:-1] + u[:-2]), u[-1:]])
    return u


def scores(x, w, b):
    h = np.tanh(x @ w + b)
    s = np.exp(h - 1.0)
    return s / np.sum(s)


SCORES = jit(scores)


def solved(a, b):
    x = np.linalg.solve(a @ a.T, b)
    print("solved", x.shape)
    return np.sum(x * x)


def line_of(function: Any, offset: int) -> int:
    return int(function.__code__.co_firstlineno) + offset


def lines(row: Any) -> set[int]:
    return {origin.line for origin in row.origins}


def test_nests_in_a_loop_of_the_program() -> None:
    report = jit(heat).report(np.ones(50), 0.1)
    loop, nest = report.rows
    assert (loop.text, loop.depth, loop.is_nest) == ("for i in range(10)", 0, False)
    assert (nest.text, nest.depth, nest.is_nest) == ("for j in range(n - 2)", 1, True)
    assert lines(nest) == {line_of(heat, 2)}
    assert nest.cost.operations == 10 * 48 * 5
    assert nest.cost.read == 10 * 8 * 50 and nest.cost.written == 10 * 8 * 48 and report.cost.known


def test_lines_that_were_fused() -> None:
    x, w, b = np.ones((40, 20)), np.ones(20), np.ones(40)
    report = SCORES.report(x, w, b)
    first = next(row for row in report.rows if row.is_nest)
    assert lines(first) == {line_of(scores, 1), line_of(scores, 2), line_of(scores, 3)}
    assert first.cost.read == 8 * (40 * 20 + 20 + 40)
    assert report.file == __file__
    start = line_of(scores, 1)
    assert f"  {start}-{start + 2}  " in str(report)


def test_machine_code_of_each_nest() -> None:
    x, w, b = np.ones((40, 20)), np.ones(20), np.ones(40)
    for compiled, args in ((SCORES, (x, w, b)), (jit(heat), (np.ones(50), 0.1)),
                           (jit(grad(lambda w, x: np.sum(np.exp(x @ w)))), (w, x))):
        report = compiled.report(*args)
        assert report.told_apart
        nests = [row for row in report.rows if row.is_nest and row.cost.operations]
        assert all(row.arithmetic is not None and row.arithmetic.vectorised for row in nests)
        assert report.arithmetic.packed.total() > 5
        assert report.elsewhere.total < report.arithmetic.total // 4


def test_loops_that_run_one_number_at_a_time() -> None:
    def prefix(x):
        y = np.empty(len(x))
        y[0] = x[0]
        for i in range(1, len(x)):
            y[i] = np.tanh(y[i - 1]) + x[i]
        return y

    report = jit(prefix).report(np.ones(30))
    loop = next(row for row in report.rows if row.arithmetic is not None)
    assert loop.arithmetic.loops and not loop.arithmetic.vectorised and loop.cost.operations >= 2 * 29


def test_what_libraries_and_python_do() -> None:
    report = jit(solved).report(np.eye(8) + 0.1, np.ones(8))
    texts = [row.text for row in report.rows]
    assert texts[:3] == ["product of matrices, in BLAS", "np.linalg.solve, in Python", "print, in Python"]
    assert report.rows[0].cost.operations == 2 * 8 ** 3 and report.rows[0].cost.read == 8 * 64
    assert lines(report.rows[1]) == {line_of(solved, 1)}
    assert "operations at least" in str(report)


def test_loops_of_unknown_length() -> None:
    def halved(x):
        while np.max(x) > 1.0:
            x = x * 0.5
        return x

    report = jit(halved).report(np.full(20, 30.0))
    assert not report.cost.known and any(row.text.startswith("while ") for row in report.rows)


def test_donations() -> None:
    compiled = jit(lambda u, v, w: (u + v[::-1], np.sum(w)), donate=("u", "v"))
    report = compiled.report(np.ones(5), np.ones(5), np.ones(9))
    assert report.in_place == ("u",) and report.not_used == ("v",)
    assert "u is written in place" in str(report) and "v is donated, but" in str(report)


def test_what_runs_as_numpy() -> None:
    report = jit(lambda a: np.sum(np.sort_complex(a).real), fallback=True).report(np.eye(3))
    assert report.refusal is not None and "sort_complex" in str(report)
    assert str(report).startswith("<lambda> runs as NumPy")


@pytest.mark.parametrize("width", [72, 80, 100])
def test_text_fits(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    report = SCORES.report(np.ones((40, 20)), np.ones(20), np.ones(40))
    text = report.text(width=width)
    assert max(map(len, text.splitlines())) <= width and "\033" not in text
    head, *rows = [line for line in text.splitlines() if line.startswith("  ")]
    end = head.index("reads") + len("reads")
    assert all(row[end - 1] != " " and row[end:end + 2] == "  " for row in rows if "0 B" in row or " kB" in row)
    monkeypatch.setenv("COLUMNS", str(width))
    assert str(report) == text


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colours_are_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    report = jit(heat).report(np.ones(50), 0.1)
    shown, plain, asked = Terminal(), io.StringIO(), Terminal()
    report.show(shown)
    report.show(plain)
    monkeypatch.setenv("NO_COLOR", "1")
    report.show(asked)
    assert "\033[" in shown.getvalue() and "\033" not in plain.getvalue() + asked.getvalue()
    assert plain.getvalue() == str(report) + "\n"


# -- assembly ---------------------------------------------------------------------------------------

X86 = '''
\t.file\t1 "/cache" "some_module.py"
\t.file\t2 "/numba" "arrayobj.py"
kernel:
\t.loc\t1 10 1
\tvaddsd\t%xmm0, %xmm1, %xmm1
.LBB0_1:
\t.loc\t1 12 1
\tvmovupd\t(%rax), %zmm0
\tvaddpd\t%zmm0, %zmm0, %zmm1
\tvfmadd213pd\t8(%rax), %zmm0, %zmm1
\t.loc\t2 500 1
\tvmulpd\t%ymm0, %ymm0, %ymm1
\tjne\t.LBB0_1
.LBB0_2:
\t.loc\t1 12 1
\tvaddsd\t(%rax), %xmm0, %xmm0
\tjb\t.LBB0_2
.LBB0_3:
\t.loc\t1 20 1
\tdecq\t%rax
\tjne\t.LBB0_3
\tjmp\t.LBB0_9
.LBB0_9:
\tretq
task_fill_y.3:
\tmulsd\t%xmm0, %xmm1
'''
ARM = '''
kernel:
\t.loc\t1 7 1
.LBB0_1:
\tldp\tq0, q1, [x8]
\tfadd\tv0.2d, v0.2d, v1.2d
\tfmla\tv2.2d, v0.2d, v1.2d
\tfmul\td3, d3, d4
\tb.ne\t.LBB0_1
\tcbz\tx9, .LBB0_1
'''


def test_assembly_of_x86() -> None:
    found = arithmetic(X86, "some_module.py", {10: "head", 12: "nest"}.get,
                       lambda name: "task" if name.startswith("task_fill_y") else None)
    assert found["head"].single == 1 and not found["head"].loops
    assert found["nest"].packed == Counter({512: 2, 256: 1}) and found["nest"].single == 1
    assert (found["nest"].vectorised, found["nest"].loops) == (1, 2)
    assert found["task"].single == 1 and None not in found


def test_assembly_of_arm() -> None:
    found = arithmetic(ARM, "", lambda line: None, lambda name: None)[None]
    assert found.packed == Counter({128: 2}) and found.single == 1 and found.vectorised >= 1


def test_an_empty_report() -> None:
    assert str(Report("f")).startswith("f: 0 nests, 0 of 0 inner loops")
