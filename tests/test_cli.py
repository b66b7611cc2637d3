"""The command line: what it writes, and what it says when something is wrong."""

from __future__ import annotations

import errno
import importlib.util
import io
import os
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transformer
from transformer.__main__ import ensure_command_line

ensure_command_line()
from transformer_cli import check as check_command  # noqa: E402
from transformer_cli import main as command_line  # noqa: E402
from transformer_cli.main import COMMANDS, main  # noqa: E402

ROOT = Path(__file__).parent.parent
TYPES = "w: f64[d], b: f64, x: f64[n,d], y: f64[n]"

MODEL = '''
import numpy as np
from helper import sigmoid

print("imported")


def predict(w, b, x):
    return sigmoid(x @ w + b)


def loss(w, b, x, y):
    """Mean squared error."""
    return np.mean((predict(w, b, x) - y) ** 2)


def example():
    rng = np.random.default_rng(0)
    return rng.normal(size=3), 0.5, rng.normal(size=(5, 3)), rng.normal(size=5)


def cube(t):
    return t ** 3


def square(t):
    return t * t


def annotated(w: "f64[n]", scale: float):
    return np.sum(np.sin(w)) * scale


def with_params(params, x):
    return np.sum((x @ params["w"] + params["b"]) ** 2)


def params_example():
    return {"w": np.ones((3, 2)), "b": np.zeros(2)}, np.ones((4, 3))


def scaled(s, p):
    return s * p["w"] + p["b"]


def with_options(x, kind, power=2, *, flag=True):
    if kind == "sum" and flag:
        return np.sum(x ** power)
    return np.prod(x)


def unsupported(x):
    try:
        x = x * 2
    finally:
        return np.sum(x)


def wrong_shape(x):
    return x * 2


def broken_example():
    return undefined_name


def printing_example():
    print("example")
    return (2.0,)


class Models:
    @staticmethod
    def square(x):
        return np.sum(x ** 2)


if __name__ == "__main__":
    raise RuntimeError("this is not to run")
'''
HELPER = """
import numpy as np


def sigmoid(t):
    return 1 / (1 + np.exp(-t))
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: an empty one but for a model and its helper."""
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "helper.py").write_text(HELPER)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name in ("model", "helper"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


def write(name: str, text: str) -> None:
    Path(name).write_text(textwrap.dedent(text))


def emitted(path: str | Path) -> Any:
    """An emitted file as a module."""
    spec = importlib.util.spec_from_file_location("emitted", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(*arguments: str) -> Any:
    """Runs a command that writes out.py; the module that it wrote."""
    assert main([*arguments, "-o", "out.py"]) == 0
    return emitted("out.py")


def model() -> Any:
    sys.path.insert(0, os.getcwd())
    try:
        return emitted("model.py")
    finally:
        sys.path.pop(0)


def refused(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 2) -> str:
    """What a command that fails says; it prints nothing else and writes nothing."""
    before = sorted(os.listdir())
    assert main(arguments) == code
    out, err = capsys.readouterr()
    assert not out
    assert "Traceback" not in err
    assert [name for name in sorted(os.listdir()) if name != "__pycache__"] == [
        name for name in before if name != "__pycache__"
    ]
    return err


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
    assert "is the file that is read" in err
    assert Path("model.py").read_text() == MODEL


@pytest.mark.parametrize("output, message", [("no/out.py", "no folder no"), (".", "is a folder")])
def test_output_that_cannot_be(
    output: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in refused(capsys, "grad", "model.py:cube", "-o", output)


# What is wrong, and where


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["model.py:lss"], "no function lss in model.py; did you mean loss?"),
        (["modle.py:loss"], "there is no file modle.py; did you mean model.py?"),
        (["model.py"], "which function of model.py? It has: "),
        (["model.py:np"], "np in model.py is a module, not a function"),
        (["model.py:Models"], "Models in model.py is a class, not a function"),
        (["model.py:Models.sqare"], "no function sqare in model.py.Models; did you mean square?"),
        (["loss"], "expected FILE.py:FUNC"),
        (["model.py:loss", "--wrt", "wieght"], "loss has no argument wieght"),
        (["model.py:loss", "--wrt", "w,,b"], "expected names of arguments"),
        (["model.py:loss", "--types", "w: f65"], "f65 is no dtype; did you mean f64"),
        (
            ["model.py:loss", "--types", "ww: f64"],
            "the function has no argument ww; did you mean w?",
        ),
        (
            ["model.py:loss", "--example", "exampel"],
            "no function exampel in model.py; did you mean example?",
        ),
        (["model.py:loss", "--example", "cube"], "the example cube() fails: TypeError"),
        (["model.py:cube", "--example", "example"], "the example has 4 arguments, the function takes t"),
        (["model.py:cube", "--example", "broken_example"], "NameError: name 'undefined_name'"),
    ],
)
def test_mistakes(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert message in refused(capsys, "grad", *arguments)


@pytest.mark.parametrize(
    "text, messages",
    [
        (
            "import nothing_of_this_name\n",
            ["ModuleNotFoundError: No module named 'nothing_of_this_name'", "line 1"],
        ),
        ("def f(x):\n    return x +\n", ["SyntaxError", "line 2", "^"]),
        ("import sys\nsys.exit(3)\n", ["it ends Python (SystemExit: 3)", "line 2"]),
        ("def g():\n    return 1 / 0\n\n\ng()\n", ["ZeroDivisionError", "line 2, in g", "line 5"]),
    ],
)
def test_files_that_cannot_be_imported(
    text: str, messages: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    write("bad.py", text)
    err = refused(capsys, "grad", "bad.py:f")
    assert "bad.py cannot be imported" in err
    assert all(message in err for message in messages)
    assert "bad" not in sys.modules


def test_file_of_a_package() -> None:
    Path("package").mkdir()
    write("package/__init__.py", "")
    write("package/factors.py", "FACTOR = 3.0\n")
    write(
        "package/module.py", "from .factors import FACTOR\n\n\ndef f(x):\n    return FACTOR * x\n"
    )
    assert run("grad", "package/module.py:f").f_grad(1.0) == 3.0


def test_file_with_the_name_of_a_module_that_is_loaded() -> None:
    write("numpy.py", "def f(x):\n    return 2 * x\n")
    assert run("grad", "numpy.py:f").f_grad(1.0) == 2.0
    assert sys.modules["numpy"] is np


def test_refusals_are_located(capsys: pytest.CaptureFixture[str]) -> None:
    err = refused(capsys, "grad", "model.py:unsupported", "--types", "x: f64[n]")
    line = MODEL.splitlines().index("    finally:") + 2
    assert f'File "model.py", line {line}, in unsupported' in err
    assert "^" in err


def test_refusals_tell_what_was_assumed(capsys: pytest.CaptureFixture[str]) -> None:
    err = refused(capsys, "grad", "model.py:loss")
    assert "w, b, x, y have no type and are taken as f64" in err


def test_functions_without_one_number(capsys: pytest.CaptureFixture[str]) -> None:
    err = refused(capsys, "grad", "model.py:wrong_shape", "--types", "x: f64[n]")
    assert "needs a function that returns one number" in err and "transformer: error" in err


def test_errors_are_coloured_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for variable in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    assert main(["grad", "model.py:wrong_shape", "--types", "x: f64[n]"]) == 2
    carets = [line for line in terminal.getvalue().split("\n") if "^" in line]
    assert len(carets) == 1 and re.fullmatch("\x1b\\[1;31m +\\^+\x1b\\[0m", carets[0])
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    assert main(["grad", "model.py:wrong_shape", "--types", "x: f64[n]"]) == 2
    assert "\x1b" not in terminal.getvalue()


def test_a_full_disk_leaves_no_file(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = sorted(Path().glob("*.py"))
    monkeypatch.setattr(os, "chmod", full)
    err = refused(capsys, "grad", "model.py:loss", "--types", TYPES, "-o", "full.py")
    assert "full.py cannot be written: No space left on device" in err
    assert sorted(Path().glob("*.py")) == before and not list(Path().glob("*full*"))


def test_errors_of_ours(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise KeyError("a table of ours")

    monkeypatch.setattr("transformer_cli.emission.generated", fail)
    err = refused(capsys, "grad", "model.py:cube", code=3)
    assert "internal error: KeyError: 'a table of ours'" in err and "report" in err
    assert main(["grad", "model.py:cube", "--debug"]) == 3
    assert "Traceback" in capsys.readouterr().err


def test_usage_errors(capsys: pytest.CaptureFixture[str]) -> None:
    assert "usage: transformer" in refused(capsys, "gard")
    assert "not allowed with" in refused(
        capsys, "grad", "m.py:f", "--types", "a: f64", "--example", "e"
    )


# show


def test_show_every_stage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "model.py:loss", "--wrt", "w", "--types", TYPES]) == 0
    out = capsys.readouterr().out
    headings = re.findall(r"^# ---- (.*?) -+$", out, re.MULTILINE)
    assert headings[:2] == ["function", "read"] and headings[-1] == "source"
    assert "grad" in headings
    assert "Mean squared error" in out and "def loss_grad(" in out
    assert "\x1b[" not in out


def test_show_one_stage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "model.py:cube", "--mode", "jvp", "--stage", "source"]) == 0
    shown = capsys.readouterr().out
    assert main(["jvp", "model.py:cube"]) == 0
    assert shown.strip() == capsys.readouterr().out.strip()
    assert "no stage is called 'sorce'; did you mean source?" in refused(
        capsys, "show", "model.py:cube", "--stage", "sorce"
    )


