"""What errors look like: file, line, source line, carets, reason, and what to write instead."""

import copy
import inspect
import pickle
import traceback
from pathlib import Path
from typing import Any

import gast
import numpy as np
import pytest

from transformer import config, grad, jit
from transformer.core import errors
from transformer.core.errors import (
    BadArgument,
    NotDifferentiable,
    NotSupported,
    Origin,
    ShapeError,
    SourceError,
    TransformError,
)

KINDS: dict[type[TransformError], type[Exception]] = {
    NotSupported: NotImplementedError,
    NotDifferentiable: TypeError,
    BadArgument: TypeError,
    ShapeError: ValueError,
    SourceError: OSError,
}


def place(path: Path, line: str, piece: str) -> Origin:
    """The origin of a piece of a line, written to a file."""
    path.write_text(f"def loss(x):\n{line}\n", encoding="utf-8")
    start = len(line[: line.index(piece)].encode())
    return Origin(str(path), 2, start, start + len(piece.encode()), "loss")


def test_all_parts(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    origin = place(path, "    y = np.unwrap(x) + 1", "np.unwrap(x)")
    error = NotSupported("np.unwrap has no rule", origin, "It jumps.", "Use np.angle.")
    assert str(error) == (
        "np.unwrap has no rule\n"
        f'  File "{path}", line 2, in loss\n'
        "    y = np.unwrap(x) + 1\n"
        "        ^^^^^^^^^^^^\n"
        "It jumps.\n"
        "Use np.angle."
    )


def test_tracebacks_end_where_the_code_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def names() -> list[str]:
        with pytest.raises(BadArgument) as caught:
            grad(np.unwrap)(np.ones(2))
        return [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]

    short = names()
    monkeypatch.setattr(config, "internal_frames", True)
    assert names()[:len(short)] == short and short[-1] == "find" and len(short) < 8 < len(names())


def test_message_alone() -> None:
    error = BadArgument("argnums=3, but `f` has two arguments")
    assert str(error) == "argnums=3, but `f` has two arguments"
    assert (error.origin, error.why, error.instead) == (None, None, None)


def test_without_file_columns_or_function() -> None:
    assert str(Origin("<nowhere>", 3, 4, 5, "f")) == '  File "<nowhere>", line 3, in f'
    assert str(Origin("<nowhere>", 3)) == '  File "<nowhere>", line 3'
    here = str(Origin(__file__, 1))
    assert here.count("\n") == 1
    assert "^" not in here


@pytest.mark.parametrize(
    ("line", "piece", "carets"),
    [
        ("    y = x", "x", "    ^"),
        ("    größe = f(größe)", "f(größe)", "        ^^^^^^^^"),
        ("    s = '数', f(x)", "f(x)", "          ^^^^"),
        ("\ty =\tx", "x", "   \t^"),
        ("    y = x + \\", "x + \\", "    ^^^^^"),
    ],
)
def test_carets_lie_under_the_piece(tmp_path: Path, line: str, piece: str, carets: str) -> None:
    shown = str(place(tmp_path / "model.py", line, piece)).split("\n")
    assert shown[1:] == [f"    {line.strip()}", f"    {carets}"]


def test_of_long_lines_the_part_around_the_carets_is_shown(tmp_path: Path) -> None:
    long = " + ".join(["f(x)"] * 60)
    source, carets = str(place(tmp_path / "model.py", f"    y = {long} + g(y) + {long}", "g(y)")).split("\n")[1:]
    assert len(source) < 150 and source.startswith("    … ") and source.endswith(" …")
    assert source[carets.index("^"):carets.rindex("^") + 1] == "g(y)"
    source, carets = str(place(tmp_path / "other.py", f"    y = {long}", long)).split("\n")[1:]
    assert source.startswith("    y = f(x) + ") and source.endswith(" …") and len(source) < 150
    assert carets.index("^") == 8 and len(carets) == len(source)


@pytest.mark.parametrize("end", [None, 0, 8])
def test_pieces_that_end_on_a_later_line_are_marked_to_the_end(
    tmp_path: Path, end: int | None
) -> None:
    origin = place(tmp_path / "model.py", "    y = f(x,  ", "f(x")
    later = Origin(origin.file, origin.line, origin.column, end, "loss")
    assert str(later).endswith("    y = f(x,\n        ^^^^")


def test_every_node_is_marked_exactly(tmp_path: Path) -> None:
    line = "    return np.sum((a @ b.T)[0] ** 2, axis=-1) if ä else -λ(x=1)"
    path = tmp_path / "model.py"
    path.write_text(f"def f():\n{line}\n", encoding="utf-8")
    tree = gast.parse(path.read_text(encoding="utf-8")).body[0]
    nodes = [node for node in gast.walk(tree.body[0]) if hasattr(node, "lineno")]
    assert len(nodes) > 20
    for node in nodes:
        origin = Origin(str(path), node.lineno, node.col_offset, node.end_col_offset)
        _, source, carets = str(origin).split("\n")
        marked = "".join(c for c, caret in zip(source, carets, strict=False) if caret == "^")
        encoded = line.encode()[node.col_offset : node.end_col_offset]
        assert marked == encoded.decode()


@pytest.mark.parametrize("kind", KINDS)
def test_kinds(kind: type[TransformError]) -> None:
    error = kind("message", Origin("model.py", 1, 0, 3, "f"), "why", "instead")
    assert isinstance(error, KINDS[kind])
    assert isinstance(error, TransformError)
    assert error.args == ("message",)
    with pytest.raises(KINDS[kind], match="message"):
        raise error


@pytest.mark.parametrize("kind", [TransformError, *KINDS])
@pytest.mark.parametrize("again", [lambda error: pickle.loads(pickle.dumps(error)), copy.copy])
def test_errors_can_be_pickled(kind: type[TransformError], again: Any) -> None:
    error = kind("message", Origin("model.py", 1, 0, 3, "f"), "why", "instead")
    other = again(error)
    assert type(other) is kind
    assert str(other) == str(error)
    assert other.origin == error.origin
    assert str(again(kind("message"))) == "message"


def test_a_place_is_filled_in_once() -> None:
    first, second = Origin("a.py", 1), Origin("b.py", 2)
    error = ShapeError("message")
    assert error.located(None).origin is None
    assert error.located(first) is error
    assert error.located(second).origin == first


def test_a_place_in_a_library_gives_way_to_the_call(tmp_path: Path) -> None:
    inner = Origin(copy.__file__, 1, 0, 3, "copy")
    user = place(tmp_path / "model.py", "    y = copy.copy(x)", "copy.copy(x)")
    error = NotSupported("message", inner, "Why.", "Instead.").called_from(user)
    assert error.origin == user
    first, *lines = str(error).split("\n")
    assert first == "message" and "model.py" in lines[0]
    assert lines[3] == "inside a library, at" and copy.__file__ in lines[4]
    assert lines[-2:] == ["Why.", "Instead."]


def test_calls_are_told_the_nearest_first_and_each_once() -> None:
    error = BadArgument("message", Origin("a.py", 1))
    for line in (2, 3, 3, 4, 5, 6):
        error.called_from(Origin("a.py", line))
    assert error.origin == Origin("a.py", 1)
    calls = [line for line in str(error).split("\n") if "File" in line]
    assert calls == [f'  File "a.py", line {k}' for k in (1, 2, 3, 4)]
    assert str(error).endswith("and 2 more calls")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_call_gives_its_place_where_there_is_none() -> None:
    assert ShapeError("message").called_from(Origin("a.py", 2)).origin == Origin("a.py", 2)


@pytest.mark.parametrize(
    "raised",
    [
        IndexError("out"), KeyError("k"), NameError("n"), UnboundLocalError("u"), AttributeError("a"),
        ZeroDivisionError("z"),
        OverflowError("o"), AssertionError("s"), ImportError("i"), TypeError("t"), ValueError("v"), UnicodeError("c"),
        np.exceptions.AxisError(2, 1), np.linalg.LinAlgError("l"), RecursionError("r"), FileNotFoundError(2, "no file"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_python_raises_is_also_ours(raised: Exception) -> None:
    origin = Origin("a.py", 1)
    error = errors.as_raised(raised, origin, "Instead.")
    assert isinstance(error, type(raised)) and isinstance(error, TransformError)
    assert str(raised) in error.message and str(error).endswith("Instead.")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and str(again) == str(error) and again.origin == origin
    with pytest.raises(type(raised)):
        raise error


def test_private_classes_are_caught_as_their_public_bases() -> None:
    with pytest.raises(TypeError) as caught:
        np.ones(2) + "a"
    assert type(errors.as_raised(caught.value)) is BadArgument

    class Own(KeyError):
        pass

    assert isinstance(errors.as_raised(Own("k")), KeyError)


@pytest.mark.parametrize("kind", KINDS)
def test_docstrings_show_a_wrong_and_a_right_program(kind: type[TransformError]) -> None:
    text = inspect.getdoc(kind)
    assert text is not None
    before, right = text.split("Right")
    assert "Wrong" in before
    for block in (before, right):
        program = block.split("::\n", 1)[1]
        lines = [line for line in program.split("\n") if line.startswith("    ") or not line]
        compile(inspect.cleandoc("\n".join(lines)), "<docstring>", "exec")


def test_computed_sizes_have_the_names_of_the_program() -> None:
    def grid(x, n):
        rows = 0
        for k in range(n):
            rows += k
        return np.zeros(rows) + x

    with pytest.raises(BadArgument, match=r"returns an array of type f64\[rows\]"):
        grad(grid)(1.0, 3)


def crossed_out(n):
    kept = [True, True] * n
    for p in range(2, n + 1):
        if kept[p]:
            for k in range(p, 2 * n):
                kept[k] = False
    return kept[-1]


def test_what_is_too_deep_is_refused_at_its_place() -> None:
    with pytest.raises(NotSupported, match=r"in crossed_out\n.*(?s:.*)np\.ones\(n, bool\)"):
        jit(crossed_out)(400)
    assert jit(crossed_out)(4) is False
