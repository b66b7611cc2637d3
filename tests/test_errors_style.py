"""All messages follow the style that is written down in core/errors.py, as far as a machine can tell."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
KINDS = {"NotSupported", "NotDifferentiable", "BadArgument", "ShapeError", "BadIndex", "SourceError", "TransformError"}
PARTS = ("message", "origin", "why", "instead", "argument")
REFUSALS = {"NotSupported", "NotDifferentiable"}
# Only these messages begin with a capital or end with a full stop: they are NumPy's own, or Python's.
QUOTED = {
    "Axis must be specified when shapes of a and weights differ.",
    "Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead.",
    "Cannot cast array data from dtype('",
    "Cannot cast ufunc ",
    "Cross index must be 1 dimensional",
    "Expected an int as second argument to ldexp.",
    "Improper number of dimensions to norm.",
    "Incompatible dimensions",
    "Input must be 1- or 2-d.",
    "Input must be >= 1-d.",
    "Input must be >= 2-d.",
    "Invalid norm order '",
    "Invalid norm order for matrices.",
    "Invalid norm value ",
    "Invalid number of FFT data points ",
    "Invalid number of FFT data points (",
    "Last 2 dimensions of the array must be square",
    "Maximum allowed size exceeded",
    "Shape and axes have different lengths.",
    "Shape of weights must be consistent with shape of a along specified axis.",
    "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()",
    "UPLO argument must be 'L' or 'U'",
    "Valid values for `indexing` are 'xy' and 'ij'.",
    "fp and xp are not of the same length.",
    "invalid index to scalar variable.",
    "number sections must be larger than 0.",
    "repeats may not contain negative values.",
    "setting an array element with a sequence.",
}


@dataclass(frozen=True)
class Raised:
    """One place where an error of ours is made; `parts` are what it is made of."""

    place: str
    kind: str
    parts: dict[str, ast.expr]

    def __str__(self) -> str:
        return self.place


@functools.cache
def raised() -> tuple[Raised, ...]:
    return tuple(_raised())


def _raised() -> Iterator[Raised]:
    for path in sorted([*(ROOT / "transformer").rglob("*.py"), *(ROOT / "cli").rglob("*.py")]):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", None) in KINDS:
                parts = dict(zip(PARTS, node.args, strict=False))
                parts |= {keyword.arg or "": keyword.value for keyword in node.keywords}
                yield Raised(f"{path.relative_to(ROOT)}:{node.lineno}", node.func.id, parts)


def text_of(node: ast.expr | None) -> str | None:
    """The text of a part, with a brace for what is formatted into it; None where a variable holds it."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(piece.value if isinstance(piece, ast.Constant) else "{" for piece in node.values)
    return None


def is_quoted(message: str) -> bool:
    return any(message.startswith(quoted) for quoted in QUOTED)


def offending(check: Callable[[Raised], bool]) -> list[str]:
    """The places, with what is said there, that do not pass a check."""
    return [f"{error}: {ast.unparse(error.parts['message'])}" for error in raised() if not check(error)]


def test_there_are_many() -> None:
    assert len(raised()) > 200


def test_messages_are_worded_as_those_of_python() -> None:
    def is_worded(error: Raised) -> bool:
        message = text_of(error.parts["message"])
        if message is None or is_quoted(message):
            return True
        capital = message[0].isupper() and message.split()[0] not in ("NumPy", "Python", "None")
        return not capital and not message.endswith((".", "!", ":")) and "\n" not in message

    assert not offending(is_worded)


@pytest.mark.parametrize("part", ["why", "instead"])
def test_reasons_and_advice_are_sentences(part: str) -> None:
    def is_sentence(error: Raised) -> bool:
        text = text_of(error.parts.get(part))
        return text is None or (text[0].isupper() or text[0] in "`{") and text[-1] in ".?" and "  " not in text

    assert not offending(is_sentence)


def test_refusals_say_what_to_write() -> None:
    def says_it(error: Raised) -> bool:
        if error.kind not in REFUSALS or error.place.startswith("transformer/lower/"):
            return True
        instead = error.parts.get("instead")
        return instead is not None and not (isinstance(instead, ast.Constant) and instead.value is None)

    assert not offending(says_it)


def test_no_name_of_ours_is_told() -> None:
    """What a program computes with is described by `kinds.described`: the class of an abstract value is ours."""

    def tells_none(error: Raised) -> bool:
        names = [node for node in ast.walk(error.parts["message"]) if getattr(node, "attr", None) == "__name__"]
        return not any(isinstance(node.value, ast.Call) for node in names)          # type: ignore[attr-defined]

    read = [place for place in offending(tells_none) if place.startswith(("transformer/read/", "transformer/ops/"))]
    assert not read                                  # elsewhere these are objects of the user


def test_quoted_messages_exist() -> None:
    texts = [text_of(error.parts["message"]) or "" for error in raised()]
    unused = [quoted for quoted in QUOTED if not any(text.startswith(quoted) for text in texts)]
    assert not unused
