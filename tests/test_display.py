"""Sources with colours: nothing of the text is lost, whatever it is."""

from __future__ import annotations

import html as markup
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer.run.display import ansi, html, spans

SOURCE = '''\
def loss(w):  # of <w>
    """Sum & square
    of w."""
    return f"{w!r} {{}}", 1.5e-3 + w["é"]
'''
CODES = re.compile("\x1b\\[[0-9;]*m")
TAGS = re.compile("<[^>]*>")


def test_kinds() -> None:
    found = {text: kind for kind, text in spans(SOURCE)}
    assert found["def"] == found["return"] == "keyword"
    assert found["loss"] == "definition"
    assert found["# of <w>"] == "comment"
    assert found["1.5e-3"] == "number"
    assert found['"é"'] == "string"


def test_ansi_is_the_source_with_codes() -> None:
    coloured = ansi(SOURCE)
    assert coloured != SOURCE
    assert CODES.sub("", coloured) == SOURCE


def test_colours_end_with_the_line() -> None:
    for line in ansi(SOURCE).splitlines():
        assert line.count("\x1b[0m") == len(CODES.findall(line)) / 2


def test_html_is_escaped_and_complete() -> None:
    shown = html("grad of <lambda>", SOURCE)
    assert "grad of &lt;lambda&gt;" in shown
    body = shown[shown.index("<pre") :]
    assert markup.unescape(TAGS.sub("", body)) == SOURCE
    assert "<script" not in html("<script>", "'<script>'")


def test_html_without_a_source() -> None:
    assert "first call" in html("grad of f", None)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "a = (\n b",
        "x = '''abc\ny = 3\n",
        "if x:\n  y\n z\n",
        "x ? 3\n$ def\n",
        "x = 1\r\ny = '''a\r\nb'''\r\n",
        "a\x0cb = 3\u2028 4\n# c",
        "x = 3\ry = 4",
        "t.1 : f64[n + 1] = add(x.2)",
    ],
)
def test_what_is_not_python_is_kept(text: str) -> None:
    assert "".join(piece for _, piece in spans(text)) == text
    assert CODES.sub("", ansi(text)) == text


@given(st.text(alphabet=st.sampled_from(list("ab1 .#'\"\\\n\r\t(){}[]:=f\x0cé?$"))))
def test_any_text_is_kept(text: str) -> None:
    assert "".join(piece for _, piece in spans(text)) == text
