"""`transformer show` and `transformer check`."""

from __future__ import annotations

import re
import sys

import pytest
from cli_model import TYPES, refused, write

from transformer.__main__ import ensure_command_line

ensure_command_line()
from transformer_cli import check as check_command  # noqa: E402
from transformer_cli.main import main  # noqa: E402

pytestmark = pytest.mark.usefixtures("model_folder")

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
