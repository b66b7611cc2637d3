"""Programs with a mistake, of every kind a user makes, and what is said about each.

The files in tests/wrong_programs hold programs one after another, each under ``### title`` (with
the arguments of `loss` after a bar, if they are not ``np.ones(3)``). Carets stand under the piece
that has to be marked, followed by the class of the error and what it says; the lines below them, up
to one that is no comment, are the reason and what to write instead. After a deliberate change of a
message::

    pytest tests/test_wrong_programs.py --update-golden

writes the messages anew; the diff is then to be read as a new user would.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import io
import linecache
import re
import sys
import threading
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from transformer import NotSupported, grad, jvp, vjp
from transformer.core.errors import BadArgument, ShapeError, SourceError, TransformError

FOLDER = Path(__file__).parent / "wrong_programs"
MARK = re.compile(r"^#( *)(\^+) ([\w.]+): (.*)$")
PRELUDE = """
import collections, contextlib, copy, ctypes, datetime, decimal, functools, itertools, json, logging, math
import operator, os, pickle, random, subprocess, sys, threading, time, warnings
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
import numpy as np
import numba
from transformer import grad, jvp, vjp
"""


@dataclass(frozen=True)
class Wrong:
    """A wrong program, and what has to be said about it: `line` and `columns` of the piece marked."""

    file: Path
    title: str
    args: str
    source: str
    line: int
    columns: tuple[int, int]
    kind: str
    message: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.file.stem}: {self.title}"


def blocks(file: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Title, arguments and lines of each program of a file."""
    for part in re.split(r"^### ", file.read_text(), flags=re.MULTILINE)[1:]:
        head, _, body = part.partition("\n")
        title, _, args = head.partition(" | ")
        yield title.strip(), args.strip(), body.rstrip("\n").split("\n")


def programs(file: Path) -> Iterator[Wrong]:
    for title, args, lines in blocks(file):
        k = next(k for k, line in enumerate(lines) if MARK.match(line))
        found = MARK.match(lines[k])
        assert found is not None
        end = next((j for j in range(k + 1, len(lines)) if not lines[j].startswith("#")), len(lines))
        source = "\n".join(lines[:k] + lines[end:]) + "\n"
        start = 1 + len(found[1])
        message = (found[4], *(line[1:].strip() for line in lines[k + 1 : end]))
        yield Wrong(file, title, args, source, k, (start, start + len(found[2])), found[3], message)


FILES = sorted(FOLDER.glob("*.txt"))
ALL = [program for file in FILES for program in programs(file)]


def as_marked(program: Wrong, error: TransformError) -> str:
    """The program as it stands in its file, with what is said about it today."""
    place = error.origin
    assert place is not None and place.column is not None
    lines = program.source.rstrip("\n").split("\n")
    start, end = place.column, max(place.column + 1, place.end_column or len(place.text))
    first, *rest = said(error)
    marks = [f"#{' ' * (start - 1)}{'^' * (end - start)} {type(error).__name__}: {first}"]
    lines[place.line : place.line] = [*marks, *(f"#{' ' * (start - 1)}{text}" for text in rest)]
    head = " | ".join(part for part in (program.title, program.args) if part)
    return "\n".join([f"### {head}", *lines, ""])


def names_of(source: str, file: str = "program.py") -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": __name__}
    exec(PRELUDE, names)
    linecache.cache[file] = len(source), None, source.splitlines(True), file
    exec(compile(source, file, "exec"), names)
    return names


def asked(names: dict[str, Any], args: str) -> Any:
    """What is asked of the program: the gradient of `loss`, or the call that stands as its arguments."""
    if args.startswith(("grad(", "jvp(", "vjp(")):
        return eval(args, names)
    return grad(names["loss"])(*eval(f"({args or 'np.ones(3)'},)", names))


@functools.cache
def refusal(source: str, args: str) -> TransformError:
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            asked(names_of(source), args)
        except TransformError as error:
            return error
    raise AssertionError("nothing is raised")


