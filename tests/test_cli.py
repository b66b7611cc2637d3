"""The command line: what it writes, which files it leaves alone, what its help says."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_model import MODEL, ROOT, TYPES, model, refused, run, write

import transformer
from transformer.__main__ import ensure_command_line

ensure_command_line()
from transformer_cli import main as command_line  # noqa: E402
from transformer_cli.main import COMMANDS, main  # noqa: E402

pytestmark = pytest.mark.usefixtures("model_folder")


def differences(function: Callable[..., Any], args: tuple[Any, ...], k: int) -> np.ndarray:
    """The gradient of a function by central differences."""
    step, array = 1e-6, np.asarray(args[k], float)
    gradient = np.zeros(array.shape)
    for index in np.ndindex(array.shape):
        unit = np.zeros(array.shape)
        unit[index] = step
        above, below = (function(*args[:k], array + s * unit, *args[k + 1 :]) for s in (1, -1))
        gradient[index] = (above - below) / (2 * step)
    return gradient


# What is written


def test_gradient() -> None:
    out = run("grad", "model.py:loss", "--wrt", "w,b", "--types", TYPES)
    args = model().example()
    dw, db = out.loss_grad(*args)
    np.testing.assert_allclose(dw, differences(model().loss, args, 0), rtol=1e-6)
    np.testing.assert_allclose(db, differences(model().loss, args, 1), rtol=1e-6)


def test_gradients_come_in_the_order_of_wrt() -> None:
    out = run("grad", "model.py:loss", "--wrt", "b,w", "--types", TYPES)
    db, dw = out.loss_grad(*model().example())
    assert np.ndim(db) == 0 and dw.shape == (3,)


def test_one_gradient_is_not_a_tuple() -> None:
    out = run("grad", "model.py:loss", "--wrt", "x", "--types", TYPES)
    assert out.loss_grad(*model().example()).shape == (5, 3)


def test_value_and_gradient() -> None:
    out = run("grad", "model.py:loss", "--wrt", "w", "--types", TYPES, "--value")
    value, dw = out.loss_value_and_grad(*model().example())
    assert value == pytest.approx(model().loss(*model().example()))
    assert dw.shape == (3,)


def test_all_floating_point_arguments_by_default() -> None:
    out = run("grad", "model.py:loss", "--types", TYPES)
    assert len(out.loss_grad(*model().example())) == 4


def test_file_stands_alone() -> None:
    run("grad", "model.py:loss", "--wrt", "w", "--types", TYPES)
    code = "import sys; sys.path.insert(0, '.'); import out; print(sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True
    )
    assert "'numpy'" in done.stdout
    assert "'transformer'" not in done.stdout and "'model'" not in done.stdout


def test_file_says_where_it_came_from() -> None:
    run("grad", "model.py:loss", "--wrt", "w", "--types", TYPES)
    head = Path("out.py").read_text()[:600]
    assert "loss" in head and "model.py" in head and transformer.__version__ in head
    assert os.getcwd() not in head


@pytest.mark.parametrize("command", ["grad", "jvp", "vjp"])
def test_file_passes_ruff(command: str) -> None:
    pytest.importorskip("ruff")
    run(command, "model.py:loss", "--wrt", "w,b", "--types", TYPES)
    checked = subprocess.run(
        [
            sys.executable,
            "-m",
            "ruff",
            "check",
            "--isolated",
            "--line-length",
            "100",
            "--select",
            "E,F,W,I,B",
            "out.py",
        ],
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stdout


def test_without_types_arguments_are_f64_and_the_output_says_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["grad", "model.py:cube"]) == 0
    source = capsys.readouterr().out
    assert re.search(r"#.*\bt\b.*f64", source)
    scope: dict[str, Any] = {}
    exec(source, scope)
    assert scope["cube_grad"](2.0) == 12.0


def test_types_from_annotations() -> None:
    out = run("grad", "model.py:annotated")
    dw, dscale = out.annotated_grad(np.array([0.1, 0.2]), 3.0)
    np.testing.assert_allclose(dw, 3 * np.cos([0.1, 0.2]))
    assert dscale == pytest.approx(np.sum(np.sin([0.1, 0.2])))


def test_pytrees() -> None:
    types = "params: {w: f64[n,m], b: f64[m]}, x: f64[k,n]"
    out = run("grad", "model.py:with_params", "--wrt", "params", "--types", types)
    params, x = model().params_example()
    gradient = out.with_params_grad(params, x)
    residual = x @ params["w"] + params["b"]
    np.testing.assert_allclose(gradient["w"], 2 * x.T @ residual)
    np.testing.assert_allclose(gradient["b"], 2 * residual.sum(axis=0))


def test_example() -> None:
    out = run("grad", "model.py:with_params", "--example", "params_example")
    dparams, dx = out.with_params_grad(*model().params_example())
    assert dparams["w"].shape == (3, 2) and dx.shape == (4, 3)
    larger = {"w": np.ones((5, 7)), "b": np.zeros(7)}, np.ones((6, 5))
    dparams, dx = out.with_params_grad(*larger)
    assert dparams["w"].shape == (5, 7) and dx.shape == (6, 5)


def test_options_are_known_beforehand() -> None:
    out = run("grad", "model.py:with_options", "--wrt", "x", "--types", "x: f64[n], kind: 'sum'")
    x = np.array([1.0, 2.0])
    np.testing.assert_allclose(out.with_options_grad(x, "sum"), 2 * x)
    others: list[Any] = [((x, "prod"), {}), ((x, "sum", 3), {}), ((x, "sum"), {"flag": False})]
    for arguments, options in others:
        with pytest.raises(ValueError, match="made for kind='sum', power=2, flag=True alone"):
            out.with_options_grad(*arguments, **options)


def test_static_method() -> None:
    out = run("grad", "model.py:Models.square", "--types", "x: f64[n]")
    np.testing.assert_allclose(out.square_grad(np.array([1.0, 2.0])), [2.0, 4.0])


def test_jvp() -> None:
    out = run(
        "jvp", "model.py:predict", "--wrt", "w,b", "--types", "w: f64[d], b: f64, x: f64[n,d]"
    )
    w, b, x, _ = model().example()
    value, tangent = out.predict_jvp(w, b, x, np.ones(3), 0.0)
    expected = model().predict(w, b, x)
    np.testing.assert_allclose(value, expected)
    np.testing.assert_allclose(tangent, expected * (1 - expected) * x.sum(axis=1))


def test_vjp() -> None:
    out = run("vjp", "model.py:predict", "--wrt", "b", "--types", "w: f64[d], b: f64, x: f64[n,d]")
    w, b, x, _ = model().example()
    p = model().predict(w, b, x)
    assert out.predict_vjp(w, b, x, np.ones(5)) == pytest.approx(np.sum(p * (1 - p)))


def test_output_is_the_same_each_time(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["grad", "model.py:loss", "--wrt", "w", "--types", TYPES]
    assert main(arguments) == main(arguments) == 0
    source = capsys.readouterr().out
    assert source[: len(source) // 2] == source[len(source) // 2 :]


def test_what_the_file_prints_goes_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["grad", "model.py:cube", "--example", "printing_example"]) == 0
    out, err = capsys.readouterr()
    assert "imported" in err and "example" in err
    compile(out, "out.py", "exec")


def test_sys_path_is_left_as_it_was() -> None:
    before = list(sys.path)
    run("grad", "model.py:cube")
    assert sys.path == before


# Files that are there


def test_output_is_kept_without_force(capsys: pytest.CaptureFixture[str]) -> None:
    write("out.py", "precious = 1\n")
    assert "out.py exists; --force" in refused(capsys, "grad", "model.py:cube", "-o", "out.py")
    assert Path("out.py").read_text() == "precious = 1\n"
    assert main(["grad", "model.py:cube", "-o", "out.py", "--force"]) == 0
    assert "cube_grad" in Path("out.py").read_text()


def test_nothing_is_written_when_the_function_is_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write("out.py", "precious = 1\n")
    err = refused(capsys, "grad", "model.py:unsupported", "-o", "out.py", "--force")
    assert "model.py" in err
    assert Path("out.py").read_text() == "precious = 1\n"


def test_file_that_is_read_is_never_overwritten(capsys: pytest.CaptureFixture[str]) -> None:
    err = refused(capsys, "grad", "model.py:cube", "-o", "model.py", "--force")
    assert "py is the input file; choose another name" in err
    assert Path("model.py").read_text() == MODEL


@pytest.mark.parametrize("output, message", [("no/out.py", "no folder no"), (".", "is a folder")])
def test_output_that_cannot_be(
    output: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in refused(capsys, "grad", "model.py:cube", "-o", output)

# The program itself


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"transformer {transformer.__version__}\n"
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(command.NAME in out and command.SUMMARY[:20] in out for command in COMMANDS)


def worked_examples() -> list[str]:
    return [
        line.strip()
        for command in COMMANDS
        for line in command.EXAMPLES.replace("\\\n", "").splitlines()
        if line.startswith("  transformer ")
    ]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.NAME)
def test_help_teaches(command: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command.NAME, "--help"]) == 0
    out = capsys.readouterr().out
    assert out.count(f"  transformer {command.NAME} ") == (3 if command.NAME == "jit" else 2)
    assert "FILE is imported, with its folder first on sys.path" in out
    assert all(len(line) <= 100 for line in out.splitlines())


@pytest.mark.parametrize("line", worked_examples())
def test_examples_of_the_help_run(line: str) -> None:
    program, *arguments = shlex.split(line)
    assert program == "transformer"
    assert main(arguments) == 0


def test_help_does_not_import_the_engine() -> None:
    code = (
        "import sys; from transformer.__main__ import ensure_command_line; ensure_command_line();"
        "from transformer_cli.main import main; main(['grad', '--help']);"
        "assert not {'transformer.pipeline', 'gast', 'numba', 'scipy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True)


@pytest.mark.parametrize("cwd", [ROOT, None], ids=["in the repository", "elsewhere"])
def test_python_m_transformer(cwd: Path | None, model_folder: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "transformer", "grad", str(model_folder / "model.py:cube")],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "def cube_grad(t)" in done.stdout


def test_closed_pipe() -> None:
    line = f"{sys.executable} -m transformer show model.py:loss --types '{TYPES}' | head -n 1"
    done = subprocess.run(
        line,
        shell=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert "Traceback" not in done.stderr and "BrokenPipe" not in done.stderr


def test_main_is_the_console_script() -> None:
    assert "transformer = transformer_cli.main:main" in (ROOT / "setup.cfg").read_text()
    assert command_line.main is main
