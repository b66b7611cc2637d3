"""`transformer diff`: two stages side by side."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from transformer.__main__ import ensure_command_line

ensure_command_line()
from transformer_cli.columns import aligned, folded, side_by_side  # noqa: E402
from transformer_cli.main import main  # noqa: E402

MODEL = '''
import numpy as np


def loss(w, x, y):
    """Größe: 大きさ."""
    return (np.tanh(x @ w) - y) ** 2


def example():
    return np.ones(3), np.ones(3), 1.0
'''
TYPES = ["--types", "w: f64[d], x: f64[d], y: f64"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.py").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", "100")


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    assert main(["diff", *arguments]) == 0
    return capsys.readouterr().out.splitlines()


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["diff", *arguments]) == 2
    out, err = capsys.readouterr()
    assert not out
    return err


def test_a_function_and_its_gradient(capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(capsys, "model.py:loss", "function", "source", *TYPES)
    assert lines[0].split() == ["function", "source"]
    assert max(map(len, lines)) <= 100
    function = MODEL.split("\n\n\n")[1].splitlines()
    rows = iter(lines[2:])
    assert all(any(row.startswith(line) for row in rows) for line in function)            # in their order
    assert any("def loss_grad(w, x, y):" in line for line in lines)
    assert not any("\x1b" in line for line in lines)


def test_stages_of_an_expression(capsys: pytest.CaptureFixture[str]) -> None:
    expression = "jit(vmap(grad(loss), in_axes=(None, 0, 0)))"
    lines = shown(capsys, expression, "model.py", "grad, simplified", "loops", "--types",
                  "w: f64[d], x: f64[k,d], y: f64[k]", "--width", "160")
    assert "function loss(" in lines[2]
    assert any("@njit" in line for line in lines)


def test_equal_stages_have_no_marks(capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(capsys, "model.py:loss", "source", "source", "--mode", "jvp", "--example", "example")
    assert not any(re.match(r".{48} [|<>] ", line) for line in lines[2:])


def test_colours(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["model.py:loss", "read", "grad, simplified", *TYPES]
    plain = shown(capsys, *given)
    coloured = shown(capsys, *given, "--color", "always")
    assert any("\x1b[" in line for line in coloured)
    assert [re.sub(r"\x1b\[[\d;]*m", "", line).rstrip() for line in coloured] == plain


def test_mistakes(capsys: pytest.CaptureFixture[str]) -> None:
    assert "did you mean source?" in refused(capsys, "model.py:loss", "read", "sorce", *TYPES)
    assert "there are 'function', 'read'" in refused(capsys, "model.py:loss", "read", "xyz", *TYPES)
    assert "gard is no transformation" in refused(capsys, "gard(loss)", "model.py", "read", "source")
    assert "an expression specifies" in refused(capsys, "grad(loss)", "model.py", "read", "source", "--mode", "jvp")
    assert "expected FILE.py:FUNC" in refused(capsys, "a", "b", "c", "read", "source")
    assert "at least 40" in refused(capsys, "model.py:loss", "read", "source", *TYPES, "--width", "30")
    assert main(["diff", "model.py:loss", "read"]) == 2


def test_alignment() -> None:
    pairs = list(aligned(["a", "b", "c"], ["a", "x", "y", "c", "d"]))
    assert pairs == [(" ", "a", "a"), ("|", "b", "x"), (">", "", "y"), (" ", "c", "c"), (">", "", "d")]
    assert list(aligned(["a", "b"], ["b"])) == [("<", "a", ""), (" ", "b", "b")]


def test_lines_that_are_alike_stand_beside_each_other() -> None:
    left = ["def f(x):", "", "    return x"]
    right = ["import numpy as np", "", "", "def f_grad(x):", "    # x: f64", "    return x * 2"]
    pairs = list(aligned(left, right))
    assert ("|", "    return x", "    return x * 2") in pairs
    for k, lines in enumerate((left, right)):                  # nothing is lost, and all in its order
        marks = " |<" if k == 0 else " |>"
        assert [pair[k + 1] for pair in pairs if pair[0] in marks] == lines
    many = [f"line {k} of {k % 7}" for k in range(300)]
    assert [pair[1] for pair in aligned(many, many[::-1]) if pair[0] in " |<"] == many


def test_wide_characters_and_tabs_keep_the_columns() -> None:
    text = side_by_side(["大きさ" * 10, "\tx"], ["y"], ("one", "two"), 43, False)
    rows = text.splitlines()[2:]
    assert [row for row in rows if "大" in row] == ["大きさ大きさ大きさ大 | y", "きさ大きさ大きさ大き |",
                                                    "さ大きさ大きさ大きさ |"][:len(rows) - 1]
    assert rows[-1] == "        x            <"
    assert "".join(folded("大きさ" * 10, 20)) == "大きさ" * 10
