"""A model for the command line, and how the tests run commands on it."""

from __future__ import annotations

import os
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from importing import imported

from transformer.__main__ import ensure_command_line

ensure_command_line()
from transformer_cli.main import main  # noqa: E402

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


def write(name: str, text: str) -> None:
    Path(name).write_text(textwrap.dedent(text))


def run(*arguments: str) -> Any:
    """Runs a command that writes out.py; the module that it wrote."""
    assert main([*arguments, "-o", "out.py"]) == 0
    return imported("out.py")


def model() -> Any:
    sys.path.insert(0, os.getcwd())
    try:
        return imported("model.py")
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
