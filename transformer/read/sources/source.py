"""The source of a function: its tree, its lines, its comments.

>>> import linecache
>>> text = "square, cube = lambda x: x * x, lambda x: x ** 3  # powers\\n"
>>> linecache.cache["<powers>"] = len(text), None, text.splitlines(True), "<powers>"
>>> names = {}
>>> exec(compile(text, "<powers>", "exec"), names)
>>> source = find_source(names["cube"])
>>> gast.unparse(source.tree).strip()
'lambda x: x ** 3'
>>> source.tree.lineno, source.tree.col_offset, source.comments[1].text
(1, 32, '# powers')
"""

from __future__ import annotations
import __future__ as future

import linecache
import threading
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import CodeType
from typing import Any

import gast

from ...core.errors import NotSupported, Origin, SourceError
from .comments import Comment, comments_of
from .convert import convert
from .locate import AmbiguousLambda, Text


@dataclass(frozen=True, eq=False)
class Source:
    """What a function was made from.

    Line numbers are those of the file, columns are in bytes of UTF-8 as in `ast`. Trees are shared
    between calls and must not be changed.
    """

    function: Any
    tree: Any  # gast.FunctionDef without its decorators, gast.AsyncFunctionDef or gast.Lambda
    file: str
    name: str
    lines: tuple[str, ...]  # of the whole file: line n is lines[n - 1]
    comments: Mapping[int, Comment]

    def origin(self, node: Any) -> Origin:
        """The place of a node of the tree."""
        end = node.end_col_offset if node.end_lineno == node.lineno else None
        return Origin(self.file, node.lineno, node.col_offset, end, self.name)


def find_source(function: Any) -> Source:
    """The source of a function, a lambda or a method, checked against the code it runs.

    The text comes from `linecache`, so from a file, a notebook, a doctest, or whatever was
    registered there. It is compiled, and the code object for the function's place must be equal to
    the function's own. Results are kept per code object.

    Raises SourceError if there is no text, or if it is not what the function was made from.
    """
    function = getattr(function, "__func__", function)
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType):
        raise _not_python(function)
    with _lock:
        source = _known_source(code)
        if source is None:
            source = _remember(code, _read_source(function, code))
    return source if source.function is function else replace(source, function=function)


def register(function: Any, source: Source) -> None:
    """Makes the source known of a function that was made from a tree."""
    with _lock:
        _remember(function.__code__, source)


_lock = threading.RLock()
# By identity: code objects of different files are equal if their text and line are.
_sources: dict[int, tuple[weakref.ref[CodeType], Source]] = {}


def _known_source(code: CodeType) -> Source | None:
    reference, source = _sources.get(id(code), (None, None))
    return source if reference is not None and reference() is code else None


def _remember(code: CodeType, source: Source) -> Source:
    key = id(code)
    reference = weakref.ref(code, lambda _: _sources.pop(key, None))
    # The function is left out, as it would keep its code object, and so this entry, alive.
    _sources[key] = reference, replace(source, function=None)
    return source


def _read_source(function: Any, code: CodeType) -> Source:
    try:
        return _source_from(function, code, *_find_node(function, code))
    except RecursionError:
        raise NotSupported(
            f"`{code.co_name}` is nested too deeply",
            _origin(code),
            instead="Split the longest expression or chain of `elif` in it.",
        ) from None


def _find_node(function: Any, code: CodeType) -> tuple[Text, Any]:
    """The text and the node in it, first as linecache has it, then as the file is by now."""
    names = getattr(function, "__globals__", {})
    found_text = False
    for refresh in (False, True):
        if refresh:
            linecache.checkcache(code.co_filename)
        lines = linecache.getlines(code.co_filename, names)
        text = _parsed_text(code, lines) if lines else None
        found_text = found_text or bool(lines)
        node = _find_in(text, code, "@pytest_ar" in names) if text else None
        if text is not None and node is not None:
            return text, node
    raise _changed(code) if found_text else _missing(code)


def _find_in(text: Text, code: CodeType, asserts_rewritten: bool) -> Any | None:
    try:
        return text.find(code, asserts_rewritten)
    except SyntaxError:  # it parses, but does not compile: `return` outside of a function
        return None
    except AmbiguousLambda:
        raise SourceError(
            "several lambdas start on this line",
            _origin(code),
            "Python runs without column numbers (-X no_debug_ranges), so they cannot be told apart.",
            "Put each on its own line, or define them with `def`.",
        ) from None


_texts: dict[tuple[str, int], tuple[Sequence[str], Text | None]] = {}
_TEXTS_KEPT = 64
_FUTURE_FLAGS = sum(getattr(future, name).compiler_flag for name in future.all_feature_names)


def _parsed_text(code: CodeType, lines: Sequence[str]) -> Text | None:
    """None if it is no Python by now."""
    key = code.co_filename, code.co_flags & _FUTURE_FLAGS
    known, text = _texts.pop(key, (None, None))
    if known is not lines and known != lines:
        for _, other in _texts.values():
            if other is not None:
                other.drop_tree()
        text = _parse(lines, *key)
    _texts[key] = lines, text
    if len(_texts) > _TEXTS_KEPT:
        del _texts[next(iter(_texts))]
    return text


def _parse(lines: Sequence[str], file: str, flags: int) -> Text | None:
    try:
        return Text("".join(lines), file, flags)
    except (SyntaxError, ValueError):
        return None


def _source_from(function: Any, code: CodeType, text: Text, node: Any) -> Source:
    tree = convert(node)
    if isinstance(tree, gast.FunctionDef | gast.AsyncFunctionDef):
        tree.decorator_list = []
    first, last = node.lineno, _last_line(node, text.lines)
    comments = comments_of(text.lines[first - 1 : last], first)
    return Source(function, tree, code.co_filename, code.co_name, text.lines, comments)


def _last_line(node: Any, lines: Sequence[str]) -> int:
    """Comments that follow the last statement belong to a function if they are indented more."""
    last = int(node.end_lineno)
    if not hasattr(node, "name"):
        return last
    indentation = _indentation(lines[node.lineno - 1])
    for number in range(last + 1, len(lines) + 1):
        content = lines[number - 1].strip()
        if content and (content[0] != "#" or _indentation(lines[number - 1]) <= indentation):
            break
        last = number if content else last
    return last


def _indentation(line: str) -> int:
    line = line.expandtabs()
    return len(line) - len(line.lstrip())


def _origin(code: CodeType) -> Origin:
    return Origin(code.co_filename, code.co_firstlineno, function=code.co_name)


def _not_python(function: Any) -> SourceError:
    name = getattr(function, "__name__", None) or repr(function)
    return SourceError(
        f"`{name}` is not a function written in Python",
        why="It has no source to read.",
        instead="Call a supported function, or pass the result of this one as an argument.",
    )


def _missing(code: CodeType) -> SourceError:
    return SourceError(
        f"the source of `{code.co_name}` is not available",
        _origin(code),
        f"Python does not keep the source of {code.co_filename}: code typed at its "
        "prompt or run by `exec` has none.",
        "Write the function into a file, or compile it under a file name of your choice and put the text "
        "into linecache.cache[name] = (len(text), None, text.splitlines(True), name).",
    )


def _changed(code: CodeType) -> SourceError:
    return SourceError(
        f"the source of `{code.co_name}` has changed",
        _origin(code),
        "The file was edited after its import, or an import hook rewrote the code.",
        "Import it again (importlib.reload) and transform the new function.",
    )