@pytest.mark.parametrize(
    "choice, terminal, no_color, expected",
    [
        ("always", False, "1", True),
        ("never", True, "", False),
        ("auto", True, "", True),
        ("auto", True, "1", False),
        ("auto", False, "", False),
    ],
)
def test_colours(
    choice: str,
    terminal: bool,
    no_color: str,
    expected: bool,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    assert main(["show", "model.py:cube", "--color", choice]) == 0
    assert ("\x1b[" in capsys.readouterr().out) == expected


# check


def test_check(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "model.py:loss", "--types", TYPES, "--sizes", "n=5,d=2"]) == 0
    out = capsys.readouterr().out
    assert "supported in reverse and forward mode" in out and "d = 2, n = 5" in out
    rows = [line.split() for line in out.splitlines() if line.endswith(" ok")]
    assert [row[0] for row in rows] == ["w", "b", "x", "y"]
    assert all(float(row[4]) < 1e-6 for row in rows)
    assert all(float(row[1]) == pytest.approx(float(row[3]), rel=1e-5) for row in rows)


def test_check_of_spread_and_keyword_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    write("spread.py", "def f(*xs, k, j=2.0):\n    return xs[0] * xs[1] * k * j\n")
    assert main(["check", "spread.py:f", "--types", "xs: (f64, f64), k: f64"]) == 0
    rows = [line.split()[0] for line in capsys.readouterr().out.splitlines() if line[-3:] == " ok"]
    assert rows == ["xs[0]", "xs[1]", "k"]