# Said by Python 3.12 or NumPy 2.5 and by newer ones, and what stands in the files in place of it.
OLDER = {
    "min() iterable argument is empty": "min() arg is an empty sequence",
    "Both input arrays must be (arrays of) 3-dimensional vectors, but they are 3 and 4 dimensional instead.":
        "incompatible dimensions for cross product (dimension must be 2 or 3)",
}


def said(error: TransformError) -> tuple[str, ...]:
    """All it says but for the places."""
    return tuple(OLDER.get(part, part) for part in (error.message, error.why, error.instead) if part)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_files_are_written_anew(file: Path, request: pytest.FixtureRequest) -> None:
    """Every program has a title of its own, and its marks are read as they are written."""
    titles = [title for title, _, _ in blocks(file)]
    assert len(set(titles)) == len(titles)
    if request.config.getoption("--update-golden"):
        made = [as_marked(program, refusal(program.source, program.args)) for program in programs(file)]
        file.write_text("\n".join(made))


@pytest.mark.parametrize("program", ALL, ids=str)
def test_message(program: Wrong) -> None:
    error = refusal(program.source, program.args)
    place = error.origin
    assert place is not None
    assert (type(error).__name__, said(error)) == (program.kind, program.message), "see the docstring of this file"
    assert (place.file, place.line) == ("program.py", program.line)
    assert place.column is not None
    line = program.source.split("\n")[place.line - 1]             # other programs have had this file's name since
    end = place.end_column if place.end_column is not None else len(line)
    assert (place.column, max(end, place.column + 1)) == program.columns


# Python says it in other words, or it is about something that comes later in the program.
OTHER = {
    "arguments: None",
    "arguments: a dictionary where an array is meant",
    "arguments: a gradient inside",
    "arguments: a gradient of an array inside",
    "arguments: a matrix",
    "arguments: a set",
    "arguments: an array of strings",
    "names: from import missing",
    "shapes: zip strict",
    "types: None to sum",
    "types: enumerate start",
    "types: np.array of str",
    "types: object in array",
    "types: reversed num",
}


@pytest.mark.parametrize("program", [p for p in ALL if not p.args.startswith(("grad", "jvp", "vjp"))], ids=str)
def test_what_python_raises_is_raised(program: Wrong) -> None:
    """Where the program itself raises, the error is also of that class, and holds Python's text."""
    error = refusal(program.source, program.args)
    if isinstance(error, NotSupported):          # refused before it comes so far, and it may write files
        return
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")          # pytest turns them into errors
        try:
            args = eval(f"({program.args or 'np.ones(3)'},)", names := names_of(program.source))
            names["loss"](*args)
            return
        except Exception as raised:
            python = raised
    assert str(program) in OTHER or isinstance(error, public_class(python)), f"Python raises {python!r}"
    assert str(program) in OTHER or words(python)[-1] in words(error.message)


def public_class(error: Exception) -> type[BaseException]:
    modules = "builtins", "numpy.exceptions", "numpy.linalg"
    return next(kind for kind in type(error).__mro__ if kind.__module__ in modules)


def words(text: object) -> list[str]:
    return re.findall(r"\w+", str(text)) or [""]


def test_advice_names_what_is_supported() -> None:
    """Functions of NumPy that a message tells to use can be used."""
    from transformer.ops.table import lookup
    from transformer.read.calls.builtin_calls import BUILTINS
    from transformer.read.calls.pure import is_pure

    texts = [text for program in ALL for text in program.message[1:] if "define_op" not in text]
    told = {name for text in texts for name in re.findall(r"\bnp\.([a-z_.]+[a-z_])", text)}
    assert len(told) > 5
    for name in told:
        function = np
        for part in name.split("."):
            function = getattr(function, part)
        assert lookup(function) is not None or function in BUILTINS or is_pure(function), f"np.{name}"


