"""What the command line says when something is wrong, and where."""

from __future__ import annotations

import errno
import io
import os
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_model import MODEL, TYPES, refused, run, write

from transformer.__main__ import ensure_command_line

ensure_command_line()
from transformer_cli.main import main  # noqa: E402

pytestmark = pytest.mark.usefixtures("model_folder")


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
        (["model.py:cube", "--example", "example"], "example has 4 arguments, but the function takes"),
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
