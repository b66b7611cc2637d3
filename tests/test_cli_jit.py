"""`transformer jit` and `transformer bench`."""

from __future__ import annotations

import re
from pathlib import Path

import gpu_simulator
import numpy as np
import pytest
from importing import imported

from transformer import grad
from transformer.__main__ import ensure_command_line

ensure_command_line()
from transformer_cli import bench  # noqa: E402
from transformer_cli.main import main  # noqa: E402

MODEL = """
import numpy as np

TABLE = np.array([1.0, 2.0, 3.0])

def loss(w: "f64[d]", x: "f64[n,d]", y: "f64[n]"):
    return np.mean((np.tanh(x @ w) - y) ** 2)

def picked(x: "f64[n]", i: "i64[m]"):
    return x[i] * 2

def stepped(x, by, kind="up"):
    x[1:] += by if kind == "up" else -by
    return np.sum(x)

def with_table(x):
    return x * TABLE

def sorted_sum(x):
    return np.sum(np.sort(x) * x)

def example():
    return np.arange(3.0), np.ones((5, 3)), np.ones(5)

def stepping():
    return np.arange(4.0), 0.5

def three():
    return np.arange(3.0)

def wrong():
    return np.ones(2), np.ones((5, 3)), np.ones(5)
"""


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "model.py"
    path.write_text(MODEL)
    return path


def test_a_gradient_as_a_module(model: Path) -> None:
    assert main(["jit", "model.py:loss", "--mode", "value_and_grad", "--wrt", "w", "-o", "out.py"]) == 0
    text = Path("out.py").read_text()
    found = set(re.findall(r"^(?:import|from) (\w+)", text, re.M))
    assert found <= {"math", "numpy", "numba"} and {"numpy", "numba"} <= found
    assert "Value and gradient with respect to w of `loss`" in text and "@njit(cache=True" in text
    made, original = imported(Path("out.py")), imported(model)
    w, x, y = original.example()
    value, dw = made.loss_value_and_grad(w, x, y)
    assert value == pytest.approx(original.loss(w, x, y), rel=1e-13)
    for k in range(3):
        moved = [w + s * 1e-6 * np.eye(3)[k] for s in (1, -1)]
        assert dw[k] == pytest.approx((original.loss(moved[0], x, y) - original.loss(moved[1], x, y)) / 2e-6, abs=1e-7)
    for wrong in ((w, x, y[:1]), (w[:2], x, y), (np.ones(4), x, y)):
        with pytest.raises(ValueError, match="must"):
            made.loss_value_and_grad(*wrong)
    with pytest.raises(TypeError, match="w, x and y must be of float64, not float32, float64 and int64"):
        made.loss_value_and_grad(w.astype(np.float32), x, y.astype(int))


def test_errors_in_one_piece(model: Path) -> None:
    assert main(["jit", "model.py:picked", "-o", "out.py"]) == 0
    picked = imported(Path("out.py")).picked
    np.testing.assert_array_equal(picked(np.arange(3.0), np.array([2, -1])), [4.0, 4.0])
    with pytest.raises(IndexError, match="^index 3 is out of bounds for axis 0 with size 3$"):
        picked(np.arange(3.0), np.array([0, 3]))


def test_kernels_for_gpus_as_a_module(model: Path) -> None:
    command = ["jit", "model.py:loss", "--mode", "grad", "--wrt", "w", "--target", "cuda", "-o", "out.py"]
    assert main(command) == 0
    text = Path("out.py").read_text()
    found = set(re.findall(r"^(?:import|from) (\w+)", text, re.M))
    assert found <= {"math", "cupy", "numpy", "numba", "llvmlite"} and {"cupy", "numpy", "numba"} <= found
    assert "@cuda.jit" in text and "Gradient" in text.split("def ")[0]
    w, x, y = imported(model).example()
    found, wanted = gpu_simulator.namespace(text, {})["loss_grad"](w, x, y), grad(imported(model).loss)(w, x, y)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    for wrong in ((w, x, y[:1]), (w[:2], x, y)):
        with pytest.raises(ValueError, match="must"):
            gpu_simulator.namespace(text, {})["loss_grad"](*wrong)


def test_show_goes_on_to_the_loops(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "model.py:loss", "--wrt", "w", "--loops", "--stage", "loops"]) == 0
    out = capsys.readouterr().out
    assert "for i in range(" in out and "def loss_grad_kernel(" in out


def test_functions_that_write(model: Path) -> None:
    assert main(["jit", "model.py:stepped", "--example", "stepping", "-o", "out.py"]) == 0
    made, x = imported(Path("out.py")), np.arange(4.0)
    assert made.stepped(x, 0.5) == 7.5
    np.testing.assert_array_equal(x, [0.0, 1.5, 2.5, 3.5])
    with pytest.raises(ValueError, match="kind"):
        made.stepped(x, 0.5, "down")


def test_arrays_from_outside_become_arguments(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["jit", "model.py:with_table", "--types", "x: f32[3]"]) == 0
    out = capsys.readouterr().out
    assert "def with_table(x, TABLE):" in out and "is an argument here" in out


def test_refusals(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["jit", "model.py:loss", "--wrt", "w"]) == 2
    assert "--mode" in capsys.readouterr().err
    assert main(["jit", "model.py:loss", "--types", "w: f64["]) == 2
    assert main(["bench", "model.py:loss", "--example", "wrong"]) == 2
    assert "fails at the example" in capsys.readouterr().err
    assert main(["bench", "model.py:loss", "--example", "example", "--seconds", "0"]) == 2


def test_bench_compares_and_times(model: Path, capsys: pytest.CaptureFixture[str],
                                  monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numba.njit", lambda function: function)         # is not what is tested
    assert main(["bench", "model.py:stepped", "--example", "stepping", "--seconds", "0.05"]) == 0
    title, head, *rows = capsys.readouterr().out.splitlines()
    assert title == "stepped" and head.split() == ["first", "median", "minimum", "x", "NumPy"]
    assert [row.split("  ")[0] for row in rows] == ["NumPy", "jit", "numba on the original"]
    assert all("█" in row for row in rows)


def test_bench_tells_what_takes_no_part(model: Path, capsys: pytest.CaptureFixture[str],
                                        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numba.njit", lambda function: lambda x: function(x) + 1)
    assert main(["bench", "model.py:with_table", "--example", "three", "--seconds", "0.05"]) == 0
    assert "numba on the original: gives another result" in capsys.readouterr().out


def test_bench_draws(model: Path) -> None:
    pytest.importorskip("matplotlib")
    arguments = ["--example", "example", "--mode", "grad", "--wrt", "w", "--seconds", "0.05", "--plot", "bars.png"]
    assert main(["bench", "model.py:loss", *arguments]) == 0
    assert Path("bars.png").read_bytes().startswith(b"\x89PNG")


def test_progress_is_for_terminals() -> None:
    class Terminal(list):                                                # type: ignore[type-arg]
        write = list.append
        flush = staticmethod(lambda: None)

        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    draw = bench.progress(terminal)
    draw(0.5)
    draw(1.0)
    assert terminal[0] == "\r[" + "#" * 15 + "." * 15 + "]" and terminal[1].endswith("\r")