def test_check_at_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["check", "model.py:with_params", "--example", "params_example", "--wrt", "params"])
        == 0
    )
    out = capsys.readouterr().out
    assert "params: {w: f64[3, 2], b: f64[2]}" in out and "at the values of the example" in out


def test_check_of_results_that_are_arrays() -> None:
    types = "s: f64, p: {w: f64[n], b: f64}"
    assert main(["check", "model.py:scaled", "--types", types]) == 0


def test_check_finds_values_at_which_the_function_is_finite(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(
        "logs.py",
        "import numpy as np\n\n\ndef f(p):\n    return np.sum(np.log(p) + np.log(1 - p))\n",
    )
    assert main(["check", "logs.py:f", "--types", "p: f64[n]"]) == 0
    assert "in 0.1..0.9" in capsys.readouterr().out


def test_check_tells_what_is_unsupported(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "model.py:unsupported", "--types", "x: f64[n]"]) == 1
    out = capsys.readouterr().out
    assert "not supported in reverse and forward mode" in out
    assert 'File "model.py", line' in out


def test_check_of_a_function_that_fails_itself(capsys: pytest.CaptureFixture[str]) -> None:
    types = "w: f64[d], b: f64, x: f64[n,3], y: f64[m]"
    assert main(["check", "model.py:loss", "--types", types, "--sizes", "d=3,n=4,m=5"]) == 2
    assert "loss itself fails at these values" in capsys.readouterr().err


def test_check_reports_numbers_that_are_off(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformer import checking

    wrong = checking.Figure("t", 1.0, 1.1, 1.0, 1e-6)
    monkeypatch.setattr(checking, "figures", lambda *_: [wrong])
    assert main(["check", "model.py:cube"]) == 1
    assert "WRONG" in capsys.readouterr().out


def test_table_of_figures() -> None:
    from transformer.checking import Figure

    lines = check_command.table([Figure("w", 1.0, 1.0, 1.0, 1e-6)]).splitlines()
    assert lines[0].split("  ")[0] == "along a direction of" and lines[1].endswith("ok")


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
    assert "FILE is imported to read it" in out
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
def test_python_m_transformer(cwd: Path | None, folder: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "transformer", "grad", str(folder / "model.py:cube")],
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