def test_next_call_is_as_if_nothing_had_happened() -> None:
    """The same transformed function, called in turns with arguments that fit and others."""
    names = names_of("def loss(w, x):\n    return np.sum((x @ w) ** 2)\n")
    gradient = grad(names["loss"])
    for n in (3, 4):
        w, x = np.ones(n), np.ones((2, n))
        for bad in ((np.ones(n + 1), x), (w.astype(int), x), (np.array(["a"]), x), ("w", x), (w,)):
            with pytest.raises(TransformError):
                gradient(*bad)
        entries = len(gradient._dispatcher.exact)
        np.testing.assert_array_equal(gradient(w, x), 2 * x.T @ (x @ w))
        assert len(gradient._dispatcher.exact) == entries + 1


def test_bad_and_good_calls_from_many_threads() -> None:
    names = names_of("def loss(x):\n    return np.sum(x * np.ones(3)) if x.ndim == 1 else x.foo\n")
    gradient, failed, found = grad(names["loss"]), [], []

    def calls(k: int) -> None:
        for n in range(6):
            try:
                found.append(gradient(np.ones(3) if (n + k) % 2 else np.ones((n + 2, 2))))
            except AttributeError as error:
                failed.append(error)

    threads = [threading.Thread(target=calls, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == len(failed) == 18
    assert all(np.array_equal(one, np.ones(3)) for one in found)
    assert {str(error) for error in failed} == {str(failed[0])}
    assert len(gradient._dispatcher.exact) == 1


def test_functions_without_a_source_are_shown_where_they_are_called() -> None:
    """``np.sin`` has no `def`: the place is the line that calls into this package."""
    for call in (
        lambda: grad(np.sin)(3),
        lambda: grad(np.sin)("a"),
        lambda: grad(3.0),
        lambda: grad(abs, argnums=1.5),
    ):
        with pytest.raises(TransformError) as caught:
            call()
        place = caught.value.origin
        assert place is not None and (place.file, place.line) == (__file__, call.__code__.co_firstlineno)
        assert place.column is not None and place.text[place.column : place.end_column].startswith("grad(")


def test_source_that_cannot_be_had_or_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names: dict[str, Any] = {}
    exec("def loss(x): return x * x", names)
    with pytest.raises(SourceError, match="the source of `loss`") as caught:
        grad(names["loss"])(1.0)
    assert caught.value.origin is not None and caught.value.origin.file == "<string>"
    (tmp_path / "edited.py").write_text("def loss(x):\n    return x * x\n")
    monkeypatch.syspath_prepend(tmp_path)
    loss = importlib.import_module("edited").loss
    (tmp_path / "edited.py").write_text("def loss(x):\n    return x * x * x  # longer\n")
    with pytest.raises(SourceError, match="the source of `loss`"):
        grad(loss)(1.0)
    del sys.modules["edited"]


def test_a_wrapper_without_wraps_is_read() -> None:
    names = names_of(
        "def logged(f):\n    def inner(*args):\n        return f(*args) + args[0].shap[0]\n    return inner\n"
        "@logged\ndef loss(x):\n    return np.sum(x)\n"
    )
    with pytest.raises(AttributeError) as caught:
        grad(names["loss"])(np.ones(3))
    assert caught.value.origin.line == 3                                   # type: ignore[attr-defined]


def test_deep_nesting_is_refused_and_not_a_recursion_error() -> None:
    source = f"def loss(x):\n    return x{' + x' * 1500}\n"
    linecache.cache["deep.py"] = len(source), None, source.splitlines(True), "deep.py"
    names: dict[str, Any] = {"np": np}
    exec(compile(source, "deep.py", "exec"), names)
    try:
        grad(names["loss"])(0.5)
    except TransformError as error:
        assert "nested too deeply" in str(error)


@pytest.mark.parametrize("made", [lambda f: jvp(f, (np.ones(3),), (np.ones(3),)), lambda f: vjp(f, np.ones(3))[1](1.0)])
def test_failing_transformations_leave_nothing_behind(made: Any) -> None:
    names = names_of("SCALE = 'a'\ndef loss(x):\n    return np.sum(x) * SCALE\n")
    for _ in range(2):
        names["SCALE"] = "a"
        with pytest.raises((BadArgument, ShapeError, TypeError)):
            made(names["loss"])
        names["SCALE"] = 2.0
        made(names["loss"])
